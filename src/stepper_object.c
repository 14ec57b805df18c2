/* _native.Stepper: a stepper and its loop as a Python object. sim_node/plant/stepper.py knows the names; here fields and
 * inputs are numbers. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "stepper_object.h"

#include "module.h"
#include "plan_object.h"
#include "ring_object.h"

/* Ticks that take longer together let other Python threads run, and so do those that wait for a GPU; taking the GIL back
 * can cost a switch interval, so shorter ones keep it. */
enum { SN_LONG_NS = 50000 };

/* ---- the right to tick or look inside ---- */

/* Takes it; -1 with an exception set while a loop runs that is not paused, or another thread ticks. */
int sn_take_right(sn_stepper_object *self)
{
    if (pthread_mutex_trylock(&self->loop.right) == 0) return 0;
    if (!atomic_load(&self->loop.paused)) {
        PyErr_SetString(self->busy, "the stepper is running in another thread; pause or stop it first");
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&self->loop.right); /* about to park */
    Py_END_ALLOW_THREADS
    return 0;
}

PyObject *sn_give_right(sn_stepper_object *self, PyObject *result)
{
    pthread_mutex_unlock(&self->loop.right);
    return result;
}

int sn_read_count(PyObject *value, void *count)
{
    const unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) return 0;
    *(uint64_t *)count = number;
    return 1;
}

PyObject *sn_stepper_failure(const sn_stepper *stepper)
{
    const sn_error *e = &stepper->error;
    return Py_BuildValue("(IILLL)", (unsigned)stepper->failed_launch, (unsigned)e->site, (long long)e->thread,
                         (long long)e->index, (long long)e->length);
}

/* ---- construction ---- */

static int sn_open_object(sn_stepper_object *self, sn_stepper_options *o, PyObject *field_rows, PyObject *input_rows)
{
    o->plan = sn_plan_of(self->plan);
    o->ring = o->plan ? sn_ring_of(self->ring) : NULL;
    if (o->ring == NULL) return -1;
    if (!((sn_ring_object *)self->ring)->owner) {
        PyErr_SetString(PyExc_ValueError, "only who made the ring writes ticks into it");
        return -1;
    }
    if (o->ring->geometry.slot_size < o->block_size[SN_PUBLISHED]) {
        PyErr_SetString(PyExc_ValueError, "the ring's slots are smaller than the published fields");
        return -1;
    }
    o->away.reports = o->plan->reports;
    if (o->block_size[SN_DEVICE] > o->away.stride || (o->away.slots != NULL && o->away.reports == NULL)) {
        PyErr_SetString(PyExc_ValueError, "slots of a GPU are for a plan that runs there, and as large as its fields");
        return -1;
    }
    o->field_count = (uint32_t)PyTuple_GET_SIZE(field_rows);
    o->input_count = (uint32_t)PyTuple_GET_SIZE(input_rows);
    sn_field *fields = sn_read_fields(o, field_rows);
    sn_input *inputs = fields ? sn_read_inputs(o, input_rows) : NULL;
    o->fields = fields;
    o->inputs = inputs;
    if (inputs) {
        self->open = sn_stepper_open(&self->stepper, o) == 0 && sn_loop_open(&self->loop, o->ring) == 0;
        if (!self->open) PyErr_NoMemory();
    }
    PyMem_Free(fields);
    PyMem_Free(inputs);
    return self->open ? 0 : -1;
}

