/* Array: typed memory with an owner. Cell: the place of one, whose address is set from run to run. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <stddef.h>
#include <structmember.h>

const uint8_t sn_scalar_size[SN_CODES] = {1, 4, 4, 8, 8, 4, 8};
static const char *const formats[SN_CODES] = {"?", "i", "I", "q", "Q", "f", "d"};

int sn_type_set(sn_type *type, int code, int components, int ndim)
{
    if (code < 0 || code >= SN_CODES || components < 1 || components > UINT16_MAX || ndim < 0 || ndim > SN_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "no type has code %d, %d components and %d dimensions", code, components, ndim);
        return -1;
    }
    *type = (sn_type){(uint8_t)code, (uint8_t)ndim, (uint16_t)components};
    return 0;
}

/* Reads code, components and a shape tuple; returns the bytes that they take, or -1 with ValueError set. */
static Py_ssize_t set_extent(sn_type *type, int64_t *shape, int code, int components, PyObject *extents)
{
    const Py_ssize_t ndim = PyTuple_GET_SIZE(extents);
    if (ndim < 1 || ndim > SN_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "a shape has 1 to %d dimensions, not %zd", SN_MAX_NDIM, ndim);
        return -1;
    }
    if (sn_type_set(type, code, components, (int)ndim) < 0) return -1;
    Py_ssize_t size = (Py_ssize_t)sn_element_size(*type);
    for (Py_ssize_t i = 0; i < ndim; i++) {
        shape[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(extents, i));
        if (shape[i] == -1 && PyErr_Occurred()) return -1;
        if (shape[i] < 0 || __builtin_mul_overflow(size, shape[i], &size)) {
            PyErr_SetString(PyExc_ValueError, "an extent is negative, or the memory does not fit an address space");
            return -1;
        }
    }
    return size;
}

static PyObject *shape_tuple(sn_type type, const int64_t *shape)
{
    PyObject *tuple = PyTuple_New(type.ndim);
    for (int i = 0; tuple != NULL && i < type.ndim; i++) {
        PyObject *extent = PyLong_FromLongLong(shape[i]);
        if (extent == NULL) Py_CLEAR(tuple);
        else PyTuple_SET_ITEM(tuple, i, extent);
    }
    return tuple;
}

static PyObject *array_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"memory", "code", "components", "shape", NULL};
    PyObject *memory, *shape;
    int code, components;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OiiO!", names, &memory, &code, &components, &PyTuple_Type, &shape))
        return NULL;
    sn_array *self = (sn_array *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    const Py_ssize_t size = set_extent(&self->type, self->shape, code, components, shape);
    if (size < 0 || PyObject_GetBuffer(memory, &self->memory, PyBUF_SIMPLE) < 0) goto fail;
    if (self->memory.len != size) {
        PyErr_Format(PyExc_ValueError, "the memory has %zd bytes, the array needs %zd", self->memory.len, size);
        goto fail;
    }
    if ((uintptr_t)self->memory.buf % sn_scalar_size[code] != 0) {
        PyErr_Format(PyExc_ValueError, "the memory is not aligned to %d bytes", (int)sn_scalar_size[code]);
        goto fail;
    }
    Py_ssize_t stride = sn_scalar_size[code];
    self->extents[self->type.ndim] = components;
    self->strides[self->type.ndim] = stride;
    stride *= components;
    for (int i = self->type.ndim - 1; i >= 0; i--) {
        self->extents[i] = self->shape[i];
        self->strides[i] = stride;
        stride *= self->shape[i];
    }
    return (PyObject *)self;
fail:
    Py_DECREF(self);
    return NULL;
}

/* Not known to the garbage collector, as numpy's arrays are not: it would clear a memoryview in a cycle with the array
 * while the array still exports from it, which CPython does not survive. */
static void array_dealloc(sn_array *self)
{
    PyBuffer_Release(&self->memory);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int array_getbuffer(sn_array *self, Py_buffer *view, int flags)
{
    if ((flags & PyBUF_WRITABLE) && self->memory.readonly) {
        PyErr_SetString(PyExc_BufferError, "the array is read-only");
        return -1;
    }
    Py_INCREF(self);
    *view = (Py_buffer){
        .buf = self->memory.buf,
        .obj = (PyObject *)self,
        .len = self->memory.len,
        .itemsize = sn_scalar_size[self->type.code],
        .readonly = self->memory.readonly,
        .ndim = self->type.ndim + (self->type.components > 1),
        .format = flags & PyBUF_FORMAT ? (char *)formats[self->type.code] : NULL,
        .shape = flags & PyBUF_ND ? self->extents : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL,
    };
    return 0;
}

static PyObject *array_ptr(sn_array *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(self->memory.buf);
}

static PyObject *array_shape(sn_array *self, void *closure)
{
    (void)closure;
    return shape_tuple(self->type, self->shape);
}

static PyObject *array_writeable(sn_array *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(!self->memory.readonly);
}

static PyObject *array_owner(sn_array *self, void *closure)
{
    (void)closure;
    return Py_NewRef(self->memory.obj != NULL ? self->memory.obj : Py_None);
}

static PyGetSetDef array_getset[] = {
    {"ptr", (getter)array_ptr, NULL, "The address of the first element.", NULL},
    {"shape", (getter)array_shape, NULL, "Elements along each dimension; the components of a vector are no dimension.", NULL},
    {"writeable", (getter)array_writeable, NULL, "Whether the memory may be written.", NULL},
    {"owner", (getter)array_owner, NULL, "What keeps the memory.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef array_members[] = {
    {"code", T_UBYTE, offsetof(sn_array, type.code), READONLY, "Code of the scalar type."},
    {"components", T_USHORT, offsetof(sn_array, type.components), READONLY, "Components of an element."},
    {"ndim", T_UBYTE, offsetof(sn_array, type.ndim), READONLY, "Dimensions."},
    {NULL, 0, 0, 0, NULL},
};

static PyBufferProcs array_buffer = {(getbufferproc)array_getbuffer, NULL};

PyTypeObject sn_array_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Array",
    .tp_doc = "Array(memory, code, components, shape): typed elements in the bytes of a C-contiguous buffer.",
    .tp_basicsize = sizeof(sn_array),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = array_new,
    .tp_dealloc = (destructor)array_dealloc,
    .tp_as_buffer = &array_buffer,
    .tp_getset = array_getset,
    .tp_members = array_members,
};

static PyObject *cell_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "components", "shape", NULL};
    PyObject *shape;
    int code, components;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "iiO!", names, &code, &components, &PyTuple_Type, &shape)) return NULL;
    sn_cell *self = (sn_cell *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    if (set_extent(&self->type, self->shape, code, components, shape) < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *cell_shape(sn_cell *self, void *closure)
{
    (void)closure;
    return shape_tuple(self->type, self->shape);
}

static PyGetSetDef cell_getset[] = {
    {"shape", (getter)cell_shape, NULL, "Elements along each dimension.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef cell_members[] = {
    {"code", T_UBYTE, offsetof(sn_cell, type.code), READONLY, "Code of the scalar type."},
    {"components", T_USHORT, offsetof(sn_cell, type.components), READONLY, "Components of an element."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_cell_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Cell",
    .tp_doc = "Cell(code, components, shape): an argument of a plan whose address is set from run to run.",
    .tp_basicsize = sizeof(sn_cell),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = cell_new,
    .tp_getset = cell_getset,
    .tp_members = cell_members,
};

int sn_add_array(PyObject *module)
{
    if (PyModule_AddType(module, &sn_array_type) < 0) return -1;
    return PyModule_AddType(module, &sn_cell_type);
}
