/* The check of a launch's arguments, and their way into the argument block. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

static PyObject *refusal, *as_array, *name_type, *name_memory;
static PyTypeObject *numpy_array;

static const char *const reasons[] = {
    [SN_COUNT] = "count",         [SN_SEQUENCE] = "sequence",   [SN_DIM] = "dim",       [SN_COORDINATES] = "coordinates",
    [SN_KIND] = "kind",           [SN_DTYPE] = "dtype",         [SN_SHAPE] = "shape",   [SN_LAYOUT] = "layout",
    [SN_COMPONENTS] = "components", [SN_DEVICE] = "device",     [SN_ALIGNMENT] = "alignment", [SN_READONLY] = "readonly", [SN_EXTENT] = "extent",
    [SN_RANGE] = "range",         [SN_LENGTH] = "length",       [SN_CELL] = "cell",     [SN_UNKNOWN] = "unknown",
    [SN_UNPOINTED] = "unpointed", [SN_UNFROZEN] = "unfrozen",   [SN_FROZEN] = "frozen", [SN_RUNNING] = "running",
};

PyObject *sn_refuse(sn_reason reason, Py_ssize_t position)
{
    if (reason == SN_RAISED) return NULL;
    PyObject *args = Py_BuildValue("ns", position, reasons[reason]);
    if (args != NULL) PyErr_SetObject(refusal, args);
    Py_XDECREF(args);
    return NULL;
}

int sn_add_argument(PyObject *module)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) return -1;
    as_array = PyObject_GetAttrString(numpy, "asarray");
    numpy_array = (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray");
    Py_DECREF(numpy);
    name_type = PyUnicode_InternFromString("_type");
    name_memory = PyUnicode_InternFromString("_memory");
    if (name_type == NULL || name_memory == NULL || numpy_array == NULL || !PyType_Check(numpy_array)) return -1;
    refusal = PyErr_NewExceptionWithDoc("sim_node._native.Refusal", "Arguments that do not fit: (position, reason).",
                                        PyExc_TypeError, NULL);
    if (as_array == NULL || refusal == NULL || PyModule_AddObjectRef(module, "Refusal", refusal) < 0) return -1;
    return sn_add_number(module);
}

/* The parts of a composite value, a new tuple; of anything that numpy sees as an array, and of tuples and lists. */
static sn_reason parts_of(PyObject *value, PyObject **parts)
{
    const bool is_sequence = PyTuple_Check(value) || PyList_Check(value) || PyObject_TypeCheck(value, numpy_array);
    if (!is_sequence && !PyObject_HasAttrString(value, "__array_interface__") && !PyObject_HasAttrString(value, "__array__"))
        return SN_KIND;
    PyObject *iterable = is_sequence ? Py_NewRef(value) : PyObject_CallOneArg(as_array, value);
    if (iterable == NULL) return sn_pending(PyExc_Exception, SN_KIND);
    *parts = PySequence_Tuple(iterable); /* a list might change while its items are read */
    Py_DECREF(iterable);
    return *parts == NULL ? sn_pending(PyExc_TypeError, SN_KIND) : SN_FITS;
}

/* Packs numbers, or rows of them, behind the components that are there already. */
static sn_reason pack_components(const sn_element *element, PyObject *value, int depth, int32_t *count, char *to)
{
    PyObject *parts = NULL;
    const int32_t before = *count;
    sn_reason reason = parts_of(value, &parts);
    for (Py_ssize_t i = 0; reason == SN_FITS && i < PyTuple_GET_SIZE(parts); i++) {
        char scalar[8];
        PyObject *part = PyTuple_GET_ITEM(parts, i);
        reason = sn_pack_scalar(part, element->code, scalar);
        if (reason == SN_KIND && depth == 0) {
            reason = pack_components(element, part, 1, count, to);
        } else if (reason == SN_FITS && *count == element->components) {
            reason = SN_LENGTH;
        } else if (reason == SN_FITS) {
            memcpy(to + *count * sn_scalar_size[element->code], scalar, sn_scalar_size[element->code]);
            ++*count;
        }
    }
    if (reason == SN_FITS && depth == 1 && element->axis_count == 2 && *count - before != element->axes[1])
        reason = SN_LENGTH;
    Py_XDECREF(parts);
    return reason;
}

/* Appends what keeps a field's memory to the list of its struct. */
static int keep(PyObject **list, PyObject *held)
{
    if (held == NULL) return 0;
    if (*list == NULL) *list = PyList_New(0);
    const int failed = *list == NULL || PyList_Append(*list, held) < 0;
    Py_DECREF(held);
    return failed ? -1 : 0;
}

