/* Trace: spans of time for Python to take, while plans and steppers leave them. */
#define PY_SSIZE_T_CLEAN
#include "trace_object.h"

#include "module.h"

static PyObject *trace_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = {"capacity", NULL};
    unsigned long long capacity;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "K", keys, &capacity)) return NULL;
    sn_trace_object *self = (sn_trace_object *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    if (sn_trace_open(&self->trace, capacity) == 0) return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

static void trace_dealloc(sn_trace_object *self)
{
    sn_trace_close(&self->trace);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *trace_take(sn_trace_object *self, PyObject *unused)
{
    (void)unused;
    const uint64_t waiting = atomic_load(&self->trace.head) - atomic_load(&self->trace.tail);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(waiting * sizeof(sn_span)));
    if (bytes != NULL) sn_trace_take(&self->trace, (sn_span *)(void *)PyBytes_AS_STRING(bytes), waiting);
    return bytes;
}

static PyObject *trace_lost(sn_trace_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(atomic_load(&self->trace.lost));
}

static PyObject *trace_waiting(sn_trace_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(atomic_load(&self->trace.head) - atomic_load(&self->trace.tail));
}

static PyMethodDef trace_methods[] = {
    {"take", (PyCFunction)trace_take, METH_NOARGS,
     "take() -> the spans that wait, oldest first, as bytes: begin and end in ns (i64), work and number (u32) each."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef trace_getset[] = {
    {"waiting", (getter)trace_waiting, NULL, "How many spans wait to be taken.", NULL},
    {"lost", (getter)trace_lost, NULL, "How many spans did not fit.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject sn_trace_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Trace",
    .tp_doc = "Trace(capacity): spans of time that one plan or stepper leaves.",
    .tp_basicsize = sizeof(sn_trace_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = trace_new,
    .tp_dealloc = (destructor)trace_dealloc,
    .tp_methods = trace_methods,
    .tp_getset = trace_getset,
};

int sn_add_trace(PyObject *module) { return PyModule_AddType(module, &sn_trace_type); }
