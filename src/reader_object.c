/* _native.Reader and _native.Tick: a reader's side of a ring. A tick allocates its own object and nothing else: the views
 * of each slot were made once, and are looked up. */
#define PY_SSIZE_T_CLEAN
#include "reader_object.h"

#include <pthread.h>
#include <structmember.h>

#include "ring_object.h"

#define SLICE_NS INT64_C(100000000) /* how often a wait looks for Python signals and for the owner's death */

static uint32_t forks; /* between the process that loaded the module and this one */

static void count_fork(void) { forks++; }

typedef struct {
    PyObject_HEAD
    sn_reader reader;
    PyObject *ring;
    PyObject *views; /* a tuple: for each slot a dict of name → view */
    PyObject *device; /* what knows of fields on a GPU (bridge/device_fields.py), or NULL */
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

static PyTypeObject tick_type;

/* ---- Tick ---- */

static int is_ours(const sn_reader_object *self) { return self->open && self->forks == forks; }

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

static void let_go(sn_tick_object *self)
{
    if (self->reader == NULL) return;
    if (is_ours(self->reader)) {
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
    if (self->reader != NULL && is_ours(self->reader)) return 0;
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

static PyObject *tick_exit(sn_tick_object *self, PyObject *const *args, Py_ssize_t count)
{
    (void)args, (void)count;
    let_go(self);
    Py_RETURN_NONE;
}

static PyObject *tick_age(sn_tick_object *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(sn_now_ns() - self->tick.sent_ns);
}

static PyObject *tick_intact(sn_tick_object *self, void *unused)
{
    (void)unused;
    if (self->reader != NULL && is_ours(self->reader)) Py_RETURN_TRUE; /* the producer may mark it, and gives it back */
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

static PyTypeObject tick_type = {
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

/* ---- Reader ---- */

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *ring_object, *views, *device = Py_None;
    if (names != NULL && PyDict_GET_SIZE(names) > 0) return PyErr_Format(PyExc_TypeError, "Reader takes no keywords");
    if (!PyArg_ParseTuple(args, "O!O!|O", &sn_ring_type, &ring_object, &PyTuple_Type, &views, &device)) return NULL;
    sn_ring *ring = &((sn_ring_object *)ring_object)->ring;
    if ((uint64_t)PyTuple_GET_SIZE(views) != ring->geometry.slots)
        return PyErr_Format(PyExc_ValueError, "Reader takes one dict of views a slot");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(views); i++)
        if (!PyDict_Check(PyTuple_GET_ITEM(views, i))) return PyErr_Format(PyExc_TypeError, "the views of a slot are a dict");
    sn_reader_object *self = (sn_reader_object *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->ring = Py_NewRef(ring_object);
    self->views = Py_NewRef(views);
    self->device = device == Py_None ? NULL : Py_NewRef(device);
    int wrong = sn_reader_open(&self->reader, ring);
    self->open = wrong == SN_OK;
    self->forks = forks;
    if (self->open) return (PyObject *)self;
    Py_DECREF(self);
    if (wrong == SN_NO_LIFE) return PyErr_Format(PyExc_OSError, "this process cannot read its start time; is /proc mounted?");
    return PyErr_Format(PyExc_OSError, "all %u places for readers are taken by living processes", SN_READERS);
}

static void shut(sn_reader_object *self)
{
    if (is_ours(self)) sn_reader_close(&self->reader);
    self->open = 0;
}

static void reader_dealloc(sn_reader_object *self)
{
    shut(self);
    Py_XDECREF(self->ring);
    Py_XDECREF(self->views);
    Py_XDECREF(self->device);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int must_be_open(const sn_reader_object *self)
{
    if (is_ours(self)) return 0;
    PyErr_SetString(PyExc_ValueError, self->open ? "the reader is the parent process's: after a fork, open another"
                                                 : "the reader is closed");
    return -1;
}

/* The newest tick as an object, or NULL; `*found` is what sn_reader_take returned. */
static PyObject *take(sn_reader_object *self, int again, int *found)
{
    sn_tick tick;
    *found = sn_reader_take(&self->reader, &tick, again);
    if (*found != SN_NEW) return NULL;
    PyObject *taken = self->device ? PyObject_CallMethod(self->device, "taken", "I", tick.slot) : Py_NewRef(Py_None);
    sn_tick_object *object = taken ? PyObject_New(sn_tick_object, &tick_type) : NULL;
    Py_XDECREF(taken);
    if (object == NULL) {
        sn_reader_release(&self->reader, &tick);
        return NULL;
    }
    object->tick = tick;
    object->reader = (sn_reader_object *)Py_NewRef((PyObject *)self);
    object->ring = Py_NewRef(self->ring);
    object->fields = Py_NewRef(PyTuple_GET_ITEM(self->views, tick.slot));
    return (PyObject *)object;
}

static PyObject *reader_next(sn_reader_object *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) return PyErr_Format(PyExc_TypeError, "next takes timeout_ns and spin_ns");
    int64_t timeout_ns = PyLong_AsLongLong(args[0]), spin_ns = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred() || must_be_open(self) < 0) return NULL;
    int64_t start = sn_now_ns();
    for (;;) {
        int found, woken;
        PyObject *tick = take(self, 0, &found);
        if (tick != NULL || PyErr_Occurred()) return tick;
        int64_t waited = sn_now_ns() - start;
        if (found < 0 || waited >= timeout_ns) Py_RETURN_NONE;
        int64_t slice = timeout_ns - waited < SLICE_NS ? timeout_ns - waited : SLICE_NS;
        Py_INCREF(self);
        Py_BEGIN_ALLOW_THREADS
        woken = sn_reader_wait(&self->reader, slice, spin_ns - waited);
        Py_END_ALLOW_THREADS
        int open = self->open;
        Py_DECREF(self);
        if (PyErr_CheckSignals() < 0) return NULL;
        if (!open) return must_be_open(self), NULL;
        if (woken <= 0 && sn_ring_ended(self->reader.ring) && !sn_reader_behind(&self->reader)) Py_RETURN_NONE;
    }
}

static PyObject *reader_latest(sn_reader_object *self, PyObject *unused)
{
    (void)unused;
    int found;
    if (must_be_open(self) < 0) return NULL;
    PyObject *tick = take(self, 1, &found);
    if (tick == NULL && !PyErr_Occurred()) Py_RETURN_NONE;
    return tick;
}

static int input_index(sn_reader_object *self, PyObject *object, uint32_t *input)
{
    unsigned long value = PyLong_AsUnsignedLong(object);
    if (PyErr_Occurred() || must_be_open(self) < 0) return -1;
    *input = (uint32_t)value;
    if (value >= self->reader.ring->geometry.inputs) PyErr_Format(PyExc_IndexError, "there is no input %lu", value);
    return PyErr_Occurred() ? -1 : 0;
}

/* The lane, or (code, pid, name) of who is in the way. */
static PyObject *reader_claim(sn_reader_object *self, PyObject *args)
{
    uint32_t input;
    PyObject *index;
    const char *name;
    int priority, exclusive;
    if (!PyArg_ParseTuple(args, "Ozip", &index, &name, &priority, &exclusive) || input_index(self, index, &input) < 0)
        return NULL;
    sn_writer other;
    const int code = sn_mailbox_claim(&self->reader, input, name, priority, exclusive, &other);
    if (code == SN_OK) return PyLong_FromLong(self->reader.lanes[input] - 1);
    PyObject *text = PyUnicode_DecodeUTF8(other.name, (Py_ssize_t)strlen(other.name), "replace");
    return text ? Py_BuildValue("iIN", code, other.pid, text) : NULL;
}

static PyObject *reader_leave(sn_reader_object *self, PyObject *object)
{
    uint32_t input;
    if (input_index(self, object, &input) < 0) return NULL;
    self->prepared &= ~(UINT64_C(1) << input);
    sn_mailbox_leave(&self->reader, input);
    Py_RETURN_NONE;
}

static PyObject *reader_prepare(sn_reader_object *self, PyObject *object)
{
    uint32_t input;
    if (input_index(self, object, &input) < 0) return NULL;
    const uint32_t lane = self->reader.lanes[input];
    if (lane == 0) return PyErr_Format(PyExc_ValueError, "input %u was not claimed", input);
    self->prepared |= UINT64_C(1) << input;
    return PyLong_FromLong(sn_mailbox_buffer(&self->reader, input) != sn_lane_half(self->reader.ring, input, lane - 1, 0));
}

static PyObject *reader_send(sn_reader_object *self, PyObject *args)
{
    uint32_t input;
    PyObject *object;
    unsigned long long answers = self->reader.step;
    if (!PyArg_ParseTuple(args, "O|K", &object, &answers)) return NULL;
    if (input_index(self, object, &input) < 0) return NULL;
    if (!(self->prepared >> input & 1)) return PyErr_Format(PyExc_ValueError, "no command was prepared for input %u", input);
    self->prepared &= ~(UINT64_C(1) << input);
    sn_mailbox_send(&self->reader, input, answers, sn_now_ns());
    Py_RETURN_NONE;
}

static PyObject *reader_close(sn_reader_object *self, PyObject *unused)
{
    (void)unused;
    shut(self);
    Py_RETURN_NONE;
}

static PyObject *reader_statistics(sn_reader_object *self, void *unused)
{
    (void)unused;
    if (must_be_open(self) < 0) return NULL;
    const sn_entry *entry = self->reader.entry;
    uint32_t held = 0;
    for (uint32_t k = 0; k < SN_LEASES; k++) held += __atomic_load_n(&entry->lease[k], __ATOMIC_RELAXED) != 0;
    return Py_BuildValue("KKKI", (unsigned long long)entry->taken, (unsigned long long)entry->skipped,
                         (unsigned long long)entry->lost, held);
}

static PyMethodDef reader_methods[] = {
    {"next", (PyCFunction)(void (*)(void))reader_next, METH_FASTCALL,
     "Wait for a tick newer than the last (timeout_ns, spin_ns); None at the timeout, at the ring's end, or with no lease free."},
    {"latest", (PyCFunction)reader_latest, METH_NOARGS, "Take the newest tick, also if it was taken before; None if none."},
    {"claim", (PyCFunction)reader_claim, METH_VARARGS,
     "Become a writer (input, name or None, priority, exclusive): its lane, or (code, pid, name) of who is in the way."},
    {"leave", (PyCFunction)reader_leave, METH_O, "Send to an input no more."},
    {"prepare", (PyCFunction)reader_prepare, METH_O, "Tell which of the lane's two buffers (0, 1) is free to fill."},
    {"send", (PyCFunction)reader_send, METH_VARARGS, "send(input, answers): publish the prepared command; answers: the tick last taken."},
    {"close", (PyCFunction)reader_close, METH_NOARGS, "Leave the ring: leases and inputs are free for others."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef reader_getters[] = {
    {"statistics", (getter)reader_statistics, NULL, "Ticks taken, skipped and lost, and leases held.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject reader_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim_node._native.Reader",
    .tp_basicsize = sizeof(sn_reader_object),
    .tp_dealloc = (destructor)reader_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Reader(ring, views, device=None): a place in the ring's table of readers.",
    .tp_new = reader_new,
    .tp_methods = reader_methods,
    .tp_getset = reader_getters,
};

int sn_add_reader(PyObject *module)
{
    if (pthread_atfork(NULL, NULL, count_fork) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    if (PyType_Ready(&tick_type) < 0 || PyType_Ready(&reader_type) < 0) return -1;
    if (PyModule_AddObjectRef(module, "Reader", (PyObject *)&reader_type) < 0) return -1;
    return PyModule_AddObjectRef(module, "Tick", (PyObject *)&tick_type);
}
