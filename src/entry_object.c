/* Entry: a compiled kernel as an object. launch: the one call that checks, packs and runs. */
#define PY_SSIZE_T_CLEAN
#include "entry.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#include "module.h"
#include "prints.h"

/* The argument block lives on the stack of the launch, so it is bounded; CUDA's own bound is as large. */
enum { MAX_BLOCK = 32 << 10 };

static void add_pointer(void *entry, uint32_t offset)
{
    sn_entry *self = entry;
    if (self->pointers != NULL) self->pointers[self->pointer_count] = offset;
    self->pointer_count++;
}

/* Places the parameters (name, ndim, layout, element, written) in the block and notes where addresses are. */
static int set_params(sn_entry *self, PyObject *rows)
{
    uint32_t size = SN_HEAD;
    if (sn_fields(rows, &self->params, &self->count, &size) < 0) return -1;
    if (size > MAX_BLOCK) {
        PyErr_Format(PyExc_ValueError, "the parameters take more than the %d bytes of an argument block", MAX_BLOCK);
        return -1;
    }
    sn_pointers(self->params, self->count, 0, add_pointer, self);
    self->pointers = PyMem_Calloc(self->pointer_count + 1, sizeof *self->pointers);
    if (self->pointers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->pointer_count = 0;
    sn_pointers(self->params, self->count, 0, add_pointer, self);
    for (Py_ssize_t i = 0; i < self->count; i++)
        if (self->params[i].type.ndim > 0) self->touched += self->params[i].type.element->size;
    self->block_words = size / 8 + 1;
    return 0;
}

static PyObject *entry_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"address", "params", "dims",       "owner",       "prints", "stops",
                            "reports", "block",  "pairs_from", "most_blocks", NULL};
    unsigned long long address;
    int dims, prints = 0, stops = 1;
    unsigned block = 0, most_blocks = SN_MAX_BLOCKS;
    long long pairs_from = INT64_MAX;
    PyObject *params, *owner, *reports = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KO!iO|ppO!ILI", names, &address, &PyTuple_Type, &params, &dims, &owner,
                                     &prints, &stops, &sn_reports_type, &reports, &block, &pairs_from, &most_blocks))
        return NULL;
    sn_entry *self = (sn_entry *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->owner = Py_NewRef(owner);
    self->kernel = (sn_kernel)(uintptr_t)address;
    self->dims = dims;
    self->prints = prints != 0;
    self->stops = stops != 0;
    self->block = block;
    self->pairs_from = pairs_from;
    self->most_blocks = most_blocks;
    self->reports = (sn_reports_object *)Py_XNewRef(reports);
    if (reports != NULL) self->device = self->reports->device;
    self->variants = PyList_New(0);
    if (self->variants == NULL || set_params(self, params) < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

static int entry_traverse(sn_entry *self, visitproc visit, void *arg)
{
    Py_VISIT(self->owner);
    Py_VISIT(self->variants);
    return 0;
}

/* No tp_clear: the code must stay mapped for as long as an entry can be launched. */
static void entry_dealloc(sn_entry *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->owner);
    Py_XDECREF(self->variants);
    Py_XDECREF(self->reports);
    sn_fields_free(self->params, self->count);
    PyMem_Free(self->pointers);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static sn_entry *find(const sn_entry *entry, const char *layouts)
{
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(entry->variants); at++) {
        sn_entry *variant = (sn_entry *)PyList_GET_ITEM(entry->variants, at);
        Py_ssize_t same = 0;
        while (same < entry->count && variant->params[same].type.layout == layouts[same]) same++;
        if (same == entry->count) return variant;
    }
    return NULL;
}

/* Writes the layout of each argument that is there; the lists may change meanwhile, as any argument's code can. */
static void read_layouts(const sn_entry *entry, PyObject *inputs, PyObject *outputs, char *layouts)
{
    PyObject *const given[] = {inputs, outputs};
    Py_ssize_t count = 0;
    for (int part = 0; part < 2; part++)
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(given[part]) && count < entry->count; i++, count++) {
            PyObject *value = Py_NewRef(PySequence_Fast_GET_ITEM(given[part], i));
            layouts[count] = (char)sn_layout_of(entry, count, value);
            Py_DECREF(value);
        }
}