/* From the attributes of an instance, or from a tuple with an item a field; `access` is to all arrays in it. */
static sn_reason pack_struct(const sn_element *element, PyObject *value, sn_access access, char *to, PyObject **held)
{
    const bool is_tuple = PyTuple_Check(value);
    if (is_tuple && PyTuple_GET_SIZE(value) != element->field_count) return SN_LENGTH;
    sn_reason reason = value == Py_None ? SN_KIND : SN_FITS;
    for (Py_ssize_t i = 0; reason == SN_FITS && i < element->field_count; i++) {
        const sn_field *field = &element->fields[i];
        PyObject *item = is_tuple ? Py_NewRef(PyTuple_GET_ITEM(value, i)) : PyObject_GetAttr(value, field->name);
        if (item == NULL) return sn_pending(PyExc_AttributeError, SN_KIND);
        PyObject *kept = NULL;
        const sn_access part = {access.device, access.written && item != Py_None}; /* None: an array never set */
        reason = sn_pack_field(field, item, part, to, &kept);
        if (kept != NULL && PyObject_TypeCheck(kept, &sn_cell_type)) reason = SN_CELL;
        if (keep(held, kept) < 0) reason = SN_RAISED;
        Py_DECREF(item);
    }
    if (reason != SN_FITS) Py_CLEAR(*held);
    return reason;
}

/* An element of a numpy array of structs: its bytes, unless they are addresses that nothing would keep. */
static sn_reason pack_record(const sn_element *element, PyObject *value, char *to)
{
    PyObject *dtype = PyObject_GetAttrString(value, "dtype");
    if (dtype == NULL) return sn_pending(PyExc_AttributeError, SN_KIND);
    const int equal = PyObject_RichCompareBool(dtype, element->numpy, Py_EQ);
    Py_DECREF(dtype);
    if (equal <= 0) return equal < 0 ? sn_pending(PyExc_TypeError, SN_KIND) : SN_KIND;
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0) return sn_pending(PyExc_Exception, SN_KIND);
    const bool fits = view.len == (Py_ssize_t)element->size;
    if (fits) memcpy(to, view.buf, element->size);
    PyBuffer_Release(&view);
    return fits ? SN_FITS : SN_LENGTH;
}

/* A value of the host (lang/values) knows its type, and its memory unless that has addresses is what a kernel takes. */
static sn_reason pack_own(const sn_element *element, PyObject *value, bool has_pointers, sn_access access, char *to,
                          PyObject **held)
{
    PyObject *type = PyObject_GetAttr(value, name_type);
    if (type == NULL) return sn_pending(PyExc_AttributeError, SN_KIND);
    const int equal = type == element->dtype ? 1 : PyObject_RichCompareBool(type, element->dtype, Py_EQ);
    Py_DECREF(type);
    if (equal <= 0) return equal < 0 ? SN_RAISED : SN_DTYPE;
    if (has_pointers) return pack_struct(element, value, access, to, held);
    PyObject *memory = PyObject_GetAttr(value, name_memory);
    if (memory == NULL) return SN_RAISED;
    Py_buffer view;
    const int failed = PyObject_GetBuffer(memory, &view, PyBUF_SIMPLE);
    Py_DECREF(memory);
    if (failed) return SN_RAISED;
    const bool fits = view.len == (Py_ssize_t)element->size;
    if (fits) memcpy(to, view.buf, element->size);
    PyBuffer_Release(&view);
    return fits ? SN_FITS : SN_LENGTH;
}

static void count_pointer(void *count, uint32_t offset)
{
    (void)offset;
    ++*(uint32_t *)count;
}

static sn_reason pack_value(const sn_element *element, PyObject *value, sn_access access, char *to, PyObject **held)
{
    const bool is_struct = element->code == SN_STRUCT;
    if (!is_struct && element->axis_count == 0) return sn_pack_scalar(value, element->code, to);
    const bool is_parts = PyTuple_Check(value) || PyList_Check(value) || PyObject_TypeCheck(value, numpy_array);
    uint32_t pointers = 0;
    sn_pointers(element->fields, element->field_count, 0, count_pointer, &pointers);
    if (!is_parts) {
        const sn_reason reason = pack_own(element, value, pointers > 0, access, to, held);
        if (reason != SN_KIND) return reason;
    }
    if (is_struct) return PyTuple_Check(value) ? pack_struct(element, value, access, to, held)
                          : pointers > 0       ? SN_KIND
                                               : pack_record(element, value, to);
    int32_t count = 0;
    const sn_reason reason = pack_components(element, value, 0, &count, to);
    return reason == SN_FITS && count != element->components ? SN_LENGTH : reason;
}

