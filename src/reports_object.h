/* Reports: what C needs to launch on a GPU, as an object. */
#ifndef SIM_NODE_REPORTS_OBJECT_H
#define SIM_NODE_REPORTS_OBJECT_H

#include <Python.h>

#include <pthread.h>

#include "gpu.h"

typedef struct {
    PyObject_HEAD
    sn_reports reports;
    PyObject *device;
    PyObject *kept; /* the memory of the records, flag and prints */
    sn_error *fresh;
    pthread_mutex_t lock; /* of whoever launches and waits for it */
} sn_reports_object;

extern PyTypeObject sn_reports_type;

int sn_add_reports(PyObject *module);

#endif
