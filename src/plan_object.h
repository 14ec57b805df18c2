/* The plan inside a _native.Plan, for the C parts that run it themselves. */
#ifndef SIM_NODE_PLAN_OBJECT_H
#define SIM_NODE_PLAN_OBJECT_H

#include <Python.h>

#include "plan.h"
#include "reports_object.h"

typedef struct {
    PyObject_HEAD
    sn_plan plan;
    PyObject *entries; /* one a launch */
    PyObject *kept;    /* owners of the memory that argument blocks point into */
    PyObject *cells;   /* in the order of their numbers */
    PyObject *targets; /* the array that each cell points at, or None */
    PyObject *device;  /* that the launches run on, borrowed from their entries; NULL: the host */
    sn_reports_object *reports; /* of a GPU */
    int64_t touched;
    char frozen, running;
} sn_plan_object;

/* plan_blocks.c */
PyObject *sn_plan_packed(sn_plan_object *self, PyObject *addresses);
PyObject *sn_plan_images(sn_plan_object *self, PyObject *unused);

/* The frozen plan of a _native.Plan (or of a subclass), or NULL with an exception set: not a plan, or not frozen.
 *
 * Its cells are numbered as in the object's `cells`; whoever runs it writes their addresses into plan->cells first.
 * The pointer is valid as long as the object, of which the caller keeps a reference.
 */
sn_plan *sn_plan_of(PyObject *object);

/* Shows what the kernels of such an object printed; -1 with an exception set where that fails. */
int sn_plan_show(PyObject *object);

#endif
