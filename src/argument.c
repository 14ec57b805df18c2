/* The check of a launch's arguments, and their way into the argument block. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <math.h>
#include <string.h>

static PyObject *refusal;
static PyTypeObject *numpy_array, *numpy_bool, *numpy_integer, *numpy_floating;

static const char *const reasons[] = {
    [SN_COUNT] = "count",         [SN_SEQUENCE] = "sequence",   [SN_DIM] = "dim",           [SN_KIND] = "kind",
    [SN_DTYPE] = "dtype",         [SN_SHAPE] = "shape",         [SN_LAYOUT] = "layout",     [SN_ALIGNMENT] = "alignment",
    [SN_READONLY] = "readonly",   [SN_EXTENT] = "extent",       [SN_RANGE] = "range",       [SN_LENGTH] = "length",
    [SN_CELL] = "cell",           [SN_UNKNOWN] = "unknown",     [SN_UNPOINTED] = "unpointed",
    [SN_UNFROZEN] = "unfrozen",   [SN_FROZEN] = "frozen",       [SN_RUNNING] = "running",
};

PyObject *sn_refuse(sn_reason reason, Py_ssize_t position)
{
    if (reason == SN_RAISED) return NULL;
    PyObject *args = Py_BuildValue("ns", position, reasons[reason]);
    if (args != NULL) PyErr_SetObject(refusal, args);
    Py_XDECREF(args);
    return NULL;
}

static PyTypeObject *numpy_type(PyObject *numpy, const char *name)
{
    PyObject *type = PyObject_GetAttrString(numpy, name);
    if (type != NULL && !PyType_Check(type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

int sn_add_argument(PyObject *module)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) return -1;
    numpy_array = numpy_type(numpy, "ndarray");
    numpy_bool = numpy_type(numpy, "bool_");
    numpy_integer = numpy_type(numpy, "integer");
    numpy_floating = numpy_type(numpy, "floating");
    Py_DECREF(numpy);
    if (!numpy_array || !numpy_bool || !numpy_integer || !numpy_floating) return -1;
    refusal = PyErr_NewExceptionWithDoc("sim_node._native.Refusal", "Arguments that do not fit: (position, reason).",
                                        PyExc_TypeError, NULL);
    return refusal == NULL ? -1 : PyModule_AddObjectRef(module, "Refusal", refusal);
}

/* The pending exception as a reason: one of the expected kind says what it is about, any other is passed on. */
static sn_reason pending(PyObject *expected, sn_reason reason)
{
    if (!PyErr_ExceptionMatches(expected)) return SN_RAISED;
    PyErr_Clear();
    return reason;
}

/* A Python int with the value of an int or a numpy integer, a new reference. */
static sn_reason integer(PyObject *value, PyObject **number)
{
    if (PyBool_Check(value)) return SN_KIND;
    if (!PyLong_Check(value) && !PyObject_TypeCheck(value, numpy_integer)) return SN_KIND;
    *number = PyNumber_Index(value);
    return *number == NULL ? pending(PyExc_TypeError, SN_KIND) : SN_FITS;
}

static sn_reason pack_integer(PyObject *value, int code, void *to)
{
    PyObject *number;
    sn_reason reason = integer(value, &number);
    if (reason != SN_FITS) return reason;
    int overflow = 0;
    unsigned long long large = 0;
    long long wide = 0;
    if (code == SN_U64) {
        large = PyLong_AsUnsignedLongLong(number);
        overflow = large == (unsigned long long)-1 && PyErr_Occurred() != NULL;
        if (overflow) PyErr_Clear();
    } else {
        wide = PyLong_AsLongLongAndOverflow(number, &overflow);
    }
    Py_DECREF(number);
    if (overflow) return SN_RANGE;
    if (code == SN_I32 && (wide < INT32_MIN || wide > INT32_MAX)) return SN_RANGE;
    if (code == SN_U32 && (wide < 0 || wide > UINT32_MAX)) return SN_RANGE;
    if (code == SN_U64) memcpy(to, &large, sizeof large);
    else if (code == SN_I64) memcpy(to, &wide, sizeof wide);
    else memcpy(to, &(uint32_t){(uint32_t)wide}, sizeof(uint32_t));
    return SN_FITS;
}

