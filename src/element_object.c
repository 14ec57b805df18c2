/* Element: what an array is made of, or what a parameter or field holds by value. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <stddef.h>
#include <structmember.h>

const uint8_t sn_scalar_size[SN_SCALARS] = {1, 4, 4, 8, 8, 4, 8, 2, 1, 1, 2, 2};
const char *const sn_scalar_format[SN_SCALARS] = {"?", "i", "I", "q", "Q", "f", "d", "e", "b", "B", "h", "H"};

void sn_fields_free(sn_field *fields, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_XDECREF(fields[i].name);
        Py_XDECREF(fields[i].type.element);
    }
    PyMem_Free(fields);
}

static int read_field(PyObject *row, sn_field *field)
{
    int ndim, layout, written;
    PyObject *name, *element;
    if (!PyTuple_Check(row)) {
        PyErr_SetString(PyExc_TypeError, "a parameter or field is (name, ndim, layout, element, written)");
        return -1;
    }
    if (!PyArg_ParseTuple(row, "UiiO!p", &name, &ndim, &layout, &sn_element_type, &element, &written)) return -1;
    if (ndim < 0 || ndim > SN_MAX_NDIM || layout < 0 || layout >= SN_LAYOUTS) {
        PyErr_Format(PyExc_ValueError, "no array has %d dimensions and layout %d", ndim, layout);
        return -1;
    }
    *field = (sn_field){
        .name = Py_NewRef(name),
        .type = {(sn_element *)Py_NewRef(element), (uint8_t)ndim, (uint8_t)layout},
        .written = written,
    };
    return 0;
}

int sn_fields(PyObject *rows, sn_field **fields, Py_ssize_t *count, uint32_t *size)
{
    uint64_t offset = *size;
    *fields = PyMem_Calloc((size_t)PyTuple_GET_SIZE(rows) + 1, sizeof **fields);
    if (*fields == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (*count = 0; *count < PyTuple_GET_SIZE(rows); ++*count) {
        sn_field *field = &(*fields)[*count];
        if (read_field(PyTuple_GET_ITEM(rows, *count), field) < 0) return -1;
        const uint64_t align = field->type.ndim > 0 ? 8 : field->type.element->align;
        offset = (offset + align - 1) / align * align;
        field->offset = (uint32_t)offset;
        offset += sn_type_size(field->type);
        if (offset > INT32_MAX) {
            ++*count;
            PyErr_SetString(PyExc_ValueError, "a struct or an argument block takes less than 2^31 bytes");
            return -1;
        }
    }
    *size = (uint32_t)offset;
    return 0;
}

void sn_pointers(const sn_field *fields, Py_ssize_t count, uint32_t base, void (*visit)(void *, uint32_t), void *arg)
{
    for (const sn_field *field = fields; field < fields + count; field++) {
        const sn_type type = field->type;
        const uint32_t at = base + field->offset;
        if (type.ndim == 0) {
            sn_pointers(type.element->fields, type.element->field_count, at, visit, arg);
            continue;
        }
        visit(arg, at);
        const uint32_t lists = at + (uint32_t)sn_descriptor_size(type.ndim, SN_STRIDED);
        for (uint32_t i = 0; type.layout == SN_INDEXED && i < type.ndim; i++) visit(arg, lists + 8 * i);
    }
}

static int set_axes(sn_element *self, PyObject *axes)
{
    if (PyTuple_GET_SIZE(axes) > SN_MAX_AXES) {
        PyErr_Format(PyExc_ValueError, "an element has at most %d axes", SN_MAX_AXES);
        return -1;
    }
    int64_t components = 1;
    for (; self->axis_count < PyTuple_GET_SIZE(axes); self->axis_count++) {
        const long extent = PyLong_AsLong(PyTuple_GET_ITEM(axes, self->axis_count));
        if (extent == -1 && PyErr_Occurred()) return -1;
        if (extent < 1 || extent > UINT16_MAX) {
            PyErr_Format(PyExc_ValueError, "an axis of an element has 1 to %d components, not %ld", UINT16_MAX, extent);
            return -1;
        }
        components *= extent;
        self->axes[self->axis_count] = (int32_t)extent;
    }
    const bool is_struct = self->code == SN_STRUCT;
    if (!is_struct && self->size != components * sn_scalar_size[self->code]) {
        PyErr_Format(PyExc_ValueError, "%lld components do not take %u bytes", (long long)components, self->size);
        return -1;
    }
    self->components = (int32_t)components;
    return 0;
}

static int set_fields(sn_element *self, PyObject *rows)
{
    uint32_t size = 0;
    if (sn_fields(rows, &self->fields, &self->field_count, &size) < 0) return -1;
    if (self->field_count == 0) size = 1; // as in C++, so that each has its address
    for (Py_ssize_t i = 0; i < self->field_count; i++) {
        const sn_type type = self->fields[i].type;
        if (type.ndim > 0 ? 8 > self->align : type.element->align > self->align) self->align = 0;
    }
    if (self->align == 0 || (size + self->align - 1) / self->align * self->align != self->size) {
        PyErr_Format(PyExc_ValueError, "the fields do not take %u bytes", self->size);
        return -1;
    }
    return 0;
}

static PyObject *element_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dtype", "code", "size", "align", "axes", "fields", "numpy", "format", NULL};
    int code, size, align;
    PyObject *dtype, *axes, *fields, *numpy, *format;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OiiiO!O!OS", names, &dtype, &code, &size, &align, &PyTuple_Type,
                                     &axes, &PyTuple_Type, &fields, &numpy, &format))
        return NULL;
    const bool is_struct = code == SN_STRUCT;
    if (!is_struct && (code < 0 || code >= SN_SCALARS)) return PyErr_Format(PyExc_ValueError, "no scalar has code %d", code);
    if (size < 1 || align < 1 || align > 8 || (align & (align - 1)) || (!is_struct && align != sn_scalar_size[code]))
        return PyErr_Format(PyExc_ValueError, "no element has %d bytes, aligned to %d", size, align);
    sn_element *self = (sn_element *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->dtype = Py_NewRef(dtype);
    self->numpy = Py_NewRef(numpy);
    self->format = Py_NewRef(format);
    self->code = (uint8_t)code;
    self->size = (uint32_t)size;
    self->align = (uint32_t)align;
    if (set_axes(self, axes) < 0 || (is_struct && set_fields(self, fields) < 0)) Py_CLEAR(self);
    return (PyObject *)self;
}

static void element_dealloc(sn_element *self)
{
    Py_XDECREF(self->dtype);
    Py_XDECREF(self->numpy);
    Py_XDECREF(self->format);
    sn_fields_free(self->fields, self->field_count);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *element_axes(sn_element *self, void *closure)
{
    (void)closure;
    PyObject *axes = PyTuple_New(self->axis_count);
    for (int i = 0; axes != NULL && i < self->axis_count; i++) {
        PyObject *extent = PyLong_FromLong(self->axes[i]);
        if (extent == NULL) Py_CLEAR(axes);
        else PyTuple_SET_ITEM(axes, i, extent);
    }
    return axes;
}

static PyObject *element_pack(sn_element *self, PyObject *args)
{
    const sn_field field = {.type = {self, 0, SN_CONTIGUOUS}};
    PyObject *value, *device = Py_None;
    if (!PyArg_ParseTuple(args, "O|O", &value, &device)) return NULL;
    const sn_access access = {device == Py_None ? NULL : device, false};
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)self->size), *held = NULL;
    if (bytes == NULL) return NULL;
    memset(PyBytes_AS_STRING(bytes), 0, self->size);
    const sn_reason reason = sn_pack_field(&field, value, access, PyBytes_AS_STRING(bytes), &held);
    if (reason == SN_FITS) return Py_BuildValue("NN", bytes, held != NULL ? held : Py_NewRef(Py_None));
    Py_DECREF(bytes);
    return sn_refuse(reason, 0);
}

static PyMethodDef element_methods[] = {
    {"pack", (PyCFunction)element_pack, METH_VARARGS,
     "pack(value, device=None) -> (bytes, what keeps the memory that they point into, or None): of a GPU, or the host."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef element_members[] = {
    {"dtype", T_OBJECT, offsetof(sn_element, dtype), READONLY, "The type of the kernel language."},
    {"numpy", T_OBJECT, offsetof(sn_element, numpy), READONLY, "The numpy dtype of a component, or of a struct."},
    {"code", T_UBYTE, offsetof(sn_element, code), READONLY, "Code of the scalar type, 255 for a struct."},
    {"size", T_UINT, offsetof(sn_element, size), READONLY, "Bytes."},
    {"align", T_UINT, offsetof(sn_element, align), READONLY, "What an address is a multiple of."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef element_getset[] = {
    {"axes", (getter)element_axes, NULL, "The axes that numpy shows an element as.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject sn_element_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Element",
    .tp_doc = "Element(dtype, code, size, align, axes, fields, numpy, format): an element type; a field is "
              "(name, ndim, layout, element, written).",
    .tp_basicsize = sizeof(sn_element),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = element_new,
    .tp_dealloc = (destructor)element_dealloc,
    .tp_methods = element_methods,
    .tp_members = element_members,
    .tp_getset = element_getset,
};

int sn_add_element(PyObject *module) { return PyModule_AddType(module, &sn_element_type); }
