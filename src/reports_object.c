/* The driver's functions and a GPU's reports, from Python. */
#define PY_SSIZE_T_CLEAN
#include "reports_object.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#include "module.h"

static const char *const names[SN_DRIVER_FUNCTIONS] = SN_DRIVER_NAMES;

static PyObject *drive(PyObject *module, PyObject *addresses)
{
    (void)module;
    void *found[SN_DRIVER_FUNCTIONS];
    if (!PyTuple_Check(addresses) || PyTuple_GET_SIZE(addresses) != SN_DRIVER_FUNCTIONS) {
        PyErr_Format(PyExc_TypeError, "drive(the addresses of %d functions)", (int)SN_DRIVER_FUNCTIONS);
        return NULL;
    }
    for (int i = 0; i < SN_DRIVER_FUNCTIONS; i++) {
        found[i] = PyLong_AsVoidPtr(PyTuple_GET_ITEM(addresses, i));
        if (found[i] == NULL) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "the driver has no %s", names[i]);
            return NULL;
        }
    }
    memcpy(&sn_driver_functions, found, sizeof found);
    Py_RETURN_NONE;
}

static PyObject *fetch(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned long long context, stream, to, from, size;
    if (!PyArg_ParseTuple(args, "KKKKK", &context, &stream, &to, &from, &size)) return NULL;
    const sn_reports device = {.context = (void *)(uintptr_t)context, .stream = (void *)(uintptr_t)stream};
    sn_result result;
    Py_BEGIN_ALLOW_THREADS
    result = sn_gpu_read(&device, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(result);
}

static PyObject *reports_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = {"device", "context", "stream", "records", "count", "flag", "seen", "prints", "kept", NULL};
    PyObject *device, *kept;
    unsigned long long context, stream, records, flag, seen, prints;
    unsigned count;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OKKKIKKKO", keys, &device, &context, &stream, &records, &count, &flag,
                                     &seen, &prints, &kept))
        return NULL;
    sn_reports_object *self = (sn_reports_object *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    pthread_mutex_init(&self->lock, NULL);
    self->device = Py_NewRef(device);
    self->kept = Py_NewRef(kept);
    self->fresh = PyMem_Calloc(count + 1, sizeof *self->fresh);
    if (self->fresh == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (uint32_t i = 0; i < count; i++)
        self->fresh[i] = (sn_error){.thread = INT64_MAX, .prints = (sn_prints *)(uintptr_t)prints, .launch = i,
                                    .flag = (uint32_t *)(uintptr_t)seen};
    self->reports = (sn_reports){(void *)(uintptr_t)context, (void *)(uintptr_t)stream, records, count, self->fresh,
                                 (volatile uint32_t *)(uintptr_t)flag, prints};
    return (PyObject *)self;
}

static void reports_dealloc(sn_reports_object *self)
{
    pthread_mutex_destroy(&self->lock);
    PyMem_Free(self->fresh);
    Py_XDECREF(self->device);
    Py_XDECREF(self->kept);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *reports_fresh(sn_reports_object *self, void *closure)
{
    (void)closure;
    return PyBytes_FromStringAndSize((const char *)self->fresh, (Py_ssize_t)(self->reports.count * sizeof *self->fresh));
}

static PyGetSetDef reports_getset[] = {
    {"fresh", (getter)reports_fresh, NULL, "The bytes that the records have when nothing happened.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef reports_members[] = {
    {"device", T_OBJECT, offsetof(sn_reports_object, device), READONLY, "The device that launches."},
    {"records", T_ULONGLONG, offsetof(sn_reports_object, reports.records), READONLY, "The address of the first record."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_reports_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Reports",
    .tp_doc = "Reports(device, context, stream, records, count, flag, seen, prints, kept): launches on a GPU and what comes "
              "back. `records` and `prints` are addresses of the GPU's, `flag` is the host's of a word that it sees at `seen`.",
    .tp_basicsize = sizeof(sn_reports_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = reports_new,
    .tp_dealloc = (destructor)reports_dealloc,
    .tp_getset = reports_getset,
    .tp_members = reports_members,
};

static PyMethodDef functions[] = {
    {"drive", drive, METH_O, "drive(addresses): let C call the driver's functions DRIVER, in this order."},
    {"fetch", fetch, METH_VARARGS,
     "fetch(context, stream, to, address, nbytes): copy from a GPU to the host, and wait for it; what the driver answers."},
    {NULL, NULL, 0, NULL},
};

int sn_add_reports(PyObject *module)
{
    PyObject *listed = PyTuple_New(SN_DRIVER_FUNCTIONS);
    for (int i = 0; listed != NULL && i < SN_DRIVER_FUNCTIONS; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (name == NULL) Py_CLEAR(listed);
        else PyTuple_SET_ITEM(listed, i, name);
    }
    const int failed = listed == NULL || PyModule_AddObjectRef(module, "DRIVER", listed) < 0;
    Py_XDECREF(listed);
    if (failed || PyModule_AddFunctions(module, functions) < 0) return -1;
    return PyModule_AddType(module, &sn_reports_type);
}