static sn_reason pack_float(PyObject *value, int code, void *to)
{
    double wide;
    if (PyFloat_Check(value)) {
        wide = PyFloat_AS_DOUBLE(value);
    } else if (PyObject_TypeCheck(value, numpy_floating)) {
        wide = PyFloat_AsDouble(value);
        if (wide == -1.0 && PyErr_Occurred()) return pending(PyExc_TypeError, SN_KIND);
    } else {
        PyObject *number;
        sn_reason reason = integer(value, &number);
        if (reason != SN_FITS) return reason;
        wide = PyLong_AsDouble(number);
        Py_DECREF(number);
        if (wide == -1.0 && PyErr_Occurred()) return pending(PyExc_OverflowError, SN_RANGE);
    }
    if (code == SN_F64) {
        memcpy(to, &wide, sizeof wide);
        return SN_FITS;
    }
    float narrow = (float)wide;
    if (isfinite(wide) && !isfinite(narrow)) return SN_RANGE;
    memcpy(to, &narrow, sizeof narrow);
    return SN_FITS;
}

static sn_reason pack_scalar(PyObject *value, int code, void *to)
{
    if (code == SN_F32 || code == SN_F64) return pack_float(value, code, to);
    if (code != SN_BOOL) return pack_integer(value, code, to);
    if (!PyBool_Check(value) && !PyObject_TypeCheck(value, numpy_bool)) return SN_KIND;
    int truth = PyObject_IsTrue(value);
    if (truth < 0) return SN_RAISED;
    *(uint8_t *)to = (uint8_t)truth;
    return SN_FITS;
}

static sn_reason pack_vector(PyObject *value, sn_type type, unsigned char *to)
{
    if (!PyTuple_Check(value) && !PyList_Check(value) && !PyObject_TypeCheck(value, numpy_array)) return SN_KIND;
    PyObject *components = PySequence_Tuple(value); /* a list might change while its items are read */
    if (components == NULL) return pending(PyExc_TypeError, SN_KIND);
    sn_reason reason = PyTuple_GET_SIZE(components) == type.components ? SN_FITS : SN_LENGTH;
    for (Py_ssize_t i = 0; reason == SN_FITS && i < type.components; i++)
        reason = pack_scalar(PyTuple_GET_ITEM(components, i), type.code, to + i * sn_scalar_size[type.code]);
    Py_DECREF(components);
    return reason;
}

/* The scalar code of a buffer's format, -1 where the kernel language has none. */
static int code_of(const char *format, Py_ssize_t size)
{
    const char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    if (format == NULL) return -1;
    if (*format == '@' || *format == '=' || *format == native) format++;
    if (format[0] == '\0' || format[1] != '\0') return -1;
    if (*format == '?') return SN_BOOL;
    if (*format == 'f') return SN_F32;
    if (*format == 'd') return SN_F64;
    bool is_signed = strchr("bhilqn", *format) != NULL;
    if (!is_signed && strchr("BHILQN", *format) == NULL) return -1;
    if (size == 4) return is_signed ? SN_I32 : SN_U32;
    if (size == 8) return is_signed ? SN_I64 : SN_U64;
    return -1;
}

static sn_reason fits_buffer(sn_type type, const Py_buffer *view, bool written, int64_t *shape)
{
    const bool is_vector = type.components > 1;
    if (code_of(view->format, view->itemsize) != type.code) return SN_DTYPE;
    if (view->ndim != type.ndim + is_vector) return SN_SHAPE;
    if (is_vector && view->shape[type.ndim] != type.components) return SN_SHAPE;
    if (!PyBuffer_IsContiguous(view, 'C')) return SN_LAYOUT;
    if ((uintptr_t)view->buf % sn_scalar_size[type.code] != 0) return SN_ALIGNMENT;
    if (written && view->readonly) return SN_READONLY;
    for (int i = 0; i < type.ndim; i++) shape[i] = view->shape[i];
    return SN_FITS;
}

