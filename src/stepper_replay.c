/* Replaying for _native.Stepper: ticks with inputs that were recorded, and what each of them left. */
#include "stepper_object.h"

#include "plan_object.h"

/* What is collected: the hashes, and the bytes of chosen fields, a row a tick each. */
typedef struct {
    uint64_t *hashes;
    uint32_t *fields;
    uint8_t **values;
    Py_ssize_t count;
} sn_collection;

static bool sn_collect(sn_stepper *stepper, const sn_collection *to, uint64_t row)
{
    const uint32_t fields = stepper->options.field_count;
    memcpy(to->hashes + row * fields, stepper->hashes, fields * sizeof *to->hashes);
    sn_result result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < to->count; i++)
        result = sn_stepper_read(stepper, to->fields[i], to->values[i] + row * stepper->fields[to->fields[i]].size);
    if (result != 0) sn_error_lost(&stepper->error, result);
    return result == 0;
}

/* Ticks for the rows of inputs until done, failed or interrupted; returns how many were done, -1 with an exception. */
static int64_t sn_replay_rows(sn_stepper *stepper, const uint8_t *inputs, uint64_t count, const sn_collection *to,
                              bool *failed)
{
    uint64_t done = 0;
    while (done < count && !*failed) {
        Py_BEGIN_ALLOW_THREADS
        const int64_t until_ns = sn_now_ns() + SN_SIGNAL_NS;
        do {
            *failed = !sn_stepper_replay(stepper, inputs + done * stepper->options.input_size) || !sn_collect(stepper, to, done);
            if (!*failed) done++;
        } while (done < count && !*failed && sn_now_ns() < until_ns);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals() < 0) return -1;
    }
    return (int64_t)done;
}

/* Makes the memory that is collected into: bytes for the hashes, and a tuple of bytes. */
static bool sn_make_collection(const sn_stepper *stepper, uint64_t count, PyObject *numbers, sn_collection *to,
                               PyObject **hashes, PyObject **values)
{
    to->count = PyTuple_GET_SIZE(numbers);
    to->fields = PyMem_Calloc((size_t)to->count + 1, sizeof *to->fields);
    to->values = PyMem_Calloc((size_t)to->count + 1, sizeof *to->values);
    *hashes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * stepper->options.field_count * sizeof *to->hashes));
    *values = PyTuple_New(to->count);
    if (!to->fields || !to->values) PyErr_NoMemory();
    if (PyErr_Occurred()) return false;
    to->hashes = (uint64_t *)(void *)PyBytes_AS_STRING(*hashes);
    for (Py_ssize_t i = 0; i < to->count; i++) {
        const Py_ssize_t field = sn_index(PyTuple_GET_ITEM(numbers, i), stepper->options.field_count);
        if (field < 0) return false;
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * stepper->fields[field].size));
        if (bytes == NULL) return false;
        PyTuple_SET_ITEM(*values, i, bytes);
        to->fields[i] = (uint32_t)field;
        to->values[i] = (uint8_t *)PyBytes_AS_STRING(bytes);
    }
    return true;
}

PyObject *sn_object_replay(PyObject *object, PyObject *args)
{
    sn_stepper_object *self = (sn_stepper_object *)object;
    sn_stepper *stepper = &self->stepper;
    uint64_t count;
    Py_buffer inputs;
    PyObject *numbers, *hashes = NULL, *values = NULL, *failure = NULL;
    if (!PyArg_ParseTuple(args, "O&y*O!", sn_read_count, &count, &inputs, &PyTuple_Type, &numbers)) return NULL;
    sn_collection to = {0};
    bool failed = false;
    int64_t done = -1;
    if (count > INT32_MAX || (uint64_t)inputs.len != count * stepper->options.input_size)
        PyErr_Format(PyExc_ValueError, "%zd bytes are not the inputs of %llu ticks", inputs.len, (unsigned long long)count);
    else if (sn_make_collection(stepper, count, numbers, &to, &hashes, &values) && sn_take_right(self) == 0) {
        done = sn_replay_rows(stepper, inputs.buf, count, &to, &failed);
        if (done >= 0 && sn_plan_show(self->plan) < 0) done = -1;
        if (done >= 0) failure = failed ? sn_stepper_failure(stepper) : Py_NewRef(Py_None);
        sn_give_right(self, NULL);
    }
    PyBuffer_Release(&inputs);
    PyMem_Free(to.fields);
    PyMem_Free(to.values);
    PyObject *result = failure ? Py_BuildValue("(LOOO)", (long long)done, hashes, values, failure) : NULL;
    Py_XDECREF(hashes);
    Py_XDECREF(values);
    Py_XDECREF(failure);
    return result;
}
