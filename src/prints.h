/* What kernels print, on its way to Python. */
#ifndef SIM_NODE_PRINTS_H
#define SIM_NODE_PRINTS_H

#include <Python.h>

#include "plan.h"

/* An empty buffer (PyMem), or NULL with an exception set. */
sn_prints *sn_prints_new(void);

/* Empties the buffer into `shown.show(records, how many were lost)`; of an empty one or none nothing is shown. Returns -1
 * with an exception set where that fails. */
int sn_prints_show(sn_prints *prints, PyObject *shown);

#endif
