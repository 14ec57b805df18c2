/* Entry: a compiled kernel as an object. launch: the one call that checks, packs and runs. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#include "module.h"

/* The argument block lives on the stack of the launch, so it is bounded; CUDA's own bound is as large. */
enum { MAX_BLOCK = 32 << 10 };

/* Reads (ndim, code, components, written) of each parameter and places it in the block, aligned to its scalar. */
static int set_params(sn_entry *self, PyObject *params)
{
    uint32_t offset = 0;
    self->params = PyMem_Calloc((size_t)PyTuple_GET_SIZE(params), sizeof *self->params);
    if (self->params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; self->count < PyTuple_GET_SIZE(params); self->count++) {
        sn_param *param = &self->params[self->count];
        int ndim, code, components, written;
        PyObject *row = PyTuple_GET_ITEM(params, self->count);
        if (!PyTuple_Check(row) || !PyArg_ParseTuple(row, "iiip", &ndim, &code, &components, &written)) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a parameter is (ndim, code, components, written)");
            return -1;
        }
        if (sn_type_set(&param->type, code, components, ndim) < 0) return -1;
        const uint32_t align = ndim > 0 ? 8 : sn_scalar_size[code];
        const uint32_t size = ndim > 0 ? 8 + 8 * (uint32_t)ndim : (uint32_t)sn_element_size(param->type);
        param->written = written;
        param->offset = (offset + align - 1) / align * align;
        offset = param->offset + size;
        if (offset > MAX_BLOCK) {
            PyErr_Format(PyExc_ValueError, "the parameters take more than the %d bytes of an argument block", MAX_BLOCK);
            return -1;
        }
        if (ndim > 0) self->touched += (uint32_t)sn_element_size(param->type);
    }
    self->block_words = offset / 8 + 1;
    return 0;
}

static PyObject *entry_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"address", "params", "owner", NULL};
    unsigned long long address;
    PyObject *params, *owner;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KO!O", names, &address, &PyTuple_Type, &params, &owner)) return NULL;
    sn_entry *self = (sn_entry *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->owner = Py_NewRef(owner);
    self->kernel = (sn_kernel)(uintptr_t)address;
    if (set_params(self, params) < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

static int entry_traverse(sn_entry *self, visitproc visit, void *arg)
{
    Py_VISIT(self->owner);
    return 0;
}

/* No tp_clear: the code must stay mapped for as long as an entry can be launched. */
static void entry_dealloc(sn_entry *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->owner);
    PyMem_Free(self->params);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef entry_members[] = {
    {"count", T_PYSSIZET, offsetof(sn_entry, count), READONLY, "Parameters."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_entry_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Entry",
    .tp_doc = "Entry(address, params, owner): a compiled kernel; a parameter is (ndim, code, components, written).",
    .tp_basicsize = sizeof(sn_entry),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = entry_new,
    .tp_dealloc = (destructor)entry_dealloc,
    .tp_traverse = (traverseproc)entry_traverse,
    .tp_members = entry_members,
};

/* The block and what keeps its arrays are on this call's stack, so launches may overlap and nest. */
static PyObject *launch(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs != 4 || !PyObject_TypeCheck(args[0], &sn_entry_type)) {
        PyErr_SetString(PyExc_TypeError, "launch(entry, dim, inputs, outputs)");
        return NULL;
    }
    const sn_entry *entry = (const sn_entry *)args[0];
    uint64_t block[entry->block_words];
    PyObject *held[entry->count + 1];
    memset(block, 0, sizeof block);
    memset(held, 0, sizeof held);

    int64_t dim;
    Py_ssize_t position = -1;
    sn_reason reason = sn_dim(args[1], &dim);
    if (reason == SN_FITS) reason = sn_pack(entry, args[2], args[3], block, held, &position);
    for (Py_ssize_t i = 0; reason == SN_FITS && i < entry->count; i++) {
        if (held[i] == NULL || !PyObject_TypeCheck(held[i], &sn_cell_type)) continue;
        reason = SN_CELL;
        position = i;
    }
    sn_error error = {0};
    if (reason == SN_FITS) {
        PyThreadState *state = sn_is_long(dim * entry->touched) ? PyEval_SaveThread() : NULL;
        entry->kernel(0, dim, block, &error);
        if (state != NULL) PyEval_RestoreThread(state);
    }
    for (Py_ssize_t i = 0; i < entry->count; i++) Py_XDECREF(held[i]);
    if (reason != SN_FITS) return sn_refuse(reason, position);
    if (error.code == 0) Py_RETURN_NONE;
    return Py_BuildValue("ILLL", error.site, (long long)error.thread, (long long)error.index, (long long)error.length);
}

static PyMethodDef functions[] = {
    {"launch", (PyCFunction)(void (*)(void))launch, METH_FASTCALL,
     "launch(entry, dim, inputs, outputs) -> None, or (site, thread, index, length) of the thread that stopped itself."},
    {NULL, NULL, 0, NULL},
};

int sn_add_entry(PyObject *module)
{
    if (sn_add_argument(module) < 0 || sn_add_array(module) < 0 || sn_add_plan(module) < 0) return -1;
    if (PyModule_AddType(module, &sn_entry_type) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
