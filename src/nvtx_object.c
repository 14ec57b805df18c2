/* Ranges for profilers, pushed and popped by Python. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "module.h"
#include "nvtx.h"

static PyObject *nvtx_open(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    bool listens;
    Py_BEGIN_ALLOW_THREADS /* the tool's code runs, for as long as it likes */
    listens = sn_nvtx_open();
    Py_END_ALLOW_THREADS
    const char *failure = sn_nvtx_failure();
    if (failure != NULL && PyErr_WarnEx(PyExc_RuntimeWarning, failure, 1) < 0) return NULL;
    return PyBool_FromLong(listens);
}

static PyObject *nvtx_push(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) return NULL;
    sn_nvtx_push(text);
    Py_RETURN_NONE;
}

static PyObject *nvtx_pop(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    sn_nvtx_pop();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"nvtx_open", nvtx_open, METH_NOARGS,
     "nvtx_open() -> whether a profiler takes ranges; loads the one that NVTX_INJECTION64_PATH names, once, and warns if it "
     "cannot."},
    {"nvtx_push", nvtx_push, METH_O, "nvtx_push(name): begin a range of this thread, if a profiler takes it."},
    {"nvtx_pop", nvtx_pop, METH_NOARGS, "nvtx_pop(): end the range that this thread began last."},
    {NULL, NULL, 0, NULL},
};

int sn_add_nvtx(PyObject *module) { return PyModule_AddFunctions(module, functions); }
