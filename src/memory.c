/* The memory that stands for an array argument: an array, some of its elements, a cell, or any buffer. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

/* The scalar code of a buffer's format, -1 where the kernel language has none. */
static int code_of(const char *format, Py_ssize_t size)
{
    const char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    static const uint8_t signed_codes[] = {[1] = SN_I8, [2] = SN_I16, [4] = SN_I32, [8] = SN_I64};
    static const uint8_t unsigned_codes[] = {[1] = SN_U8, [2] = SN_U16, [4] = SN_U32, [8] = SN_U64};
    if (format == NULL) return -1;
    if (*format == '@' || *format == '=' || *format == native) format++;
    if (format[0] == '\0' || format[1] != '\0') return -1;
    if (*format == '?') return SN_BOOL;
    if (*format == 'e') return SN_F16;
    if (*format == 'f') return SN_F32;
    if (*format == 'd') return SN_F64;
    if (strchr("bhilqn", *format) != NULL) return signed_codes[size];
    return strchr("BHILQN", *format) != NULL ? unsigned_codes[size] : -1;
}

/* A numpy array's dtype says whether its items are a struct: formats of structs are not unique. */
static sn_reason fits_struct(const sn_element *element, PyObject *value)
{
    PyObject *dtype = PyObject_GetAttrString(value, "dtype");
    if (dtype == NULL) return sn_pending(PyExc_AttributeError, SN_DTYPE);
    const int equal = PyObject_RichCompareBool(dtype, element->numpy, Py_EQ);
    Py_DECREF(dtype);
    if (equal < 0) return sn_pending(PyExc_TypeError, SN_DTYPE);
    return equal ? SN_FITS : SN_DTYPE;
}

static sn_reason fits_buffer(sn_type type, const Py_buffer *view, sn_place *place)
{
    const sn_element *element = type.element;
    if (element->code != SN_STRUCT && code_of(view->format, view->itemsize) != element->code) return SN_DTYPE;
    if (element->code == SN_STRUCT && view->itemsize != element->size) return SN_DTYPE;
    if (view->ndim != type.ndim + element->axis_count) return SN_SHAPE;
    Py_ssize_t stride = view->itemsize;
    for (int i = element->axis_count - 1; i >= 0; i--) {
        if (view->shape[type.ndim + i] != element->axes[i]) return SN_SHAPE;
        if (element->axes[i] > 1 && view->strides[type.ndim + i] != stride) return SN_COMPONENTS;
        stride *= element->axes[i];
    }
    *place = (sn_place){.address = view->buf, .ndim = type.ndim};
    for (int i = 0; i < type.ndim; i++) {
        place->shape[i] = view->shape[i];
        place->strides[i] = view->strides[i];
    }
    place->layout = sn_is_contiguous(place, element->size) ? SN_CONTIGUOUS : SN_STRIDED;
    return sn_is_aligned(place, element->align) ? SN_FITS : SN_ALIGNMENT;
}

static sn_reason of_buffer(sn_type type, PyObject *value, bool written, sn_place *place, PyObject **held)
{
    if (!PyObject_CheckBuffer(value)) return SN_KIND;
    sn_reason reason = type.element->code == SN_STRUCT ? fits_struct(type.element, value) : SN_FITS;
    if (reason != SN_FITS) return reason;
    PyObject *memory = PyMemoryView_FromObject(value);
    if (memory == NULL) return sn_pending(PyExc_Exception, SN_KIND);
    const Py_buffer *view = PyMemoryView_GET_BUFFER(memory);
    reason = view->suboffsets != NULL ? SN_COMPONENTS : fits_buffer(type, view, place);
    if (reason == SN_FITS && written && view->readonly) reason = SN_READONLY;
    if (reason == SN_FITS) *held = memory;
    else Py_DECREF(memory);
    return reason;
}

static sn_reason fits_type(sn_type wanted, const sn_element *element, const sn_place *given)
{
    if (wanted.element != element) return SN_DTYPE;
    return wanted.ndim == given->ndim ? SN_FITS : SN_SHAPE;
}

static sn_reason fits_array(sn_type wanted, const sn_array *array, const sn_place *place, sn_access access)
{
    const sn_reason reason = fits_type(wanted, array->element, place);
    if (reason != SN_FITS) return reason;
    if (array->device != access.device) return SN_DEVICE;
    return access.written && array->memory.readonly ? SN_READONLY : SN_FITS;
}

sn_reason sn_memory(sn_type type, PyObject *value, sn_access access, sn_place *place, PyObject **held)
{
    sn_reason reason;
    if (PyObject_TypeCheck(value, &sn_array_type)) {
        const sn_array *array = (const sn_array *)value;
        reason = fits_array(type, array, &array->place, access);
        *place = array->place;
    } else if (PyObject_TypeCheck(value, &sn_indexed_type)) {
        const sn_indexed *indexed = (const sn_indexed *)value;
        reason = fits_array(type, indexed->base, &indexed->place, access);
        *place = indexed->place;
    } else if (PyObject_TypeCheck(value, &sn_cell_type)) {
        const sn_cell *cell = (const sn_cell *)value;
        reason = fits_type(type, cell->element, &cell->place);
        *place = cell->place;
    } else {
        reason = of_buffer(type, value, access.written, place, held);
        if (reason != SN_FITS) return reason;
        if (access.device != NULL) reason = SN_DEVICE;
        value = NULL;
    }
    for (int i = 0; reason == SN_FITS && i < place->ndim; i++)
        if (place->shape[i] > INT32_MAX) reason = SN_EXTENT;
    if (reason == SN_FITS && value != NULL) *held = Py_NewRef(value);
    if (reason != SN_FITS && value == NULL) Py_CLEAR(*held);
    return reason;
}
