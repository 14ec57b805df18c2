/* The Python object `_native.Ring`, for the other files of the extension. */
#ifndef SIM_NODE_RING_OBJECT_H
#define SIM_NODE_RING_OBJECT_H

#include <Python.h>

#include "sim_node/ring.h"

typedef struct {
    PyObject_HEAD
    sn_ring ring;
    Py_buffer memory; /* held as long as the object lives: closing a ring does not unmap it */
    int owner;        /* made here, and so written here */
} sn_ring_object;

extern PyTypeObject sn_ring_type;

/* The ring in a `_native.Ring`; NULL with TypeError set for another object. Keep a reference to the object. */
sn_ring *sn_ring_of(PyObject *object);

/* ring_object.c: -1 with an exception set for a ring that another process made, or a number that is not below count. */
int sn_must_own(const sn_ring_object *self);
int sn_ring_index(PyObject *object, uint64_t count, const char *what, uint32_t *index);

/* ring_mailbox.c */
PyObject *sn_ring_rule(sn_ring_object *self, PyObject *args);
PyObject *sn_ring_take(sn_ring_object *self, PyObject *args);
PyObject *sn_ring_lane_offsets(sn_ring_object *self, PyObject *args);
PyObject *sn_ring_mailbox(sn_ring_object *self, PyObject *index);

#endif
