/* The spans inside a _native.Trace. */
#ifndef SIM_NODE_TRACE_OBJECT_H
#define SIM_NODE_TRACE_OBJECT_H

#include <Python.h>

#include "trace.h"

typedef struct {
    PyObject_HEAD
    sn_trace trace;
} sn_trace_object;

extern PyTypeObject sn_trace_type;

#endif
