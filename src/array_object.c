/* Array: typed elements somewhere in the memory of an owner, one after the other or in strides. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <stddef.h>
#include <structmember.h>

/* Reads a tuple of one to four integers; -1 with ValueError set. */
static int read_extents(PyObject *tuple, int64_t *to)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        to[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
        if (to[i] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

int sn_set_shape(sn_place *place, PyObject *shape, int64_t size)
{
    const Py_ssize_t ndim = PyTuple_GET_SIZE(shape);
    if (ndim < 1 || ndim > SN_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "a shape has 1 to %d dimensions, not %zd", SN_MAX_NDIM, ndim);
        return -1;
    }
    place->ndim = (uint8_t)ndim;
    if (read_extents(shape, place->shape) < 0) return -1;
    bool fits = true;
    for (Py_ssize_t i = 0; i < ndim; i++) fits &= place->shape[i] >= 0;
    if (fits && sn_place_in_order(place, size)) return 0;
    PyErr_SetString(PyExc_ValueError, "an extent is negative, or the memory does not fit an address space");
    return -1;
}

PyObject *sn_integers(const int64_t *numbers, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i]);
        if (number == NULL) Py_CLEAR(tuple);
        else PyTuple_SET_ITEM(tuple, i, number);
    }
    return tuple;
}

static int set_strides(sn_array *self, PyObject *strides)
{
    sn_place *place = &self->place;
    if (strides == Py_None) return 0;
    if (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != place->ndim) {
        PyErr_Format(PyExc_ValueError, "strides are a tuple of %d integers", place->ndim);
        return -1;
    }
    if (read_extents(strides, place->strides) < 0) return -1;
    place->layout = sn_is_contiguous(place, self->element->size) ? SN_CONTIGUOUS : SN_STRIDED;
    return 0;
}

/* The bytes of a buffer with strides, from `low` to `high` relative to where it begins. */
static bool reach_of(const Py_buffer *memory, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    if (memory->len == 0) return true;
    for (int i = 0; i < memory->ndim && memory->strides != NULL; i++)
        *(memory->strides[i] < 0 ? low : high) += (memory->shape[i] - 1) * memory->strides[i];
    *high += memory->strides != NULL ? memory->itemsize : memory->len;
    return memory->suboffsets == NULL;
}

/* Places the array `offset` bytes from where its owner's memory begins; all of it must be the owner's. */
static int set_memory(sn_array *self, PyObject *memory, Py_ssize_t offset)
{
    int64_t low, high, first, last;
    const bool is_memory = PyObject_TypeCheck(memory, &sn_memory_type);
    const sn_memory_object *given = is_memory ? (const sn_memory_object *)memory : NULL;
    if (given != NULL) {
        self->device = given->device;
        self->memory = (Py_buffer){.buf = given->address, .obj = Py_NewRef(memory), .len = given->nbytes, .itemsize = 1,
                                   .readonly = given->readonly};
    } else if (PyObject_GetBuffer(memory, &self->memory, PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        if (PyObject_GetBuffer(memory, &self->memory, PyBUF_RECORDS_RO & ~PyBUF_FORMAT) < 0) return -1;
    }
    if (!reach_of(&self->memory, &first, &last)) {
        PyErr_SetString(PyExc_ValueError, "the memory is not one block");
        return -1;
    }
    const bool fits = sn_reach(&self->place, self->element->size, &low, &high) &&
                      !__builtin_add_overflow(low, offset, &low) && !__builtin_add_overflow(high, offset, &high);
    if (!fits || low < first || high > last) {
        PyErr_Format(PyExc_ValueError, "the memory has the bytes %lld to %lld, the array needs %lld to %lld",
                     (long long)first, (long long)last, (long long)low, (long long)high);
        return -1;
    }
    self->place.address = (char *)self->memory.buf + offset;
    if (low < high && !sn_is_aligned(&self->place, self->element->align)) {
        PyErr_Format(PyExc_ValueError, "the memory is not aligned to %u bytes", self->element->align);
        return -1;
    }
    return 0;
}

static PyObject *array_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"memory", "element", "shape", "strides", "offset", NULL};
    PyObject *memory, *element, *shape, *strides = Py_None;
    Py_ssize_t offset = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!|On", names, &memory, &sn_element_type, &element,
                                     &PyTuple_Type, &shape, &strides, &offset))
        return NULL;
    sn_array *self = (sn_array *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->element = (sn_element *)Py_NewRef(element);
    if (sn_set_shape(&self->place, shape, self->element->size) < 0 || set_strides(self, strides) < 0 ||
        set_memory(self, memory, offset) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    const int ndim = self->place.ndim;
    for (int i = 0; i < ndim; i++) {
        self->extents[i] = self->place.shape[i];
        self->strides[i] = self->place.strides[i];
    }
    Py_ssize_t stride = self->element->code == SN_STRUCT ? self->element->size : sn_scalar_size[self->element->code];
    for (int i = self->element->axis_count - 1; i >= 0; i--) {
        self->extents[ndim + i] = self->element->axes[i];
        self->strides[ndim + i] = stride;
        stride *= self->element->axes[i];
    }
    return (PyObject *)self;
}

/* Not known to the garbage collector, as numpy's arrays are not: it would clear a memoryview in a cycle with the array
 * while the array still exports from it, which CPython does not survive. */
static void array_dealloc(sn_array *self)
{
    PyBuffer_Release(&self->memory);
    Py_XDECREF(self->element);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int array_getbuffer(sn_array *self, Py_buffer *view, int flags)
{
    const sn_element *element = self->element;
    const bool is_struct = element->code == SN_STRUCT;
    view->obj = NULL;
    if (self->device != NULL) {
        PyErr_Format(PyExc_BufferError, "the array is in the memory of %S; array.numpy() copies it", self->device);
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) && self->memory.readonly) {
        PyErr_SetString(PyExc_BufferError, "the array is read-only");
        return -1;
    }
    const bool wants_order = (flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
    if (self->place.layout != SN_CONTIGUOUS && wants_order) {
        PyErr_SetString(PyExc_BufferError, "the array is not contiguous; take array.contiguous()");
        return -1;
    }
    const char *format = is_struct ? PyBytes_AS_STRING(element->format) : sn_scalar_format[element->code];
    *view = (Py_buffer){
        .buf = self->place.address,
        .obj = Py_NewRef(self),
        .len = sn_count(&self->place) * element->size,
        .itemsize = is_struct ? (Py_ssize_t)element->size : sn_scalar_size[element->code],
        .readonly = self->memory.readonly,
        .ndim = self->place.ndim + element->axis_count,
        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)format : NULL,
        .shape = flags & PyBUF_ND ? self->extents : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL,
    };
    return 0;
}

PyObject *sn_descriptor(const sn_place *place, PyObject *layout)
{
    const long as = PyLong_AsLong(layout);
    if (as == -1 && PyErr_Occurred()) return NULL;
    if (as < place->layout || as >= SN_LAYOUTS)
        return PyErr_Format(PyExc_ValueError, "an array of layout %d has no descriptor of layout %ld", place->layout, as);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sn_descriptor_size(place->ndim, (sn_layout)as));
    if (bytes == NULL) return NULL;
    memset(PyBytes_AS_STRING(bytes), 0, (size_t)PyBytes_GET_SIZE(bytes));
    sn_describe(place, (sn_layout)as, PyBytes_AS_STRING(bytes));
    return bytes;
}

