/* The fields and inputs of a _native.Stepper, read from tuples and checked against its blocks and its plan. */
#include "stepper_object.h"

/* Reads a tuple of tuples of ints, `width` in each, into a new array; NULL with an exception set. */
static int64_t *sn_rows(PyObject *rows, Py_ssize_t width)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(rows);
    int64_t *numbers = PyMem_Calloc((size_t)(count * width + 1), sizeof *numbers);
    if (numbers == NULL) return (int64_t *)(void *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count * width; i++) {
        PyObject *row = PyTuple_GET_ITEM(rows, i / width);
        const bool fits = PyTuple_Check(row) && PyTuple_GET_SIZE(row) == width;
        if (fits) numbers[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(row, i % width));
        else PyErr_Format(PyExc_TypeError, "row %zd is not a tuple of %zd ints", i / width, width);
        if (PyErr_Occurred()) {
            PyMem_Free(numbers);
            return NULL;
        }
    }
    return numbers;
}

static bool sn_is_cell(const sn_plan *plan, int64_t cell) { return cell >= SN_NO_CELL && cell < (int64_t)plan->cell_count; }

/* Checks that fields lie in their blocks, and copies rows (block, offset, packed, size, value, next, copied). */
sn_field *sn_read_fields(const sn_stepper_options *o, PyObject *rows)
{
    int64_t *numbers = sn_rows(rows, 7);
    sn_field *fields = PyMem_Calloc(o->field_count + 1, sizeof *fields);
    for (uint32_t i = 0; numbers && fields && i < o->field_count; i++) {
        const int64_t *row = numbers + 7 * (int64_t)i;
        const sn_block kind = row[0] == SN_PUBLISHED || row[0] == SN_DEVICE ? (sn_block)row[0] : SN_PRIVATE;
        const sn_field field = {kind, (uint64_t)row[1], (uint64_t)row[2], (uint64_t)row[3], row[4], row[5], row[6]};
        const uint64_t block = o->block_size[field.block], slot = o->block_size[SN_PUBLISHED];
        const bool copied = kind == SN_DEVICE && field.copied != SN_NO_COPY;
        fields[i] = field;
        if (field.size > block || field.offset > block - field.size || field.size > o->state_size ||
            field.packed > o->state_size - field.size || !sn_is_cell(o->plan, field.value) ||
            !sn_is_cell(o->plan, field.next) || (field.block != SN_PRIVATE && field.next == SN_NO_CELL) ||
            (copied && (field.size > slot || (uint64_t)field.copied > slot - field.size)))
            PyErr_Format(PyExc_ValueError, "field %u does not fit its block or the plan", i);
    }
    PyMem_Free(numbers);
    if (numbers && fields && !PyErr_Occurred()) return fields;
    PyMem_Free(fields);
    return PyErr_Occurred() ? NULL : (sn_field *)(void *)PyErr_NoMemory();
}

/* Checks and copies rows (offset, size, cell). */
sn_input *sn_read_inputs(const sn_stepper_options *o, PyObject *rows)
{
    int64_t *numbers = sn_rows(rows, 3);
    sn_input *inputs = PyMem_Calloc(o->input_count + 1, sizeof *inputs);
    for (uint32_t i = 0; numbers && inputs && i < o->input_count; i++) {
        const int64_t *row = numbers + 3 * (int64_t)i;
        inputs[i] = (sn_input){(uint64_t)row[0], (uint64_t)row[1], row[2]};
        if (inputs[i].size > o->input_size || inputs[i].offset > o->input_size - inputs[i].size ||
            !sn_is_cell(o->plan, row[2]) || i >= o->ring->geometry.inputs ||
            inputs[i].size != o->ring->geometry.input_size[i])
            PyErr_Format(PyExc_ValueError, "input %u does not fit its block, the plan or its mailbox", i);
    }
    PyMem_Free(numbers);
    if (numbers && inputs && !PyErr_Occurred()) return inputs;
    PyMem_Free(inputs);
    return PyErr_Occurred() ? NULL : (sn_input *)(void *)PyErr_NoMemory();
}
