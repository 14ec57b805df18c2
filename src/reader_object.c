/* _native.Reader: a place in a ring's table of readers; it waits for ticks, and sends commands. */
#define PY_SSIZE_T_CLEAN
#include "reader_object.h"

#include <pthread.h>

#include "ring_object.h"

#define SLICE_NS INT64_C(100000000) /* how often a wait looks for Python signals and for the owner's death */
#define REHEARSE_NS INT64_C(20000) /* how often one that polls rehearses, which takes it a microsecond */

static uint32_t forks; /* between the process that loaded the module and this one */

static void count_fork(void) { forks++; }

int sn_reader_ours(const sn_reader_object *self) { return self->open && self->forks == forks; }

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *ring_object, *views, *device = Py_None, *rehearsal = Py_None;
    if (names != NULL && PyDict_GET_SIZE(names) > 0) return PyErr_Format(PyExc_TypeError, "Reader takes no keywords");
    if (!PyArg_ParseTuple(args, "O!O!|OO", &sn_ring_type, &ring_object, &PyTuple_Type, &views, &device, &rehearsal))
        return NULL;
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
    self->rehearsal = rehearsal == Py_None ? NULL : Py_NewRef(rehearsal);
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
    if (sn_reader_ours(self)) sn_reader_close(&self->reader);
    self->open = 0;
}

static void reader_dealloc(sn_reader_object *self)
{
    shut(self);
    Py_XDECREF(self->ring);
    Py_XDECREF(self->views);
    Py_XDECREF(self->device);
    Py_XDECREF(self->rehearsal);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int must_be_open(const sn_reader_object *self)
{
    if (sn_reader_ours(self)) return 0;
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
    PyObject *object = taken ? sn_tick_new(self, &tick) : NULL;
    Py_XDECREF(taken);
    if (object == NULL) sn_reader_release(&self->reader, &tick);
    return object;
}

/* Does with a tick of no content what the reader will do with the next one. Code and data of the interpreter that nothing
 * touches for a millisecond are cold, and cost a reader that polls more than all the way to it. */
static int rehearse(sn_reader_object *self)
{
    static const sn_tick nothing = {.lease = SN_REHEARSED};
    __builtin_prefetch(self->reader.entry, 1); /* the producer has read the leases since they were written */
    PyObject *tick = sn_tick_new(self, &nothing);
    PyObject *done = tick ? PyObject_CallOneArg(self->rehearsal, tick) : NULL;
    Py_XDECREF(tick);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

static PyObject *reader_next(sn_reader_object *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) return PyErr_Format(PyExc_TypeError, "next takes timeout_ns and spin_ns");
    int64_t timeout_ns = PyLong_AsLongLong(args[0]), spin_ns = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred() || must_be_open(self) < 0) return NULL;
    int64_t start = sn_now_ns(), looked = start;
    for (;;) {
        int found, woken;
        PyObject *tick = take(self, 0, &found);
        if (tick != NULL || PyErr_Occurred()) return tick;
        int64_t waited = sn_now_ns() - start;
        if (found < 0 || waited >= timeout_ns) Py_RETURN_NONE;
        const int polls = self->rehearsal != NULL && waited < spin_ns;
        const int64_t most = polls ? REHEARSE_NS : SLICE_NS, slice = timeout_ns - waited < most ? timeout_ns - waited : most;
        Py_INCREF(self);
        Py_BEGIN_ALLOW_THREADS
        woken = sn_reader_wait(&self->reader, slice, spin_ns - waited);
        Py_END_ALLOW_THREADS
        int open = self->open;
        Py_DECREF(self);
        if (PyErr_CheckSignals() < 0) return NULL;
        if (!open) return must_be_open(self), NULL;
        if (polls && woken == SN_NOTHING && rehearse(self) < 0) return NULL;
        if (polls && sn_now_ns() - looked < SLICE_NS) continue;
        looked = sn_now_ns();
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
    return Py_BuildValue("KKKKI", (unsigned long long)entry->taken, (unsigned long long)entry->skipped,
                         (unsigned long long)entry->lost, (unsigned long long)entry->revoked, held);
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
    {"statistics", (getter)reader_statistics, NULL, "Ticks taken, skipped and lost, leases revoked and held.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject reader_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim_node._native.Reader",
    .tp_basicsize = sizeof(sn_reader_object),
    .tp_dealloc = (destructor)reader_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Reader(ring, views, device=None, rehearsal=None): a place in the ring's table of readers; rehearsal(tick) is called while it polls.",
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
    if (PyType_Ready(&sn_tick_type) < 0 || PyType_Ready(&reader_type) < 0) return -1;
    if (PyModule_AddObjectRef(module, "Reader", (PyObject *)&reader_type) < 0) return -1;
    return PyModule_AddObjectRef(module, "Tick", (PyObject *)&sn_tick_type);
}
