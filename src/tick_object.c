/* _native.Tick: a tick under a lease. It allocates its own object and nothing else: the views of each slot were made once,
 * and are looked up. */
#define PY_SSIZE_T_CLEAN
#include "reader_object.h"

#include <structmember.h>

#include "ring_object.h"

/* Waits for what a GPU still does with the slot. */
static void end_on_device(PyObject *device)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *ended = PyObject_CallMethod(device, "ended", NULL);
    if (ended == NULL) PyErr_WriteUnraisable(device);
    Py_XDECREF(ended);
    PyErr_Restore(type, value, trace);
}

/* Whether it is a tick of a ring that was not released. */
static int is_leased(const sn_tick_object *self)
{
    return self->reader != NULL && self->tick.lease != SN_REHEARSED && sn_reader_ours(self->reader);
}

static void let_go(sn_tick_object *self)
{
    if (self->reader == NULL) return;
    if (is_leased(self)) {
        if (self->reader->device != NULL) end_on_device(self->reader->device);
        sn_reader_release(&self->reader->reader, &self->tick);
    }
    Py_CLEAR(self->reader);
    Py_CLEAR(self->fields);
}

static void tick_dealloc(sn_tick_object *self)
{
    let_go(self);
    Py_XDECREF(self->ring);
    PyObject_Free(self);
}

static int tick_held(const sn_tick_object *self)
{
    if (self->reader != NULL && sn_reader_ours(self->reader)) return 0;
    PyErr_SetString(PyExc_ValueError, "the tick was released: its slot may hold another one by now");
    return -1;
}

static PyObject *tick_subscript(sn_tick_object *self, PyObject *name)
{
    if (tick_held(self) < 0) return NULL;
    PyObject *view = PyDict_GetItemWithError(self->fields, name);
    if (view != NULL) return Py_NewRef(view);
    if (PyErr_Occurred()) return NULL;
    PyObject *names = PyDict_Keys(self->fields), *device = self->reader->device;
    PyObject *why = names && device ? PyObject_CallMethod(device, "absent", "O", name) : NULL;
    if (names == NULL || PyErr_Occurred()) return Py_XDECREF(names), NULL;
    if (why != NULL && why != Py_None) PyErr_Format(PyExc_KeyError, "field %R does not come: %S", name, why);
    else PyErr_Format(PyExc_KeyError, "no field %R; there are %R", name, names);
    Py_XDECREF(why);
    Py_DECREF(names);
    return NULL;
}

static PyObject *tick_fetch(sn_tick_object *self, PyObject *name)
{
    PyObject *view = tick_subscript(self, name);
    if (view == NULL) return NULL;
    PyObject *device = self->reader->device, *fetched = NULL;
    if (device != NULL) {
        fetched = PyObject_CallMethod(device, "fetch", "IO", self->tick.slot, name);
        if (fetched != Py_None) return Py_DECREF(view), fetched;
        Py_DECREF(fetched);
    }
    fetched = PyObject_CallMethod(view, "copy", NULL);
    Py_DECREF(view);
    return fetched;
}

static PyObject *tick_keys(sn_tick_object *self, PyObject *unused)
{
    (void)unused;
    return tick_held(self) < 0 ? NULL : PyDict_Keys(self->fields);
}

static PyObject *tick_release(sn_tick_object *self, PyObject *unused)
{
    (void)unused;
    let_go(self);
    Py_RETURN_NONE;
}

static PyObject *tick_enter(sn_tick_object *self, PyObject *unused)
{
    (void)unused;
    return tick_held(self) < 0 ? NULL : Py_NewRef((PyObject *)self);
}

/* What was read under a lease that was taken away may be torn: that is never silent. */
static void tell_revoked(const sn_tick_object *self)
{
    PyObject *errors = PyImport_ImportModule("sim_node.errors");
    PyObject *kind = errors ? PyObject_GetAttrString(errors, "RingError") : NULL;
    if (kind != NULL)
        PyErr_Format(kind, "tick %llu was held for longer than leases of this ring last (%lld ms), and is overwritten: what "
                     "was read of it may be torn; release it sooner, or copy what takes long",
                     (unsigned long long)self->tick.step,
                     (long long)(self->reader->reader.ring->control->lease_limit_ns / 1000000));
    Py_XDECREF(kind);
    Py_XDECREF(errors);
}

static PyObject *tick_exit(sn_tick_object *self, PyObject *const *args, Py_ssize_t count)
{
    const int torn = is_leased(self) && !sn_reader_intact(&self->reader->reader, &self->tick);
    if (torn && count > 0 && args[0] == Py_None) tell_revoked(self);
    let_go(self);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *tick_age(sn_tick_object *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(sn_now_ns() - self->tick.sent_ns);
}

static PyObject *tick_intact(sn_tick_object *self, void *unused)
{
    (void)unused;
    if (is_leased(self)) return PyBool_FromLong(sn_reader_intact(&self->reader->reader, &self->tick));
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* as in sn_ring_copy: what was read before is of this tick */
    const sn_slot *slot = sn_slot_at(&((sn_ring_object *)self->ring)->ring, self->tick.slot);
    return PyBool_FromLong(__atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) == self->tick.number << 1);
}

static PyMethodDef tick_methods[] = {
    {"fetch", (PyCFunction)tick_fetch, METH_O, "Copy a field to memory of this process; of a GPU by its own DMA."},
    {"keys", (PyCFunction)tick_keys, METH_NOARGS, "List the fields."},
    {"release", (PyCFunction)tick_release, METH_NOARGS, "Give the slot back; leaving the with block does it too."},
    {"__enter__", (PyCFunction)tick_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))tick_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

#define MEMBER(name, type, text) {#name, type, offsetof(sn_tick_object, tick.name), READONLY, text}

static PyMemberDef tick_members[] = {
    MEMBER(step, T_ULONGLONG, "Number of the tick."),
    MEMBER(stamp_ns, T_LONGLONG, "Simulated time, step times dt."),
    MEMBER(sent_ns, T_LONGLONG, "CLOCK_MONOTONIC at the commit."),
    MEMBER(hash, T_ULONGLONG, "Hash of the whole state."),
    MEMBER(skipped, T_ULONGLONG, "Commits since the tick taken before that were never seen."),
    MEMBER(number, T_ULONGLONG, "Number of the commit in this generation, from 1."),
    MEMBER(slot, T_UINT, "Slot it lies in."),
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef tick_getters[] = {
    {"age_ns", (getter)tick_age, NULL, "Wall time since the commit.", NULL},
    {"intact", (getter)tick_intact, NULL, "Whether the slot still holds it: what was read of a released tick is torn if not.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMappingMethods tick_mapping = {NULL, (binaryfunc)tick_subscript, NULL};

PyTypeObject sn_tick_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim_node._native.Tick",
    .tp_basicsize = sizeof(sn_tick_object),
    .tp_dealloc = (destructor)tick_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "A tick under a lease: tick[name] is a read-only view of the field, on the slot itself.",
    .tp_methods = tick_methods,
    .tp_members = tick_members,
    .tp_getset = tick_getters,
    .tp_as_mapping = &tick_mapping,
};

PyObject *sn_tick_new(sn_reader_object *reader, const sn_tick *tick)
{
    sn_tick_object *self = PyObject_New(sn_tick_object, &sn_tick_type);
    if (self == NULL) return NULL;
    self->tick = *tick;
    self->reader = (sn_reader_object *)Py_NewRef((PyObject *)reader);
    self->ring = Py_NewRef(reader->ring);
    self->fields = Py_NewRef(PyTuple_GET_ITEM(reader->views, tick->slot));
    return (PyObject *)self;
}