static PyObject *sn_stepper_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"plan", "ring", "busy", "fields", "inputs", "published_size", "private_size",
                               "state_size", "input_size", "dt_ns", "keyframe_every", "record_capacity", "buffers", "held", "seen",
                               "sums", "summed", "commit", "commit_block", "slots", "stride", "device_size", "events", NULL};
    PyObject *plan, *ring, *busy, *fields, *inputs;
    unsigned long long buffers = 0, held = 0, seen = 0, sums = 0, summed = 0, commit = 0, block = 0, slots = 0, stride = 0, device = 0, events = 0;
    uint64_t published, private_size, state, input, dt_ns, every, capacity;
    if (!PyArg_ParseTupleAndKeywords(args, names, "OOOO!O!O&O&O&O&O&O&O&|KKKKKKKKKKK", keywords, &plan, &ring, &busy,
                                     &PyTuple_Type, &fields, &PyTuple_Type, &inputs, sn_read_count, &published,
                                     sn_read_count, &private_size, sn_read_count, &state, sn_read_count, &input,
                                     sn_read_count, &dt_ns, sn_read_count, &every, sn_read_count, &capacity, &buffers, &held,
                                     &seen, &sums, &summed, &commit, &block, &slots, &stride, &device, &events))
        return NULL;
    sn_stepper_object *self = (sn_stepper_object *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->plan = Py_NewRef(plan);
    self->ring = Py_NewRef(ring);
    self->busy = Py_NewRef(busy);
    sn_stepper_options options = {.block_size = {published, private_size, device}, .state_size = state, .input_size = input,
                                  .dt_ns = dt_ns, .keyframe_every = every, .record_capacity = capacity,
                                  .away = {NULL, (uint8_t *)(uintptr_t)buffers, (uint8_t *)(uintptr_t)held,
                                           (uint8_t *)(uintptr_t)seen, (uint64_t *)(uintptr_t)sums, summed,
                                           (void *)(uintptr_t)commit, (uint32_t)block,
                                           (uint8_t *)(uintptr_t)slots, stride, (void *const *)(uintptr_t)events}};
    if (sn_open_object(self, &options, fields, inputs) == 0) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void sn_stepper_dealloc(PyObject *object)
{
    sn_stepper_object *self = (sn_stepper_object *)object;
    if (self->open) {
        sn_loop_close(&self->loop);
        sn_stepper_close(&self->stepper);
    }
    Py_XDECREF(self->plan);
    Py_XDECREF(self->ring);
    Py_XDECREF(self->busy);
    Py_TYPE(object)->tp_free(object);
}

/* ---- ticks ---- */

/* What is to be returned, or what the GPU's driver answered instead. */
static PyObject *sn_told(PyObject *value, sn_result result)
{
    if (result == 0) return value;
    Py_DECREF(value);
    return PyLong_FromLong(result);
}

static PyObject *sn_object_load(PyObject *object, PyObject *args)
{
    sn_stepper_object *self = (sn_stepper_object *)object;
    uint64_t step;
    Py_buffer state, inputs;
    if (!PyArg_ParseTuple(args, "O&y*y*", sn_read_count, &step, &state, &inputs)) return NULL;
    const sn_stepper_options *o = &self->stepper.options;
    PyObject *result = NULL;
    if ((uint64_t)state.len != o->state_size || (uint64_t)inputs.len != o->input_size) {
        PyErr_Format(PyExc_ValueError, "state and inputs have %zd and %zd bytes; the layouts have %llu and %llu", state.len,
                     inputs.len, (unsigned long long)o->state_size, (unsigned long long)o->input_size);
    } else if (sn_take_right(self) == 0) {
        int slot;
        sn_result placed;
        Py_BEGIN_ALLOW_THREADS
        placed = sn_stepper_place(&self->stepper, state.buf, &slot);
        Py_END_ALLOW_THREADS
        if (placed == 0) sn_stepper_begin(&self->stepper, slot, step, inputs.buf); /* who drains has the GIL */
        result = sn_give_right(self, sn_told(Py_NewRef(Py_None), placed));
    }
    PyBuffer_Release(&state);
    PyBuffer_Release(&inputs);
    return result;
}

/* Ticks until done, failed, or a slice of time is over; returns how many are left. */
static uint64_t sn_tick_slice(sn_stepper_object *self, uint64_t count, sn_due due, bool *failed)
{
    const int64_t began_ns = sn_now_ns();
    const uint64_t first = count;
    int64_t now_ns = began_ns;
    while (count > 0 && now_ns - began_ns < SN_SIGNAL_NS) {
        *failed = !sn_stepper_tick(&self->stepper, due);
        if (*failed) break;
        count--;
        due = (sn_due){0}; /* only the first of them was waited for */
        now_ns = sn_now_ns();
    }
    if (count < first) self->tick_ns = (now_ns - began_ns) / (int64_t)(first - count);
    return count;
}

static PyObject *sn_object_tick(PyObject *object, PyObject *args)
{
    sn_stepper_object *self = (sn_stepper_object *)object;
    uint64_t count = 1;
    long long due_ns = 0;
    if (!PyArg_ParseTuple(args, "|O&L", sn_read_count, &count, &due_ns)) return NULL;
    if (sn_take_right(self) < 0) return NULL;
    sn_due due = {.due_ns = due_ns, .period_ns = due_ns ? (int64_t)self->stepper.options.dt_ns : 0};
    bool failed = false;
    while (count > 0 && !failed) {
        PyThreadState *released = NULL;
        const bool is_long = count > SN_LONG_NS || self->tick_ns * (int64_t)count > SN_LONG_NS;
        /* a tick of a clock lets the watchdog run, whatever happens to it */
        if (is_long || due_ns || self->stepper.options.away.reports != NULL) released = PyEval_SaveThread();
        count = sn_tick_slice(self, count, due, &failed);
        due = (sn_due){0};
        if (released) PyEval_RestoreThread(released);
        if (sn_plan_show(self->plan) < 0) return sn_give_right(self, NULL);
        if (count > 0 && PyErr_CheckSignals() < 0) return sn_give_right(self, NULL);
    }
    return sn_give_right(self, failed ? sn_stepper_failure(&self->stepper) : Py_NewRef(Py_None));
}

static PyObject *sn_object_probe(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_stepper_object *self = (sn_stepper_object *)object;
    const sn_stepper_options *o = &self->stepper.options;
    PyObject *faults = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)o->field_count + (Py_ssize_t)o->input_count);
    if (faults == NULL || sn_take_right(self) < 0) {
        Py_XDECREF(faults);
        return NULL;
    }
    bool ran;
    Py_BEGIN_ALLOW_THREADS
    ran = sn_stepper_probe(&self->stepper, (uint8_t *)PyBytes_AS_STRING(faults));
    Py_END_ALLOW_THREADS
    if (ran) return sn_give_right(self, faults);
    Py_DECREF(faults);
    return sn_give_right(self, sn_stepper_failure(&self->stepper));
}