sn_entry *sn_variant(const sn_entry *entry, PyObject *inputs, PyObject *outputs)
{
    char layouts[entry->count + 1];
    memset(layouts, SN_CONTIGUOUS, sizeof layouts);
    read_layouts(entry, inputs, outputs, layouts);
    return find(entry, layouts);
}

static PyObject *entry_layouts(sn_entry *self, PyObject *args)
{
    PyObject *inputs, *outputs, *layouts = PyBytes_FromStringAndSize(NULL, self->count);
    if (layouts == NULL || !PyArg_ParseTuple(args, "OO", &inputs, &outputs)) goto fail;
    for (int part = 0; part < 2; part++) {
        PyObject *given = part ? outputs : inputs;
        if (PyList_Check(given) || PyTuple_Check(given)) continue;
        PyErr_SetString(PyExc_TypeError, "inputs and outputs are lists or tuples");
        goto fail;
    }
    memset(PyBytes_AS_STRING(layouts), SN_CONTIGUOUS, (size_t)self->count);
    read_layouts(self, inputs, outputs, PyBytes_AS_STRING(layouts));
    return layouts;
fail:
    Py_XDECREF(layouts);
    return NULL;
}

static PyObject *entry_variant(sn_entry *self, PyObject *layouts)
{
    if (!PyBytes_Check(layouts) || PyBytes_GET_SIZE(layouts) != self->count) {
        PyErr_Format(PyExc_TypeError, "variant(the layouts of %zd arguments)", self->count);
        return NULL;
    }
    sn_entry *found = find(self, PyBytes_AS_STRING(layouts));
    return Py_NewRef(found != NULL ? (PyObject *)found : Py_None);
}