static sn_reason fits_type(sn_type wanted, sn_type given)
{
    if (wanted.code != given.code || wanted.components != given.components) return SN_DTYPE;
    return wanted.ndim == given.ndim ? SN_FITS : SN_SHAPE;
}

sn_reason sn_memory(sn_type type, PyObject *value, bool written, void **data, int64_t *shape, PyObject **held)
{
    sn_reason reason;
    if (PyObject_TypeCheck(value, &sn_array_type)) {
        const sn_array *array = (const sn_array *)value;
        reason = fits_type(type, array->type);
        if (reason == SN_FITS && written && array->memory.readonly) reason = SN_READONLY;
        memcpy(shape, array->shape, sizeof(int64_t) * type.ndim);
        *data = array->memory.buf;
        Py_INCREF(value);
    } else if (PyObject_TypeCheck(value, &sn_cell_type)) {
        const sn_cell *cell = (const sn_cell *)value;
        reason = fits_type(type, cell->type);
        memcpy(shape, cell->shape, sizeof(int64_t) * type.ndim);
        *data = NULL;
        Py_INCREF(value);
    } else {
        if (!PyObject_CheckBuffer(value)) return SN_KIND;
        value = PyMemoryView_FromObject(value);
        if (value == NULL) return pending(PyExc_Exception, SN_KIND);
        const Py_buffer *view = PyMemoryView_GET_BUFFER(value);
        reason = fits_buffer(type, view, written, shape);
        *data = view->buf;
    }
    for (int i = 0; reason == SN_FITS && i < type.ndim; i++)
        if (shape[i] > INT32_MAX) reason = SN_EXTENT;
    if (reason == SN_FITS) *held = value;
    else Py_DECREF(value);
    return reason;
}

sn_reason sn_dim(PyObject *value, int64_t *dim)
{
    if (PyTuple_Check(value) || PyList_Check(value)) {
        if (PySequence_Fast_GET_SIZE(value) != 1) return SN_DIM;
        value = PySequence_Fast_GET_ITEM(value, 0);
    }
    PyObject *number;
    sn_reason reason = integer(value, &number);
    if (reason != SN_FITS) return reason == SN_RAISED ? SN_RAISED : SN_DIM;
    int overflow;
    *dim = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    return overflow || *dim < 0 || *dim > INT32_MAX ? SN_DIM : SN_FITS;
}

static sn_reason pack_argument(const sn_param *param, PyObject *value, bool output, unsigned char *block,
                               PyObject **held)
{
    unsigned char *to = block + param->offset;
    if (param->type.ndim == 0 && param->type.components == 1) return pack_scalar(value, param->type.code, to);
    if (param->type.ndim == 0) return pack_vector(value, param->type, to);
    void *data;
    int64_t shape[SN_MAX_NDIM];
    sn_reason reason = sn_memory(param->type, value, output || param->written, &data, shape, held);
    if (reason != SN_FITS) return reason;
    memcpy(to, &data, sizeof data);
    memcpy(to + sizeof data, shape, sizeof *shape * param->type.ndim);
    return SN_FITS;
}

sn_reason sn_pack(const sn_entry *entry, PyObject *inputs, PyObject *outputs, void *block, PyObject **held,
                  Py_ssize_t *position)
{
    PyObject *const given[] = {inputs, outputs};
    *position = 0;
    for (int part = 0; part < 2; part++) {
        if (!PyList_Check(given[part]) && !PyTuple_Check(given[part])) return SN_SEQUENCE;
        *position += PySequence_Fast_GET_SIZE(given[part]);
    }
    if (*position != entry->count) return SN_COUNT;
    Py_ssize_t at = 0;
    for (int part = 0; part < 2; part++) {
        /* The size is read each time: converting an argument can run code of its class, which could change a list. */
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(given[part]) && at < entry->count; i++, at++) {
            PyObject *value = PySequence_Fast_GET_ITEM(given[part], i);
            Py_INCREF(value);
            sn_reason reason = pack_argument(&entry->params[at], value, part == 1, block, &held[at]);
            Py_DECREF(value);
            *position = at;
            if (reason != SN_FITS) return reason;
        }
    }
    *position = at;
    return at == entry->count ? SN_FITS : SN_COUNT;
}
