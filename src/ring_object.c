/* _native.Ring: a ring in memory that Python mapped, and the producer's side of it. */
#define PY_SSIZE_T_CLEAN
#include <stddef.h>

#include "ring_object.h"

#include "module.h"
#include "reader_object.h"

static sn_ring_object *new_ring(PyObject *memory)
{
    sn_ring_object *self = PyObject_New(sn_ring_object, &sn_ring_type);
    if (self == NULL) return NULL;
    memset(&self->ring, 0, sizeof self->ring);
    memset(&self->memory, 0, sizeof self->memory);
    self->owner = 0;
    if (PyObject_GetBuffer(memory, &self->memory, PyBUF_WRITABLE) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    if ((uintptr_t)self->memory.buf % SN_LINE != 0) {
        PyErr_SetString(PyExc_ValueError, "the memory of a ring is aligned to 64 bytes");
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

static void dealloc(sn_ring_object *self)
{
    if (self->memory.obj != NULL) PyBuffer_Release(&self->memory);
    PyObject_Free(self);
}

/* Read the tuple of input sizes and place the parts; -1 with ValueError when they cannot be placed. */
static int place(sn_geometry *g, PyObject *sizes)
{
    g->inputs = (uint64_t)PyTuple_GET_SIZE(sizes);
    for (uint64_t i = 0; i < g->inputs && i < SN_INPUTS; i++) {
        g->input_size[i] = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(sizes, (Py_ssize_t)i));
        if (PyErr_Occurred()) return -1;
    }
    const char *wrong = sn_geometry_place(g);
    if (wrong != NULL) PyErr_SetString(PyExc_ValueError, wrong);
    return wrong == NULL ? 0 : -1;
}

static PyObject *size(PyObject *type, PyObject *args)
{
    (void)type;
    sn_geometry g = {0};
    unsigned long long slots, slot_size, layout_size, inputs_size, device_size = 0;
    PyObject *sizes;
    if (!PyArg_ParseTuple(args, "KKO!KK|K", &slots, &slot_size, &PyTuple_Type, &sizes, &layout_size, &inputs_size,
                          &device_size))
        return NULL;
    g.slots = slots, g.slot_size = slot_size, g.layout_size = layout_size, g.inputs_size = inputs_size;
    g.device_size = device_size;
    return place(&g, sizes) < 0 ? NULL : PyLong_FromUnsignedLongLong(g.size);
}

static PyObject *create(PyObject *type, PyObject *args)
{
    (void)type;
    sn_geometry g = {0};
    unsigned long long slots, slot_size, generation;
    PyObject *memory, *sizes;
    const char *digest, *layout, *inputs, *device = "";
    Py_ssize_t digest_size, layout_size, inputs_size, device_size = 0;
    if (!PyArg_ParseTuple(args, "OKKO!Ky#y#y#|y#", &memory, &slots, &slot_size, &PyTuple_Type, &sizes, &generation, &digest,
                          &digest_size, &layout, &layout_size, &inputs, &inputs_size, &device, &device_size))
        return NULL;
    g.slots = slots, g.slot_size = slot_size, g.layout_size = (uint64_t)layout_size, g.inputs_size = (uint64_t)inputs_size;
    g.device_size = (uint64_t)device_size;
    if (place(&g, sizes) < 0) return NULL;
    sn_ring_object *self = new_ring(memory);
    if (self == NULL) return NULL;
    uint64_t owner = sn_life_self();
    if (digest_size != 32 || (uint64_t)self->memory.len != g.size || owner == 0 || owner == SN_NONE) {
        PyErr_SetString(PyExc_ValueError, digest_size != 32 ? "a digest has 32 bytes"
                                          : owner == 0 || owner == SN_NONE
                                              ? "this process cannot read its start time; is /proc mounted?"
                                              : "the memory's length is not what the ring needs");
        Py_DECREF(self);
        return NULL;
    }
    sn_ring_format(&self->ring, self->memory.buf, &g, generation, digest, layout, inputs, device);
    self->owner = 1;
    return (PyObject *)self;
}

static PyObject *attach(PyObject *type, PyObject *memory)
{
    (void)type;
    sn_ring_object *self = new_ring(memory);
    if (self == NULL) return NULL;
    const char *wrong = sn_ring_attach(&self->ring, self->memory.buf, (uint64_t)self->memory.len);
    if (wrong == NULL) return (PyObject *)self;
    PyErr_SetString(PyExc_ValueError, wrong);
    Py_DECREF(self);
    return NULL;
}

/* Whose memory it is, in any version of the protocol: (generation, pid, alive); alive is None where it cannot be told. */
static PyObject *owner_of(PyObject *type, PyObject *memory)
{
    (void)type;
    Py_buffer view;
    if (PyObject_GetBuffer(memory, &view, PyBUF_SIMPLE) < 0) return NULL;
    sn_control head;
    memset(&head, 0, sizeof head);
    if (view.len >= (Py_ssize_t)offsetof(sn_control, digest)) memcpy(&head, view.buf, offsetof(sn_control, digest));
    PyBuffer_Release(&view);
    if (head.magic != SN_MAGIC) Py_RETURN_NONE;
    PyObject *alive = head.pid_namespace != sn_pid_namespace() ? Py_None : sn_life_ended(head.owner) ? Py_False : Py_True;
    return Py_BuildValue("KIO", (unsigned long long)head.generation, sn_life_pid(head.owner), alive);
}

/* (pid, start time) of this process, as a ring's owner tells them. */
static PyObject *life(PyObject *type, PyObject *unused)
{
    (void)type, (void)unused;
    const uint64_t self = sn_life_self();
    if (self != 0 && self != SN_NONE) return Py_BuildValue("IK", sn_life_pid(self), (unsigned long long)sn_life_start(self));
    return PyErr_Format(PyExc_OSError, "%s", sn_code_text(SN_NO_LIFE));
}

int sn_must_own(const sn_ring_object *self)
{
    if (!self->owner) PyErr_SetString(PyExc_ValueError, "only who made the ring writes ticks into it");
    return self->owner ? 0 : -1;
}

int sn_ring_index(PyObject *object, uint64_t count, const char *what, uint32_t *index)
{
    unsigned long value = PyLong_AsUnsignedLong(object);
    if (PyErr_Occurred()) return -1;
    *index = (uint32_t)value;
    if (value >= count) PyErr_Format(PyExc_IndexError, "%s %lu is not below %llu", what, value, (unsigned long long)count);
    return value < count ? 0 : -1;
}

static PyObject *next(sn_ring_object *self, PyObject *unused)
{
    (void)unused;
    return sn_must_own(self) < 0 ? NULL : PyLong_FromLong(sn_ring_next(&self->ring));
}

static PyObject *commit(sn_ring_object *self, PyObject *args)
{
    int slot;
    long long stamp_ns;
    PyObject *step_object, *hash_object;
    if (sn_must_own(self) < 0 || !PyArg_ParseTuple(args, "iOLO", &slot, &step_object, &stamp_ns, &hash_object)) return NULL;
    unsigned long long step = PyLong_AsUnsignedLongLong(step_object);
    if (PyErr_Occurred()) return NULL;
    unsigned long long hash = PyLong_AsUnsignedLongLong(hash_object);
    if (PyErr_Occurred()) return NULL;
    if (self->ring.writing == 0 || slot != (int)self->ring.writing - 1)
        return PyErr_Format(PyExc_ValueError, "slot %d is not the one that next() gave", slot);
    sn_ring_commit(&self->ring, slot, step, stamp_ns, hash);
    Py_RETURN_NONE;
}

static PyObject *heartbeat(sn_ring_object *self, PyObject *unused)
{
    (void)unused;
    if (sn_must_own(self) < 0) return NULL;
    sn_ring_heartbeat(&self->ring, sn_now_ns());
    Py_RETURN_NONE;
}

static PyObject *close_ring(sn_ring_object *self, PyObject *unused)
{
    (void)unused;
    if (sn_must_own(self) < 0) return NULL;
    sn_ring_close(&self->ring);
    Py_RETURN_NONE;
}

static PyObject *slot_offset(sn_ring_object *self, PyObject *index)
{
    uint32_t slot;
    if (sn_ring_index(index, self->ring.geometry.slots + SN_SPARES, "slot", &slot) < 0) return NULL;
    return PyLong_FromSsize_t((char *)sn_ring_slot(&self->ring, (int)slot) - (char *)self->memory.buf);
}

/* How long a reader may hold a slot that is wanted, ns; 0: for ever. */
static PyObject *limit_leases(sn_ring_object *self, PyObject *limit)
{
    const long long limit_ns = PyLong_AsLongLong(limit);
    if (PyErr_Occurred() || sn_must_own(self) < 0) return NULL;
    __atomic_store_n(&self->ring.control->lease_limit_ns, limit_ns, __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

/* (pid, alive, leased slots, step, taken, skipped, lost, revoked) of each reader. */
static PyObject *readers(sn_ring_object *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < SN_READERS; i++) {
        const sn_entry *entry = &self->ring.control->readers[i];
        uint64_t life = __atomic_load_n(&entry->life, __ATOMIC_RELAXED);
        if (life == 0) continue;
        uint32_t leases = 0;
        for (uint32_t k = 0; k < SN_LEASES; k++) leases += __atomic_load_n(&entry->lease[k], __ATOMIC_RELAXED) != 0;
        PyObject *row = Py_BuildValue("IOIKKKKK", sn_life_pid(life), sn_life_ended(life) ? Py_False : Py_True, leases,
                                      (unsigned long long)entry->step, (unsigned long long)entry->taken,
                                      (unsigned long long)entry->skipped, (unsigned long long)entry->lost,
                                      (unsigned long long)entry->revoked);
        if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* Returns its place in the table of those who map the fields on a GPU. */
static PyObject *enter_mapper(sn_ring_object *self, PyObject *unused)
{
    (void)unused;
    uint32_t place;
    const int entered = sn_mapper_enter(&self->ring, &place);
    if (entered == SN_OK) return PyLong_FromUnsignedLong(place);
    return PyErr_Format(PyExc_OSError, "%s", sn_code_text(entered));
}

static PyObject *leave_mapper(sn_ring_object *self, PyObject *index)
{
    uint32_t place;
    if (sn_ring_index(index, SN_READERS, "place", &place) < 0) return NULL;
    sn_mapper_leave(&self->ring, place);
    Py_RETURN_NONE;
}

/* The pids of those who live. */
static PyObject *mappers(sn_ring_object *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < SN_READERS; i++) {
        const uint64_t life = sn_mapper_of(&self->ring, i);
        PyObject *pid = life ? PyLong_FromUnsignedLong(sn_life_pid(life)) : NULL;
        if (life && (pid == NULL || PyList_Append(list, pid) < 0)) Py_CLEAR(list);
        Py_XDECREF(pid);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"size", size, METH_VARARGS | METH_STATIC, "Count the bytes of a ring (slots, slot size, input sizes, text lengths)."},
    {"create", create, METH_VARARGS | METH_STATIC, "Make a ring in zeroed memory."},
    {"attach", attach, METH_O | METH_STATIC, "Take up the ring in memory, or say by ValueError why it is none."},
    {"owner_of", owner_of, METH_O | METH_STATIC, "Tell generation, pid and life of whoever made the memory a ring."},
    {"life", life, METH_NOARGS | METH_STATIC, "Tell pid and start time of this process, as an owner's."},
    {"next", (PyCFunction)next, METH_NOARGS, "Choose the slot to fill."},
    {"commit", (PyCFunction)commit, METH_VARARGS, "Publish the slot (slot, step, stamp_ns, hash)."},
    {"rule", (PyCFunction)sn_ring_rule, METH_VARARGS, "Say of an input whether one writer has it alone, and after how many ticks one is silent."},
    {"take", (PyCFunction)sn_ring_take, METH_VARARGS, "Copy the newest command out: (answers, sent_ns), 0 if none, -6 if given up."},
    {"heartbeat", (PyCFunction)heartbeat, METH_NOARGS, "Show that the owner lives, and take back what dead readers held."},
    {"close", (PyCFunction)close_ring, METH_NOARGS, "Tell the readers that no more ticks will come."},
    {"slot_offset", (PyCFunction)slot_offset, METH_O, "Tell where the payload of a slot starts."},
    {"lane_offsets", (PyCFunction)sn_ring_lane_offsets, METH_VARARGS, "Tell where the two buffers of a lane of an input start."},
    {"mailbox", (PyCFunction)sn_ring_mailbox, METH_O, "Tell the rules of an input, what was applied last, and its writers."},
    {"limit_leases", (PyCFunction)limit_leases, METH_O, "Say how long a reader may hold a slot that is wanted, ns; 0: for ever."},
    {"readers", (PyCFunction)readers, METH_NOARGS, "List the readers."},
    {"enter_mapper", (PyCFunction)enter_mapper, METH_NOARGS, "Tell the owner that its GPU's memory is mapped; returns a place."},
    {"leave_mapper", (PyCFunction)leave_mapper, METH_O, "Tell the owner that it is mapped there no more (place)."},
    {"mappers", (PyCFunction)mappers, METH_NOARGS, "List the pids of those who map its GPU's memory."},
    {NULL, NULL, 0, NULL},
};

#define FIGURE(name, expression)                                        \
    static PyObject *get_##name(sn_ring_object *self, void *unused)     \
    {                                                                   \
        (void)unused;                                                   \
        return PyLong_FromUnsignedLongLong((uint64_t)(expression));     \
    }
#define BYTES(name, at, length)                                                                   \
    static PyObject *get_##name(sn_ring_object *self, void *unused)                               \
    {                                                                                             \
        (void)unused;                                                                             \
        return PyBytes_FromStringAndSize((char *)self->ring.control + (at), (Py_ssize_t)(length)); \
    }

FIGURE(generation, self->ring.control->generation)
FIGURE(owner_pid, sn_life_pid(self->ring.control->owner))
FIGURE(owner_start, sn_life_start(self->ring.control->owner))
FIGURE(owner_uid, self->ring.control->owner_uid)
FIGURE(slots, self->ring.geometry.slots)
FIGURE(slot_size, self->ring.geometry.slot_size)
FIGURE(dropped, __atomic_load_n(&self->ring.control->dropped, __ATOMIC_RELAXED))
FIGURE(lease_limit_ns, __atomic_load_n(&self->ring.control->lease_limit_ns, __ATOMIC_RELAXED))
FIGURE(copies, __atomic_load_n(&self->ring.control->copies, __ATOMIC_RELAXED))
FIGURE(heartbeat_ns, __atomic_load_n(&self->ring.control->heartbeat_ns, __ATOMIC_RELAXED))
BYTES(digest, offsetof(sn_control, digest), 32)
BYTES(layout, self->ring.geometry.layout_at, self->ring.geometry.layout_size)
BYTES(inputs, self->ring.geometry.inputs_at, self->ring.geometry.inputs_size)
BYTES(device, self->ring.geometry.device_at, self->ring.geometry.device_size)

static PyObject *get_closed(sn_ring_object *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(sn_ring_closed(&self->ring));
}

static PyObject *get_ended(sn_ring_object *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(sn_ring_ended(&self->ring));
}

static PyObject *get_input_sizes(sn_ring_object *self, void *unused)
{
    (void)unused;
    PyObject *sizes = PyTuple_New((Py_ssize_t)self->ring.geometry.inputs);
    for (uint64_t i = 0; sizes != NULL && i < self->ring.geometry.inputs; i++)
        PyTuple_SET_ITEM(sizes, (Py_ssize_t)i, PyLong_FromUnsignedLongLong(self->ring.geometry.input_size[i]));
    return sizes;
}

/* (number, step, sent_ns) of the newest commit, or None. */
static PyObject *get_newest(sn_ring_object *self, void *unused)
{
    (void)unused;
    const uint64_t latest = __atomic_load_n(&self->ring.control->latest, __ATOMIC_ACQUIRE);
    if (latest == SN_NONE || (latest & 255) >= self->ring.geometry.slots) Py_RETURN_NONE;
    sn_tick tick;
    sn_tick_read(&tick, &self->ring, latest);
    return Py_BuildValue("KKL", (unsigned long long)tick.number, (unsigned long long)tick.step, (long long)tick.sent_ns);
}

static PyObject *get_silent(sn_ring_object *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(sn_ring_silent(&self->ring));
}

static PyObject *get_region(sn_ring_object *self, void *unused)
{
    (void)unused;
    return Py_BuildValue("KK", (unsigned long long)(uintptr_t)self->memory.buf, (unsigned long long)self->memory.len);
}

#define GETTER(name, text) {#name, (getter)get_##name, NULL, text, NULL}

static PyGetSetDef getters[] = {
    GETTER(generation, "Which life of the ring it is."),
    GETTER(owner_pid, "Process that made it."),
    GETTER(owner_start, "Start time of that process, clock ticks since boot (proc(5), field 22), modulo 2^34."),
    GETTER(owner_uid, "User that made it."),
    GETTER(slots, "Slots, without the spare ones."),
    GETTER(slot_size, "Bytes of a slot's payload."),
    GETTER(dropped, "Commits never published because every slot was leased."),
    GETTER(lease_limit_ns, "How long a reader may hold a slot that is wanted; 0: for ever."),
    GETTER(copies, "Fields that had to be copied into their slot."),
    GETTER(heartbeat_ns, "Last sign of life, CLOCK_MONOTONIC."),
    GETTER(region, "Address and bytes of the memory."),
    GETTER(digest, "SHA-256 of the layout's text."),
    GETTER(layout, "Text of the layout."),
    GETTER(inputs, "Text of the layout of the inputs."),
    GETTER(device, "Text of the fields that a GPU keeps; empty: none."),
    GETTER(input_sizes, "Bytes of each input's command."),
    GETTER(newest, "Number, step and instant (CLOCK_MONOTONIC, ns) of the newest commit, or None."),
    GETTER(closed, "Whether the owner closed it."),
    GETTER(ended, "Whether no more ticks will come: closed, or its owner is gone."),
    GETTER(silent, "Whether it is worth asking for ended: closed, or three heartbeats were missed."),
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject sn_ring_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sim_node._native.Ring",
    .tp_basicsize = sizeof(sn_ring_object),
    .tp_dealloc = (destructor)dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "A ring in memory that is mapped elsewhere; make one with create or attach.",
    .tp_methods = methods,
    .tp_getset = getters,
};

sn_ring *sn_ring_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, &sn_ring_type)) return &((sn_ring_object *)object)->ring;
    PyErr_Format(PyExc_TypeError, "expected a _native.Ring, not %s", Py_TYPE(object)->tp_name);
    return NULL;
}

int sn_add_ring(PyObject *module)
{
    if (PyType_Ready(&sn_ring_type) < 0 || PyModule_AddObjectRef(module, "Ring", (PyObject *)&sn_ring_type) < 0) return -1;
    static const struct {
        const char *name;
        long value;
    } numbers[] = {{"SPARES", SN_SPARES}, {"LEASES", SN_LEASES}, {"LANES", SN_LANES}, {"SILENCE", SN_SILENCE}, {"NO_LANE", SN_NO_LANE}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (PyModule_AddIntConstant(module, numbers[i].name, numbers[i].value) < 0) return -1;
    return sn_add_reader(module);
}