sn_reason sn_pack_field(const sn_field *field, PyObject *value, sn_access access, char *block, PyObject **held)
{
    const sn_type type = field->type;
    char *to = block + field->offset;
    sn_place place;
    if (type.ndim > 0 && value == Py_None && !access.written) return SN_FITS; /* no elements: the block is zero */
    access.written |= field->written;
    if (type.ndim == 0) return pack_value(type.element, value, access, to, held);
    const sn_reason reason = sn_memory(type, value, access, &place, held);
    if (reason != SN_FITS) return reason;
    if (place.layout > type.layout) {
        Py_CLEAR(*held);
        return SN_LAYOUT;
    }
    sn_describe(&place, type.layout, to);
    return SN_FITS;
}

sn_reason sn_read_dims(PyObject *value, sn_dims *dims)
{
    PyObject *const *items = &value;
    Py_ssize_t count = 1;
    *dims = (sn_dims){{1, 1, 1, 1}, 1, 1};
    if (PyTuple_Check(value) || PyList_Check(value)) {
        items = PySequence_Fast_ITEMS(value);
        count = PySequence_Fast_GET_SIZE(value);
        if (count < 1 || count > SN_MAX_NDIM) return SN_DIM;
        dims->count = (int)count;
    }
    PyObject *given[SN_MAX_NDIM]; /* converting one can run code of its class, which could change a list */
    for (Py_ssize_t i = 0; i < count; i++) given[i] = Py_NewRef(items[i]);
    sn_reason reason = SN_FITS;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *number = NULL;
        if (reason == SN_FITS && (reason = sn_integer(given[i], &number)) == SN_KIND) reason = SN_DIM;
        Py_DECREF(given[i]);
        if (reason != SN_FITS) continue;
        int overflow;
        const long long extent = PyLong_AsLongLongAndOverflow(number, &overflow);
        Py_DECREF(number);
        if (overflow || extent < 0 || extent > INT32_MAX) reason = SN_DIM;
        else dims->dim[i] = (int32_t)extent;
    }
    bool too_many = false;
    for (Py_ssize_t i = 0; i < count; i++) too_many |= __builtin_mul_overflow(dims->threads, dims->dim[i], &dims->threads);
    for (Py_ssize_t i = 0; i < count; i++)
        if (dims->dim[i] == 0) dims->threads = 0, too_many = false;
    return reason == SN_FITS && too_many ? SN_DIM : reason;
}

sn_reason sn_pack(const sn_entry *entry, const sn_dims *dims, PyObject *inputs, PyObject *outputs, void *block,
                  PyObject **held, Py_ssize_t *position)
{
    PyObject *const given[] = {inputs, outputs};
    *position = 0;
    for (int part = 0; part < 2; part++) {
        if (!PyList_Check(given[part]) && !PyTuple_Check(given[part])) return SN_SEQUENCE;
        *position += PySequence_Fast_GET_SIZE(given[part]);
    }
    if (*position != entry->count) return SN_COUNT;
    if (entry->dims != 0 && entry->dims != dims->count) return SN_COORDINATES;
    memcpy(block, dims->dim, SN_HEAD);
    Py_ssize_t at = 0;
    for (int part = 0; part < 2; part++) {
        /* The size is read each time: converting an argument can run code of its class, which could change a list. */
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(given[part]) && at < entry->count; i++, at++) {
            PyObject *value = PySequence_Fast_GET_ITEM(given[part], i);
            Py_INCREF(value);
            const sn_access access = {entry->device, part == 1};
            sn_reason reason = sn_pack_field(&entry->params[at], value, access, block, &held[at]);
            Py_DECREF(value);
            *position = at;
            if (reason != SN_FITS) return reason;
        }
    }
    *position = at;
    return at == entry->count ? SN_FITS : SN_COUNT;
}

sn_layout sn_layout_of(const sn_entry *entry, Py_ssize_t param, PyObject *value)
{
    sn_place place;
    PyObject *held = NULL;
    const sn_type type = entry->params[param].type;
    if (type.ndim == 0) return SN_CONTIGUOUS;
    const sn_reason reason = sn_memory(type, value, (sn_access){entry->device, false}, &place, &held);
    if (reason == SN_RAISED) PyErr_Clear();
    Py_XDECREF(held);
    return reason == SN_FITS ? place.layout : SN_CONTIGUOUS;
}
