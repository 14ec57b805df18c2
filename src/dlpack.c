/* DLPack: arrays lent to other libraries, and Tensor: memory that another library lends. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <stddef.h>
#include <structmember.h>

#include "dlpack.h"

enum { MAX_AXES = SN_MAX_NDIM + SN_MAX_AXES };

/* What an array lends: one of the two structures, and its numbers behind it. */
typedef struct {
    union {
        sn_dl_managed plain;
        sn_dl_versioned versioned;
    };
    int64_t shape[MAX_AXES], strides[MAX_AXES];
} lent;

/* The borrower may give it back in any thread, and after the interpreter has ended, when nothing is left to release. */
static void give_back(PyObject *array, void *loan)
{
    if (Py_IsInitialized()) {
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(array);
        PyGILState_Release(state);
    }
    PyMem_RawFree(loan);
}

static void delete_plain(sn_dl_managed *self) { give_back(self->owner, self); }
static void delete_versioned(sn_dl_versioned *self) { give_back(self->owner, self); }

/* Of a capsule that nobody took anything from. */
static void drop_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, SN_DL_NAME)) {
        sn_dl_managed *managed = PyCapsule_GetPointer(capsule, SN_DL_NAME);
        managed->deleter(managed);
    } else if (PyCapsule_IsValid(capsule, SN_DL_VERSIONED_NAME)) {
        sn_dl_versioned *managed = PyCapsule_GetPointer(capsule, SN_DL_VERSIONED_NAME);
        managed->deleter(managed);
    }
}

static sn_dl_tensor tensor_of(const sn_array *array, lent *loan, sn_dl_device device, sn_dl_type type)
{
    const int axes = array->place.ndim + array->element->axis_count;
    const bool is_empty = sn_count(&array->place) == 0;
    int64_t in_order = 1;
    for (int i = axes - 1; i >= 0; i--) {
        loan->shape[i] = array->extents[i];
        loan->strides[i] = array->extents[i] > 1 ? array->strides[i] / (type.bits / 8) : in_order;
        in_order *= array->extents[i];
    }
    return (sn_dl_tensor){
        .data = is_empty ? NULL : array->place.address,
        .device = device,
        .ndim = axes,
        .type = type,
        .shape = loan->shape,
        .strides = loan->strides,
    };
}

static PyObject *lend(PyObject *module, PyObject *args)
{
    (void)module;
    sn_array *array;
    sn_dl_device device;
    unsigned char code, bits;
    int versioned, copied;
    if (!PyArg_ParseTuple(args, "O!(ii)(bb)pp", &sn_array_type, &array, &device.type, &device.id, &code, &bits, &versioned,
                          &copied))
        return NULL;
    lent *loan = PyMem_RawCalloc(1, sizeof *loan);
    if (loan == NULL) return PyErr_NoMemory();
    const sn_dl_tensor tensor = tensor_of(array, loan, device, (sn_dl_type){code, bits, 1});
    if (versioned) {
        const uint64_t flags = (array->memory.readonly ? SN_DL_READONLY : 0) | (copied ? SN_DL_COPIED : 0);
        loan->versioned = (sn_dl_versioned){{SN_DL_MAJOR, 0}, array, delete_versioned, flags, tensor};
    } else {
        loan->plain = (sn_dl_managed){tensor, array, delete_plain};
    }
    PyObject *capsule = PyCapsule_New(loan, versioned ? SN_DL_VERSIONED_NAME : SN_DL_NAME, drop_capsule);
    if (capsule == NULL) PyMem_RawFree(loan);
    else Py_INCREF(array);
    return capsule;
}

typedef struct {
    PyObject_HEAD
    sn_dl_managed *plain; /* one of the two */
    sn_dl_versioned *versioned;
    const sn_dl_tensor *tensor;
    char readonly;
} tensor_object;

