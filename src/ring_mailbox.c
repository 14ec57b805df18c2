/* The mailboxes of _native.Ring: rules, commands, and who sends them. */
#define PY_SSIZE_T_CLEAN
#include "ring_object.h"

PyObject *sn_ring_rule(sn_ring_object *self, PyObject *args)
{
    PyObject *index;
    int exclusive;
    unsigned int silence;
    uint32_t input;
    if (sn_must_own(self) < 0 || !PyArg_ParseTuple(args, "OpI", &index, &exclusive, &silence)) return NULL;
    if (sn_ring_index(index, self->ring.geometry.inputs, "input", &input) < 0) return NULL;
    sn_mailbox_rule(&self->ring, input, exclusive, silence);
    Py_RETURN_NONE;
}

PyObject *sn_ring_take(sn_ring_object *self, PyObject *args)
{
    PyObject *index, *to;
    Py_buffer view;
    uint32_t input;
    if (sn_must_own(self) < 0 || !PyArg_ParseTuple(args, "OO", &index, &to)) return NULL;
    if (sn_ring_index(index, self->ring.geometry.inputs, "input", &input) < 0) return NULL;
    if (PyObject_GetBuffer(to, &view, PyBUF_WRITABLE) < 0) return NULL;
    int fits = (uint64_t)view.len == self->ring.geometry.input_size[input];
    int taken = fits ? sn_mailbox_take(&self->ring, input, view.buf, SN_NONE, sn_now_ns()) : SN_NOTHING;
    PyBuffer_Release(&view);
    if (!fits) return PyErr_Format(PyExc_ValueError, "the memory's length is not that of input %u", input);
    if (taken != SN_NEW) return PyLong_FromLong(taken);
    const sn_mailbox *mailbox = sn_mailbox_at(&self->ring, input);
    return Py_BuildValue("KL", (unsigned long long)mailbox->answers, (long long)mailbox->sent_ns);
}

PyObject *sn_ring_lane_offsets(sn_ring_object *self, PyObject *args)
{
    PyObject *index, *number;
    uint32_t input, lane;
    if (!PyArg_ParseTuple(args, "OO", &index, &number)) return NULL;
    if (sn_ring_index(index, self->ring.geometry.inputs, "input", &input) < 0) return NULL;
    if (sn_ring_index(number, SN_LANES, "lane", &lane) < 0) return NULL;
    return Py_BuildValue("nn", (char *)sn_lane_half(&self->ring, input, lane, 0) - (char *)self->memory.buf,
                         (char *)sn_lane_half(&self->ring, input, lane, 1) - (char *)self->memory.buf);
}

#define SN_READ(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

/* (pid, alive, name, priority, sent, applied, in charge) of the writer of a lane; None where there is none. In charge is
 * who was chosen last, and has neither left nor been silent since. */
static PyObject *writer(const sn_ring *ring, uint32_t input, uint32_t k)
{
    const sn_mailbox *m = sn_mailbox_at(ring, input);
    const sn_lane *lane = sn_lane_at(ring, input, k);
    const uint64_t life = SN_READ(lane->writer), latest = SN_READ(ring->control->latest);
    if (life == 0) Py_RETURN_NONE;
    sn_writer told;
    sn_lane_describe(lane, &told);
    const uint32_t slot = (uint32_t)(latest & 255);
    const uint64_t next = latest == SN_NONE || slot >= ring->geometry.slots ? 1 : SN_READ(sn_slot_at(ring, slot)->step) + 1;
    const int spoke = SN_READ(m->speaker[k]) == life && (int64_t)(next - SN_READ(m->heard[k])) <= (int64_t)SN_READ(m->silence);
    const int alive = !sn_life_ended(life);
    PyObject *name = PyUnicode_DecodeUTF8(told.name, (Py_ssize_t)strlen(told.name), "replace");
    if (name == NULL) return NULL;
    return Py_BuildValue("IONiKKO", sn_life_pid(life), alive ? Py_True : Py_False, name, (int)told.priority,
                         (unsigned long long)SN_READ(lane->count), (unsigned long long)SN_READ(m->applied[k]),
                         alive && spoke && SN_READ(m->charge) == life ? Py_True : Py_False);
}

/* (exclusive, silence, (step, answers, age_ns) or None, writers): what was applied last, and of each lane who sends. */
PyObject *sn_ring_mailbox(sn_ring_object *self, PyObject *index)
{
    uint32_t input;
    if (sn_ring_index(index, self->ring.geometry.inputs, "input", &input) < 0) return NULL;
    const sn_mailbox *m = sn_mailbox_at(&self->ring, input);
    PyObject *writers = PyTuple_New(SN_LANES);
    for (uint32_t k = 0; writers != NULL && k < SN_LANES; k++) {
        PyObject *row = writer(&self->ring, input, k);
        if (row == NULL) Py_CLEAR(writers);
        else PyTuple_SET_ITEM(writers, (Py_ssize_t)k, row);
    }
    if (writers == NULL) return NULL;
    PyObject *last = SN_READ(m->charge) == 0
                         ? Py_NewRef(Py_None)
                         : Py_BuildValue("KKL", (unsigned long long)SN_READ(m->step), (unsigned long long)SN_READ(m->answers),
                                         (long long)SN_READ(m->age_ns));
    if (last == NULL) Py_DECREF(writers);
    return last ? Py_BuildValue("OINN", SN_READ(m->exclusive) ? Py_True : Py_False, SN_READ(m->silence), last, writers) : NULL;
}