static PyObject *entry_add(sn_entry *self, PyObject *variant)
{
    const sn_entry *other = (const sn_entry *)variant;
    if (!PyObject_TypeCheck(variant, &sn_entry_type) || other->count != self->count) {
        PyErr_SetString(PyExc_TypeError, "a variant is an entry with the same parameters");
        return NULL;
    }
    if (PyList_Append(self->variants, variant) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef entry_methods[] = {
    {"layouts", (PyCFunction)entry_layouts, METH_VARARGS,
     "layouts(inputs, outputs) -> a byte for the layout of each argument, 0 also for what is no array."},
    {"variant", (PyCFunction)entry_variant, METH_O, "variant(layouts) -> the kernel compiled for them, or None."},
    {"add", (PyCFunction)entry_add, METH_O, "add(entry): keep the same kernel compiled for other layouts."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef entry_members[] = {
    {"count", T_PYSSIZET, offsetof(sn_entry, count), READONLY, "Parameters."},
    {"block", T_UINT, offsetof(sn_entry, block), READONLY, "Threads of a block on a GPU."},
    {"dims", T_INT, offsetof(sn_entry, dims), READONLY, "Coordinates that a thread has; 0: it asks for none."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_entry_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Entry",
    .tp_doc = "Entry(address, params, dims, owner, prints=False, stops=True, reports=None, block=0, "
              "pairs_from=never, most_blocks=what CUDA lets a launch have): a compiled kernel; a parameter is (name, ndim or 0 if by value, layout, element, whether the kernel writes it).",
    .tp_basicsize = sizeof(sn_entry),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = entry_new,
    .tp_dealloc = (destructor)entry_dealloc,
    .tp_traverse = (traverseproc)entry_traverse,
    .tp_methods = entry_methods,
    .tp_members = entry_members,
};

/* Waits only where there may be something to tell: the rest of a launch's kind are told to the GPU, and run on their own. */
static void run_on_gpu(const sn_entry *entry, int64_t threads, void *args, sn_error *error)
{
    sn_reports_object *owner = entry->reports;
    const bool waits = entry->stops || entry->prints;
    const sn_launch launch = {entry->kernel, args, threads, entry->block, entry->pairs_from, entry->most_blocks};
    PyThreadState *state = NULL;
    void *before;
    if (waits) {
        state = PyEval_SaveThread();
        pthread_mutex_lock(&owner->lock);
    }
    sn_result result = sn_gpu_enter(&owner->reports, &before);
    if (result == 0) {
        if (waits) result = sn_gpu_begin(&owner->reports);
        if (result == 0) result = sn_gpu_launch(&owner->reports, &launch, 0);
        if (result == 0 && waits) result = sn_gpu_finish(&owner->reports, 1, error, error->prints);
        sn_gpu_leave(&owner->reports, before);
    }
    if (waits) {
        pthread_mutex_unlock(&owner->lock);
        PyEval_RestoreThread(state);
    }
    if (result != 0) sn_error_lost(error, result);
}

/* The block and what keeps its arrays are on this call's stack, so launches may overlap and nest. */
static sn_reason run(const sn_entry *entry, PyObject *const *args, sn_error *error, Py_ssize_t *position)
{
    uint64_t block[entry->block_words];
    PyObject *held[entry->count + 1];
    memset(block, 0, sizeof block);
    memset(held, 0, sizeof held);

    sn_dims dims;
    *position = -1;
    sn_reason reason = sn_read_dims(args[1], &dims);
    if (reason == SN_FITS) reason = sn_pack(entry, &dims, args[2], args[3], block, held, position);
    for (Py_ssize_t i = 0; reason == SN_FITS && i < entry->count; i++) {
        if (held[i] == NULL || !PyObject_TypeCheck(held[i], &sn_cell_type)) continue;
        reason = SN_CELL;
        *position = i;
    }
    if (reason == SN_FITS && entry->reports != NULL) {
        run_on_gpu(entry, dims.threads, block, error);
    } else if (reason == SN_FITS) {
        PyThreadState *state = sn_is_long(sn_touched(entry, dims.threads)) ? PyEval_SaveThread() : NULL;
        entry->kernel(0, dims.threads, block, error);
        if (state != NULL) PyEval_RestoreThread(state);
    }
    for (Py_ssize_t i = 0; i < entry->count; i++) Py_XDECREF(held[i]);
    return reason;
}

static PyObject *launch(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs != 4 || !PyObject_TypeCheck(args[0], &sn_entry_type)) {
        PyErr_SetString(PyExc_TypeError, "launch(entry, dim, inputs, outputs)");
        return NULL;
    }
    sn_entry *entry = (sn_entry *)args[0];
    sn_error error = {0};
    if (entry->prints && (error.prints = sn_prints_new()) == NULL) return NULL;
    Py_ssize_t position;
    sn_reason reason = run(entry, args, &error, &position);
    if (reason == SN_LAYOUT) {
        sn_entry *variant = sn_variant(entry, args[2], args[3]);
        if (variant != NULL) reason = run(entry = variant, args, &error, &position);
    }
    const int failed = reason == SN_FITS ? sn_prints_show(error.prints, (PyObject *)entry) : 0;
    PyMem_Free(error.prints);
    if (reason != SN_FITS) return sn_refuse(reason, position);
    if (failed) return NULL;
    if (error.code == 0) Py_RETURN_NONE;
    return Py_BuildValue("OILLL", entry, error.site, (long long)error.thread, (long long)error.index,
                         (long long)error.length);
}

static PyMethodDef functions[] = {
    {"launch", (PyCFunction)(void (*)(void))launch, METH_FASTCALL,
     "launch(entry, dim, inputs, outputs) -> None, or (entry, site, thread, index, length) of the thread that stopped "
     "itself."},
    {NULL, NULL, 0, NULL},
};

int sn_add_entry(PyObject *module)
{
    if (sn_add_argument(module) < 0 || sn_add_array(module) < 0 || sn_add_plan(module) < 0 || sn_add_reports(module) < 0) return -1;
    if (PyModule_AddType(module, &sn_entry_type) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