static int take(tensor_object *self, PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, SN_DL_NAME)) {
        self->plain = PyCapsule_GetPointer(capsule, SN_DL_NAME);
        self->tensor = &self->plain->tensor;
        return PyCapsule_SetName(capsule, SN_DL_USED);
    }
    if (!PyCapsule_IsValid(capsule, SN_DL_VERSIONED_NAME)) {
        PyErr_SetString(PyExc_TypeError, "no capsule of DLPack, or one that was taken before");
        return -1;
    }
    self->versioned = PyCapsule_GetPointer(capsule, SN_DL_VERSIONED_NAME);
    if (PyCapsule_SetName(capsule, SN_DL_VERSIONED_USED) < 0) return -1;
    if (self->versioned->version.major != SN_DL_MAJOR) { /* only its deleter is where it was */
        PyErr_Format(PyExc_BufferError, "DLPack of version %u.%u, and this is version %d", self->versioned->version.major,
                     self->versioned->version.minor, SN_DL_MAJOR);
        return -1;
    }
    self->tensor = &self->versioned->tensor;
    self->readonly = (self->versioned->flags & SN_DL_READONLY) != 0;
    return 0;
}

static PyObject *tensor_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *capsule;
    if (!PyArg_ParseTuple(args, "O", &capsule)) return NULL;
    tensor_object *self = (tensor_object *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    if (take(self, capsule) < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

/* The lender's deleter may run anything, so an exception that is on its way is kept from it. */
static void tensor_dealloc(tensor_object *self)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (self->plain != NULL && self->plain->deleter != NULL) self->plain->deleter(self->plain);
    if (self->versioned != NULL && self->versioned->deleter != NULL) self->versioned->deleter(self->versioned);
    PyErr_Restore(type, value, traceback);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *tensor_address(tensor_object *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong((uintptr_t)self->tensor->data + self->tensor->byte_offset);
}

static PyObject *tensor_device(tensor_object *self, void *closure)
{
    (void)closure;
    return Py_BuildValue("ii", self->tensor->device.type, self->tensor->device.id);
}

static PyObject *tensor_type(tensor_object *self, void *closure)
{
    (void)closure;
    return Py_BuildValue("iii", self->tensor->type.code, self->tensor->type.bits, self->tensor->type.lanes);
}

static PyObject *tensor_shape(tensor_object *self, void *closure)
{
    (void)closure;
    return sn_integers(self->tensor->shape, self->tensor->ndim);
}

static PyObject *tensor_strides(tensor_object *self, void *closure)
{
    (void)closure;
    if (self->tensor->strides == NULL) Py_RETURN_NONE;
    return sn_integers(self->tensor->strides, self->tensor->ndim);
}

static PyGetSetDef tensor_getset[] = {
    {"address", (getter)tensor_address, NULL, "Where the first element is.", NULL},
    {"device", (getter)tensor_device, NULL, "DLPack's type and number of the device that has it.", NULL},
    {"type", (getter)tensor_type, NULL, "DLPack's code of the elements' type, its bits, and its lanes.", NULL},
    {"shape", (getter)tensor_shape, NULL, "Elements along each axis.", NULL},
    {"strides", (getter)tensor_strides, NULL, "Elements from one to the next along each axis; None: C order.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef tensor_members[] = {
    {"readonly", T_BOOL, offsetof(tensor_object, readonly), READONLY, "Whether the lender says that nobody may write it."},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject sn_tensor_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Tensor",
    .tp_doc = "Tensor(capsule): memory that another library lends by DLPack, given back when nothing refers to it.",
    .tp_basicsize = sizeof(tensor_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = tensor_new,
    .tp_dealloc = (destructor)tensor_dealloc,
    .tp_getset = tensor_getset,
    .tp_members = tensor_members,
};

static PyMethodDef functions[] = {
    {"lend", lend, METH_VARARGS, "lend(array, device, type, versioned, copied) -> a capsule of DLPack."},
    {NULL, NULL, 0, NULL},
};

int sn_add_dlpack(PyObject *module)
{
    if (PyModule_AddType(module, &sn_tensor_type) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
