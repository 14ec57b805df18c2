/* Python and numpy numbers, and their way into a scalar of the kernel language. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <math.h>
#include <string.h>

#include "half.h"

static PyTypeObject *numpy_bool, *numpy_integer, *numpy_floating;

static PyTypeObject *numpy_type(PyObject *numpy, const char *name)
{
    PyObject *type = PyObject_GetAttrString(numpy, name);
    if (type != NULL && !PyType_Check(type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

int sn_add_number(PyObject *module)
{
    (void)module;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) return -1;
    numpy_bool = numpy_type(numpy, "bool_");
    numpy_integer = numpy_type(numpy, "integer");
    numpy_floating = numpy_type(numpy, "floating");
    Py_DECREF(numpy);
    return numpy_bool && numpy_integer && numpy_floating ? 0 : -1;
}

sn_reason sn_pending(PyObject *expected, sn_reason reason)
{
    if (!PyErr_ExceptionMatches(expected)) return SN_RAISED;
    PyErr_Clear();
    return reason;
}

sn_reason sn_integer(PyObject *value, PyObject **number)
{
    if (PyBool_Check(value)) return SN_KIND;
    if (!PyLong_Check(value) && !PyObject_TypeCheck(value, numpy_integer)) return SN_KIND;
    *number = PyNumber_Index(value);
    return *number == NULL ? sn_pending(PyExc_TypeError, SN_KIND) : SN_FITS;
}

static sn_reason pack_u64(PyObject *number, void *to)
{
    const unsigned long long large = PyLong_AsUnsignedLongLong(number);
    if (large == (unsigned long long)-1 && PyErr_Occurred()) return sn_pending(PyExc_OverflowError, SN_RANGE);
    memcpy(to, &large, sizeof large);
    return SN_FITS;
}

static sn_reason pack_integer(PyObject *value, int code, void *to)
{
    const bool is_signed = code == SN_I32 || code == SN_I64 || code == SN_I8 || code == SN_I16;
    PyObject *number;
    sn_reason reason = sn_integer(value, &number);
    if (reason != SN_FITS) return reason;
    if (code == SN_U64) {
        reason = pack_u64(number, to);
        Py_DECREF(number);
        return reason;
    }
    int overflow;
    const long long wide = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    const int bits = 8 * sn_scalar_size[code];
    const long long largest = INT64_MAX >> (64 - bits - !is_signed), least = is_signed ? -largest - 1 : 0;
    if (overflow || wide < least || wide > largest) return SN_RANGE;
    switch (sn_scalar_size[code]) {
    case 1: *(uint8_t *)to = (uint8_t)wide; break;
    case 2: memcpy(to, &(uint16_t){(uint16_t)wide}, 2); break;
    case 4: memcpy(to, &(uint32_t){(uint32_t)wide}, 4); break;
    default: memcpy(to, &wide, 8);
    }
    return SN_FITS;
}

static sn_reason real(PyObject *value, double *wide)
{
    if (PyFloat_Check(value)) {
        *wide = PyFloat_AS_DOUBLE(value);
        return SN_FITS;
    }
    if (PyObject_TypeCheck(value, numpy_floating)) {
        *wide = PyFloat_AsDouble(value);
        return *wide == -1.0 && PyErr_Occurred() ? sn_pending(PyExc_TypeError, SN_KIND) : SN_FITS;
    }
    PyObject *number;
    const sn_reason reason = sn_integer(value, &number);
    if (reason != SN_FITS) return reason;
    *wide = PyLong_AsDouble(number);
    Py_DECREF(number);
    return *wide == -1.0 && PyErr_Occurred() ? sn_pending(PyExc_OverflowError, SN_RANGE) : SN_FITS;
}

static sn_reason pack_float(PyObject *value, int code, void *to)
{
    double wide;
    const sn_reason reason = real(value, &wide);
    if (reason != SN_FITS) return reason;
    if (code == SN_F64) {
        memcpy(to, &wide, sizeof wide);
        return SN_FITS;
    }
    if (code == SN_F16) {
        const uint16_t half = sn_half(wide);
        if (isfinite(wide) && (half & 0x7C00) == 0x7C00) return SN_RANGE;
        memcpy(to, &half, sizeof half);
        return SN_FITS;
    }
    const float narrow = (float)wide;
    if (isfinite(wide) && !isfinite(narrow)) return SN_RANGE;
    memcpy(to, &narrow, sizeof narrow);
    return SN_FITS;
}

sn_reason sn_pack_scalar(PyObject *value, int code, void *to)
{
    if (code == SN_F32 || code == SN_F64 || code == SN_F16) return pack_float(value, code, to);
    if (code != SN_BOOL) return pack_integer(value, code, to);
    if (!PyBool_Check(value) && !PyObject_TypeCheck(value, numpy_bool)) return SN_KIND;
    const int truth = PyObject_IsTrue(value);
    if (truth < 0) return SN_RAISED;
    *(uint8_t *)to = (uint8_t)truth;
    return SN_FITS;
}
