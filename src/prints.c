/* The buffer of what kernels print, and its way to Python. */
#define PY_SSIZE_T_CLEAN
#include "prints.h"

#include <stddef.h>

enum { CAPACITY = 1 << 20 };

sn_prints *sn_prints_new(void)
{
    sn_prints *prints = PyMem_Malloc(offsetof(sn_prints, records) + CAPACITY + SN_RECORD_MAX);
    if (prints == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    prints->capacity = CAPACITY;
    sn_prints_forget(prints);
    return prints;
}

int sn_prints_show(sn_prints *prints, PyObject *shown)
{
    if (prints == NULL || prints->used == 0) return 0;
    const uint64_t kept = prints->used < prints->end ? prints->used : prints->end, lost = prints->lost;
    PyObject *records = PyBytes_FromStringAndSize((const char *)prints->records, (Py_ssize_t)kept);
    sn_prints_forget(prints);
    if (records == NULL) return -1;
    PyObject *result = PyObject_CallMethod(shown, "show", "NK", records, (unsigned long long)lost);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}