static PyObject *array_descriptor(sn_array *self, PyObject *layout) { return sn_descriptor(&self->place, layout); }

static PyObject *array_ptr(sn_array *self, void *closure)
{
    (void)closure;
    if (sn_count(&self->place) == 0) Py_RETURN_NONE;
    return PyLong_FromVoidPtr(self->place.address);
}

static PyObject *array_shape(sn_array *self, void *closure)
{
    (void)closure;
    return sn_integers(self->place.shape, self->place.ndim);
}

static PyObject *array_strides(sn_array *self, void *closure)
{
    (void)closure;
    return sn_integers(self->place.strides, self->place.ndim);
}

static PyObject *array_is_contiguous(sn_array *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(self->place.layout == SN_CONTIGUOUS);
}

static PyObject *array_writeable(sn_array *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(!self->memory.readonly);
}

static PyObject *array_device(sn_array *self, void *closure)
{
    (void)closure;
    return Py_NewRef(self->device != NULL ? self->device : Py_None);
}

static PyObject *array_owner(sn_array *self, void *closure)
{
    (void)closure;
    return Py_NewRef(self->memory.obj != NULL ? self->memory.obj : Py_None);
}

static PyObject *array_offset(sn_array *self, void *closure)
{
    (void)closure;
    return PyLong_FromLongLong(self->place.address - (char *)self->memory.buf);
}

static PyMethodDef array_methods[] = {
    {"descriptor", (PyCFunction)array_descriptor, METH_O, "descriptor(layout) -> the bytes that tell a kernel of it."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef array_getset[] = {
    {"ptr", (getter)array_ptr, NULL, "The address of the first element; None where there is none.", NULL},
    {"shape", (getter)array_shape, NULL, "Elements along each dimension; components are no dimension.", NULL},
    {"strides", (getter)array_strides, NULL, "Bytes from one element to the next along each dimension.", NULL},
    {"is_contiguous", (getter)array_is_contiguous, NULL, "Whether the elements follow each other in C order.", NULL},
    {"writeable", (getter)array_writeable, NULL, "Whether the memory may be written.", NULL},
    {"device", (getter)array_device, NULL, "The device that has the memory; None where it is the host's.", NULL},
    {"owner", (getter)array_owner, NULL, "What keeps the memory.", NULL},
    {"offset", (getter)array_offset, NULL, "Bytes from where the owner's memory begins to the first element.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef array_members[] = {
    {"element", T_OBJECT, offsetof(sn_array, element), READONLY, "The element type."},
    {"ndim", T_UBYTE, offsetof(sn_array, place.ndim), READONLY, "Dimensions."},
    {NULL, 0, 0, 0, NULL},
};

static PyBufferProcs array_buffer = {(getbufferproc)array_getbuffer, NULL};

PyTypeObject sn_array_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Array",
    .tp_doc = "Array(memory, element, shape, strides=None, offset=0): typed elements in the memory of a buffer.",
    .tp_basicsize = sizeof(sn_array),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = array_new,
    .tp_dealloc = (destructor)array_dealloc,
    .tp_as_buffer = &array_buffer,
    .tp_methods = array_methods,
    .tp_getset = array_getset,
    .tp_members = array_members,
};

int sn_add_array(PyObject *module)
{
    if (sn_add_element(module) < 0 || sn_add_memory(module) < 0 || PyModule_AddType(module, &sn_array_type) < 0) return -1;
    if (sn_add_dlpack(module) < 0) return -1;
    if (PyModule_AddIntConstant(module, "MAX_NDIM", SN_MAX_NDIM) < 0) return -1;
    return sn_add_cell(module);
}
