/* Cell: the place of an array whose address is set from run to run. Indexed: elements of an array, by lists of indices. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <stddef.h>
#include <structmember.h>

static PyObject *cell_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"element", "shape", NULL};
    PyObject *element, *shape;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!", names, &sn_element_type, &element, &PyTuple_Type, &shape))
        return NULL;
    sn_cell *self = (sn_cell *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->element = (sn_element *)Py_NewRef(element);
    if (sn_set_shape(&self->place, shape, self->element->size) < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

static void cell_dealloc(sn_cell *self)
{
    Py_XDECREF(self->element);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *cell_shape(sn_cell *self, void *closure)
{
    (void)closure;
    return sn_integers(self->place.shape, self->place.ndim);
}

static PyGetSetDef cell_getset[] = {
    {"shape", (getter)cell_shape, NULL, "Elements along each dimension.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef cell_members[] = {
    {"element", T_OBJECT, offsetof(sn_cell, element), READONLY, "The element type."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_cell_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Cell",
    .tp_doc = "Cell(element, shape): an argument of a plan whose address is set from run to run.",
    .tp_basicsize = sizeof(sn_cell),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = cell_new,
    .tp_dealloc = (destructor)cell_dealloc,
    .tp_getset = cell_getset,
    .tp_members = cell_members,
};

/* A list of i32 indices, as bytes that nobody can change; every one is inside the dimension, so kernels need not look. */
static int set_index(sn_indexed *self, int at, PyObject *list)
{
    if (list == Py_None) return 0;
    if (!PyBytes_Check(list) || PyBytes_GET_SIZE(list) % 4 != 0) {
        PyErr_SetString(PyExc_TypeError, "a list of indices is the bytes of i32 integers");
        return -1;
    }
    const int64_t extent = self->base->place.shape[at], count = PyBytes_GET_SIZE(list) / 4;
    for (int64_t i = 0; i < count; i++) {
        int32_t index;
        memcpy(&index, PyBytes_AS_STRING(list) + 4 * i, sizeof index);
        if (index >= 0 && index < extent) continue;
        PyErr_Format(PyExc_IndexError, "index %d at place %lld of list %d is outside the extent %lld", index,
                     (long long)i, at, (long long)extent);
        return -1;
    }
    self->indices[at] = Py_NewRef(list);
    self->place.index[at] = PyBytes_AS_STRING(list);
    self->place.shape[at] = count;
    return 0;
}

/* Lets kernels of a device read the lists where that can; the host keeps its own. */
static int set_there(sn_indexed *self, PyObject *there)
{
    for (int i = 0; i < self->place.ndim; i++) {
        if (self->indices[i] == NULL) continue;
        PyObject *memory = there != NULL && i < PyTuple_GET_SIZE(there) ? PyTuple_GET_ITEM(there, i) : Py_None;
        if (!PyObject_TypeCheck(memory, &sn_memory_type) ||
            ((const sn_memory_object *)memory)->nbytes < PyBytes_GET_SIZE(self->indices[i])) {
            PyErr_Format(PyExc_ValueError, "list %d of an array of a device is to be in its memory, too", i);
            return -1;
        }
        self->place.index[i] = ((const sn_memory_object *)memory)->address;
    }
    return 0;
}

static PyObject *indexed_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"base", "indices", "there", NULL};
    PyObject *base, *indices, *there = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!|O!", names, &sn_array_type, &base, &PyTuple_Type, &indices,
                                     &PyTuple_Type, &there))
        return NULL;
    const sn_place *place = &((const sn_array *)base)->place;
    if (PyTuple_GET_SIZE(indices) > place->ndim)
        return PyErr_Format(PyExc_ValueError, "%zd lists of indices for %d dimensions", PyTuple_GET_SIZE(indices),
                            place->ndim);
    sn_indexed *self = (sn_indexed *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->base = (sn_array *)Py_NewRef(base);
    self->place = *place;
    self->place.layout = SN_INDEXED;
    for (int i = 0; i < PyTuple_GET_SIZE(indices); i++)
        if (set_index(self, i, PyTuple_GET_ITEM(indices, i)) < 0) {
            Py_DECREF(self);
            return NULL;
        }
    self->there = Py_XNewRef(there);
    if (((const sn_array *)base)->device == NULL || set_there(self, there) == 0) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void indexed_dealloc(sn_indexed *self)
{
    Py_XDECREF(self->base);
    Py_XDECREF(self->there);
    for (int i = 0; i < SN_MAX_NDIM; i++) Py_XDECREF(self->indices[i]);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *indexed_shape(sn_indexed *self, void *closure)
{
    (void)closure;
    return sn_integers(self->place.shape, self->place.ndim);
}

static PyObject *indexed_indices(sn_indexed *self, void *closure)
{
    (void)closure;
    PyObject *tuple = PyTuple_New(self->place.ndim);
    for (int i = 0; tuple != NULL && i < self->place.ndim; i++)
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(self->indices[i] ? self->indices[i] : Py_None));
    return tuple;
}

static PyObject *indexed_descriptor(sn_indexed *self, PyObject *layout) { return sn_descriptor(&self->place, layout); }

static PyMethodDef indexed_methods[] = {
    {"descriptor", (PyCFunction)indexed_descriptor, METH_O, "descriptor(layout) -> the bytes that tell a kernel of it."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef indexed_getset[] = {
    {"shape", (getter)indexed_shape, NULL, "Elements along each dimension.", NULL},
    {"indices", (getter)indexed_indices, NULL, "The indices of each dimension as bytes of i32, None for all of it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef indexed_members[] = {
    {"base", T_OBJECT, offsetof(sn_indexed, base), READONLY, "The array that the elements are of."},
    {"ndim", T_UBYTE, offsetof(sn_indexed, place.ndim), READONLY, "Dimensions."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_indexed_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Indexed",
    .tp_doc = "Indexed(base, indices, there): elements of an array, by the bytes of i32 indices or None a dimension; `there` "
              "has the same lists in the memory of the array's device.",
    .tp_basicsize = sizeof(sn_indexed),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = indexed_new,
    .tp_dealloc = (destructor)indexed_dealloc,
    .tp_methods = indexed_methods,
    .tp_getset = indexed_getset,
    .tp_members = indexed_members,
};

int sn_add_cell(PyObject *module)
{
    if (PyModule_AddType(module, &sn_cell_type) < 0) return -1;
    return PyModule_AddType(module, &sn_indexed_type);
}
