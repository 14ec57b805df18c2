/* Memory: bytes by their address: of a device, where only kernels look inside, or of the host. Arrays lie in it as in a
 * buffer. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <stddef.h>
#include <structmember.h>

static PyObject *memory_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    (void)kwargs; /* for the __init__ of a subclass */
    unsigned long long address;
    Py_ssize_t nbytes;
    PyObject *device, *owner = NULL;
    int readonly = 0;
    if (!PyArg_ParseTuple(args, "KnO|Op", &address, &nbytes, &device, &owner, &readonly)) return NULL;
    if (nbytes < 0) {
        PyErr_SetString(PyExc_ValueError, "memory has no negative number of bytes");
        return NULL;
    }
    sn_memory_object *self = (sn_memory_object *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->address = (char *)(uintptr_t)address;
    self->nbytes = nbytes;
    self->device = device == Py_None ? NULL : Py_NewRef(device);
    self->owner = Py_XNewRef(owner);
    self->readonly = (char)readonly;
    return (PyObject *)self;
}

/* The device is not one of its parts to the garbage collector: who made it keeps it for as long as the process lives. */
static void memory_dealloc(sn_memory_object *self)
{
    if (PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0) return;
    Py_XDECREF(self->device);
    Py_XDECREF(self->owner);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *memory_address(sn_memory_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(self->address);
}

static PyGetSetDef memory_getset[] = {
    {"address", (getter)memory_address, NULL, "Where it begins, as the device counts.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef memory_members[] = {
    {"nbytes", T_PYSSIZET, offsetof(sn_memory_object, nbytes), READONLY, "Bytes."},
    {"device", T_OBJECT, offsetof(sn_memory_object, device), READONLY, "The device that has it; None: the host."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_memory_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Memory",
    .tp_doc = "Memory(address, nbytes, device, owner=None, readonly=False): bytes of a device, None being the host.",
    .tp_basicsize = sizeof(sn_memory_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = memory_new,
    .tp_dealloc = (destructor)memory_dealloc,
    .tp_getset = memory_getset,
    .tp_members = memory_members,
};

int sn_add_memory(PyObject *module) { return PyModule_AddType(module, &sn_memory_type); }