/* ---- looking inside ---- */

/* The number of a field or an input that is there; -1 with IndexError set. */
Py_ssize_t sn_index(PyObject *value, uint32_t count)
{
    const Py_ssize_t index = PyLong_AsSsize_t(value);
    if (index >= 0 && index < (Py_ssize_t)count) return index;
    if (!PyErr_Occurred()) PyErr_Format(PyExc_IndexError, "%zd is not in 0 … %u", index, count);
    return -1;
}

static PyObject *sn_bytes(const void *memory, uint64_t size)
{
    return PyBytes_FromStringAndSize(memory, (Py_ssize_t)size);
}

static PyObject *sn_object_field(PyObject *object, PyObject *number)
{
    sn_stepper_object *self = (sn_stepper_object *)object;
    const Py_ssize_t i = sn_index(number, self->stepper.options.field_count);
    if (i < 0 || sn_take_right(self) < 0) return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)self->stepper.fields[i].size);
    if (bytes == NULL) return sn_give_right(self, NULL);
    sn_result result;
    Py_BEGIN_ALLOW_THREADS
    result = sn_stepper_read(&self->stepper, (uint32_t)i, (uint8_t *)PyBytes_AS_STRING(bytes));
    Py_END_ALLOW_THREADS
    return sn_give_right(self, sn_told(bytes, result));
}

static PyObject *sn_object_state(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_stepper_object *self = (sn_stepper_object *)object;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)self->stepper.options.state_size);
    if (bytes == NULL || sn_take_right(self) < 0) {
        Py_XDECREF(bytes);
        return NULL;
    }
    memset(PyBytes_AS_STRING(bytes), 0, self->stepper.options.state_size); /* between the fields */
    sn_result result;
    Py_BEGIN_ALLOW_THREADS
    result = sn_stepper_copy(&self->stepper, (uint8_t *)PyBytes_AS_STRING(bytes));
    Py_END_ALLOW_THREADS
    return sn_give_right(self, sn_told(bytes, result));
}

static PyObject *sn_object_inputs(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_stepper_object *self = (sn_stepper_object *)object;
    if (sn_take_right(self) < 0) return NULL;
    return sn_give_right(self, sn_bytes(self->stepper.held, self->stepper.options.input_size));
}

static PyObject *sn_object_hashes(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_stepper_object *self = (sn_stepper_object *)object;
    if (sn_take_right(self) < 0) return NULL;
    return sn_give_right(self, sn_bytes(self->stepper.hashes, self->stepper.options.field_count * 8));
}

/* A command waits for the next tick; where none can be under way it is applied at once, so that it can be read back. */
static PyObject *sn_object_command(PyObject *object, PyObject *args)
{
    sn_stepper_object *self = (sn_stepper_object *)object;
    PyObject *number;
    Py_buffer bytes;
    if (!PyArg_ParseTuple(args, "Oy*", &number, &bytes)) return NULL;
    const Py_ssize_t i = sn_index(number, self->stepper.options.input_count);
    const bool fits = i >= 0 && (uint64_t)bytes.len == self->stepper.inputs[i].size;
    if (fits) sn_stepper_command(&self->stepper, (uint32_t)i, bytes.buf);
    else if (i >= 0) PyErr_Format(PyExc_ValueError, "input %zd does not have %zd bytes", i, bytes.len);
    PyBuffer_Release(&bytes);
    if (!fits) return NULL;
    if (pthread_mutex_trylock(&self->loop.right) == 0) {
        sn_stepper_latch_commands(&self->stepper);
        pthread_mutex_unlock(&self->loop.right);
    }
    Py_RETURN_NONE;
}

