/* The plan inside a _native.Plan, for the C parts that run it themselves. */
#ifndef SIM_NODE_PLAN_OBJECT_H
#define SIM_NODE_PLAN_OBJECT_H

#include <Python.h>

#include "plan.h"

/* The frozen plan of a _native.Plan (or of a subclass), or NULL with an exception set: not a plan, or not frozen.
 *
 * Its cells are numbered as in the object's `cells`; whoever runs it writes their addresses into plan->cells first.
 * The pointer is valid as long as the object, of which the caller keeps a reference.
 */
sn_plan *sn_plan_of(PyObject *object);

/* Shows what the kernels of such an object printed; -1 with an exception set where that fails. */
int sn_plan_show(PyObject *object);

#endif
