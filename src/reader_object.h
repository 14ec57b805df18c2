/* _native.Reader and _native.Tick, added to the module beside Ring. */
#ifndef SIM_NODE_READER_OBJECT_H
#define SIM_NODE_READER_OBJECT_H

#include <Python.h>

#include <sim_node/ring.h>

#define SN_REHEARSED UINT32_MAX /* in place of a lease: of a tick that is none */

typedef struct {
    PyObject_HEAD
    sn_reader reader;
    PyObject *ring;
    PyObject *views; /* a tuple: for each slot a dict of name → view */
    PyObject *device; /* what knows of fields on a GPU (bridge/device_fields.py), or NULL */
    PyObject *rehearsal; /* what is done with a tick of no content while it polls, or NULL */
    uint64_t prepared; /* inputs whose free buffer was given out */
    uint32_t forks;    /* when it was opened: in a child its place, leases and mailboxes are the parent's */
    int open;
} sn_reader_object;

typedef struct {
    PyObject_HEAD
    sn_reader_object *reader; /* NULL: released */
    PyObject *ring;
    PyObject *fields; /* the dict of the slot's views */
    sn_tick tick;
} sn_tick_object;

extern PyTypeObject sn_tick_type;

/* Whether it is open, and of this process. */
int sn_reader_ours(const sn_reader_object *self);

/* An object for the tick, which gives its lease back; a new reference. */
PyObject *sn_tick_new(sn_reader_object *reader, const sn_tick *tick);

int sn_add_reader(PyObject *module);

#endif