static PyObject *sn_object_drain(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_records *records = &((sn_stepper_object *)object)->stepper.records;
    const uint64_t count = sn_records_run(records), fields = records->fields * 8, inputs = records->input_bytes;
    PyObject *hashes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * fields));
    PyObject *applied = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * inputs));
    PyObject *unanswered = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(uint64_t)));
    if (hashes == NULL || applied == NULL || unanswered == NULL) {
        Py_XDECREF(hashes);
        Py_XDECREF(applied);
        Py_XDECREF(unanswered);
        return NULL;
    }
    uint64_t first = 0, lost = atomic_load(&records->lost);
    for (uint64_t i = 0; i < count; i++) {
        const sn_record *record = sn_records_peek(records, i);
        if (i == 0) first = record->step, lost = record->lost;
        memcpy(PyBytes_AS_STRING(hashes) + i * fields, record->words, fields);
        memcpy(PyBytes_AS_STRING(applied) + i * inputs, sn_record_inputs(records, record), inputs);
        memcpy(PyBytes_AS_STRING(unanswered) + i * sizeof record->unanswered, &record->unanswered, sizeof record->unanswered);
    }
    sn_records_take(records, count);
    return Py_BuildValue("(KKNNNK)", (unsigned long long)first, (unsigned long long)count, hashes, applied, unanswered,
                         (unsigned long long)lost);
}

static PyObject *sn_object_take_keyframe(PyObject *object, PyObject *unused)
{
    (void)unused;
    sn_stepper *stepper = &((sn_stepper_object *)object)->stepper;
    sn_waiting *waiting = &stepper->waiting;
    if (!atomic_load_explicit(&waiting->full, memory_order_acquire)) Py_RETURN_NONE;
    PyObject *taken = Py_BuildValue("(Ky#y#)", (unsigned long long)waiting->step, waiting->state,
                                    (Py_ssize_t)stepper->options.state_size, waiting->inputs,
                                    (Py_ssize_t)stepper->options.input_size);
    if (taken != NULL) atomic_store_explicit(&waiting->full, false, memory_order_release);
    return taken;
}

static PyObject *sn_object_step(PyObject *object, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(atomic_load(&((sn_stepper_object *)object)->stepper.step));
}

static PyMethodDef sn_stepper_methods[] = {
    {"load", sn_object_load, METH_VARARGS,
     "load(step, state, inputs) -> None, or what a GPU's driver answered: make this the state, and publish it."},
    {"tick", sn_object_tick, METH_VARARGS, "tick(count=1, due_ns=0) -> None, or the failure."},
    {"replay", sn_object_replay, METH_VARARGS,
     "replay(count, inputs, fields) -> (ticks done, hashes, a tuple of each field's bytes, the failure or None)."},
    {"probe", sn_object_probe, METH_NOARGS, "probe() -> faults of fields and inputs as bytes, or the failure."},
    {"field", sn_object_field, METH_O, "field(number) -> its bytes, or what a GPU's driver answered."},
    {"state", sn_object_state, METH_NOARGS, "state() -> the bytes of the whole state, or what a GPU's driver answered."},
    {"inputs", sn_object_inputs, METH_NOARGS, "inputs() -> the bytes of the inputs as held."},
    {"hashes", sn_object_hashes, METH_NOARGS, "hashes() -> a uint64 a field, as bytes."},
    {"command", sn_object_command, METH_VARARGS, "command(number, bytes): give an input a value."},
    {"drain", sn_object_drain, METH_NOARGS, "drain() -> (first step, count, hashes, inputs, lost) of a run of ticks."},
    {"take_keyframe", sn_object_take_keyframe, METH_NOARGS, "take_keyframe() -> (step, state, inputs), or None."},
    SN_STEPPER_LOOP_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef sn_stepper_getset[] = {
    {"step", sn_object_step, NULL, "Number of the last tick.", NULL},
    SN_STEPPER_LOOP_GETSET,
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject sn_stepper_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Stepper",
    .tp_doc = "A plant's memory and ticks, with its native clock.",
    .tp_basicsize = sizeof(sn_stepper_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = sn_stepper_new,
    .tp_dealloc = sn_stepper_dealloc,
    .tp_methods = sn_stepper_methods,
    .tp_getset = sn_stepper_getset,
};

int sn_add_stepper(PyObject *module) { return PyModule_AddType(module, &sn_stepper_type); }
