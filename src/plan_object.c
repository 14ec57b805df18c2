/* Plan: launches recorded with their arguments packed, run in order by one call. */
#define PY_SSIZE_T_CLEAN
#include "plan_object.h"

#include <string.h>
#include <structmember.h>
#include <stddef.h>

#include "entry.h"
#include "prints.h"

typedef struct {
    PyObject_HEAD
    sn_plan plan;
    PyObject *entries; /* one a launch */
    PyObject *kept;    /* owners of the memory that argument blocks point into */
    PyObject *cells;   /* in the order of their numbers */
    PyObject *targets; /* the array that each cell points at, or None */
    PyObject *device;  /* that the launches run on, borrowed from their entries; NULL: the host */
    sn_reports_object *reports; /* of a GPU */
    int64_t touched;
    char frozen, running;
} plan_object;

static PyObject *plan_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs; /* for the __init__ of a subclass */
    plan_object *self = (plan_object *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->entries = PyList_New(0);
    self->kept = PyList_New(0);
    self->cells = PyList_New(0);
    self->targets = PyList_New(0);
    if (!self->entries || !self->kept || !self->cells || !self->targets) Py_CLEAR(self);
    return (PyObject *)self;
}

static int plan_traverse(plan_object *self, visitproc visit, void *arg)
{
    Py_VISIT(self->entries);
    Py_VISIT(self->kept);
    Py_VISIT(self->cells);
    Py_VISIT(self->targets);
    return 0;
}

/* No tp_clear: whoever holds the plan may run it. */
static void plan_dealloc(plan_object *self)
{
    PyObject_GC_UnTrack(self);
    for (uint32_t i = 0; i < self->plan.launch_count; i++) PyMem_Free(self->plan.launches[i].args);
    PyMem_Free(self->plan.launches);
    PyMem_Free(self->plan.patches);
    if (self->reports == NULL) PyMem_Free(self->plan.cells);
    PyMem_Free(self->plan.prints);
    Py_XDECREF(self->entries);
    Py_XDECREF(self->kept);
    Py_XDECREF(self->cells);
    Py_XDECREF(self->targets);
    Py_XDECREF(self->reports);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Makes room for `more` items; a plan is built once, so exact growth is enough. */
static int grow(void *items, size_t size, uint32_t count, Py_ssize_t more)
{
    void *old, *grown;
    memcpy(&old, items, sizeof old);
    grown = PyMem_Realloc(old, size * (count + (size_t)more + 1));
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(items, &grown, sizeof grown);
    return 0;
}

static Py_ssize_t cell_number(const plan_object *self, const PyObject *cell)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->cells); i++)
        if (PyList_GET_ITEM(self->cells, i) == cell) return i;
    return -1;
}

/* The number of a cell, given on its first appearance; -1 with an exception set. */
static Py_ssize_t number_cell(plan_object *self, PyObject *cell)
{
    const Py_ssize_t known = cell_number(self, cell);
    if (known >= 0) return known;
    if (grow(&self->plan.cells, sizeof *self->plan.cells, self->plan.cell_count, 1) < 0) return -1;
    if (PyList_Append(self->targets, Py_None) < 0 || PyList_Append(self->cells, cell) < 0) return -1;
    self->plan.cells[self->plan.cell_count] = NULL;
    return self->plan.cell_count++;
}

/* Adds a checked launch; takes over the block when it returns 0. */
static int add_launch(plan_object *self, sn_entry *entry, int64_t threads, unsigned char *block, PyObject **held)
{
    sn_plan *plan = &self->plan;
    if (grow(&plan->launches, sizeof *plan->launches, plan->launch_count, 1) < 0) return -1;
    if (grow(&plan->patches, sizeof *plan->patches, plan->patch_count, entry->count) < 0) return -1;
    if (entry->prints && plan->prints == NULL && (plan->prints = sn_prints_new()) == NULL) return -1;
    uint32_t patch_count = plan->patch_count;
    for (Py_ssize_t i = 0; i < entry->count; i++) {
        if (held[i] == NULL) continue;
        if (!PyObject_TypeCheck(held[i], &sn_cell_type)) {
            if (PyList_Append(self->kept, held[i]) < 0) return -1;
            continue;
        }
        const Py_ssize_t number = number_cell(self, held[i]);
        if (number < 0) return -1;
        plan->patches[patch_count++] = (sn_patch){(void **)(void *)(block + entry->params[i].offset), (uint32_t)number};
    }
    if (PyList_Append(self->entries, (PyObject *)entry) < 0) return -1;
    plan->patch_count = patch_count;
    plan->launches[plan->launch_count++] = (sn_launch){entry->kernel, block, threads, entry->block};
    self->device = entry->device;
    if (__builtin_add_overflow(self->touched, sn_touched(entry, threads), &self->touched)) self->touched = INT64_MAX;
    return 0;
}

static sn_reason record(plan_object *self, sn_entry *entry, PyObject *const *args, Py_ssize_t *position)
{
    sn_dims dims;
    *position = -1;
    sn_reason reason = sn_read_dims(args[1], &dims);
    if (reason != SN_FITS) return reason;
    unsigned char *block = PyMem_Calloc(entry->block_words, 8);
    PyObject **held = PyMem_Calloc((size_t)entry->count + 1, sizeof *held);
    if (block == NULL || held == NULL) {
        PyErr_NoMemory();
        reason = SN_RAISED;
    }
    if (reason == SN_FITS) reason = sn_pack(entry, &dims, args[2], args[3], block, held, position);
    if (reason == SN_FITS && add_launch(self, entry, dims.threads, block, held) < 0) reason = SN_RAISED;
    for (Py_ssize_t i = 0; held != NULL && i < entry->count; i++) Py_XDECREF(held[i]);
    PyMem_Free(held);
    if (reason != SN_FITS) PyMem_Free(block);
    return reason;
}

static PyObject *plan_record(plan_object *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 4 || !PyObject_TypeCheck(args[0], &sn_entry_type)) {
        PyErr_SetString(PyExc_TypeError, "record(entry, dim, inputs, outputs)");
        return NULL;
    }
    if (self->frozen) return sn_refuse(SN_FROZEN, -1);
    sn_entry *entry = (sn_entry *)args[0];
    Py_ssize_t position;
    sn_reason reason = record(self, entry, args, &position);
    if (reason == SN_LAYOUT) {
        sn_entry *variant = sn_variant(entry, args[2], args[3]);
        if (variant != NULL) reason = record(self, entry = variant, args, &position);
    }
    return reason == SN_FITS ? Py_NewRef(entry) : sn_refuse(reason, position);
}

/* One launch as a GPU's graph takes it, with marked addresses of cells in place of what they hold. */
static PyObject *packed(const plan_object *self, uint32_t at, uint32_t *patch, PyObject *addresses)
{
    const sn_plan *plan = &self->plan;
    const sn_launch *launch = &plan->launches[at];
    const sn_entry *entry = (const sn_entry *)PyList_GET_ITEM(self->entries, at);
    const Py_ssize_t size = (Py_ssize_t)entry->block_words * 8;
    PyObject *block = PyBytes_FromStringAndSize(launch->args, size);
    if (block == NULL) return NULL;
    for (; *patch < plan->patch_count; ++*patch) {
        const ptrdiff_t word = (const char *)plan->patches[*patch].at - (const char *)launch->args;
        if (word < 0 || word >= size) break; /* the next launch's */
        uint64_t address = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(addresses, plan->patches[*patch].cell));
        if (PyErr_Occurred()) break;
        address |= SN_IN_CELL;
        memcpy(PyBytes_AS_STRING(block) + word, &address, sizeof address);
    }
    if (PyErr_Occurred()) {
        Py_DECREF(block);
        return NULL;
    }
    uint64_t kernel;
    memcpy(&kernel, &launch->kernel, sizeof kernel);
    return Py_BuildValue("KLIN", (unsigned long long)kernel, (long long)launch->threads, launch->block, block);
}

static PyObject *plan_packed(plan_object *self, PyObject *addresses)
{
    if (!PyTuple_Check(addresses) || PyTuple_GET_SIZE(addresses) != (Py_ssize_t)self->plan.cell_count) {
        PyErr_Format(PyExc_TypeError, "packed(the addresses of %u cells)", self->plan.cell_count);
        return NULL;
    }
    PyObject *all = PyTuple_New(self->plan.launch_count);
    uint32_t patch = 0;
    for (uint32_t at = 0; all != NULL && at < self->plan.launch_count; at++) {
        PyObject *one = packed(self, at, &patch, addresses);
        if (one == NULL) Py_CLEAR(all);
        else PyTuple_SET_ITEM(all, at, one);
    }
    return all;
}

static PyObject *plan_end(plan_object *self, PyObject *args)
{
    sn_plan *plan = &self->plan;
    unsigned rounds = 1;
    PyObject *reports = NULL, *graph = NULL;
    unsigned long long exec = 0, cells = 0;
    if (!PyArg_ParseTuple(args, "|IO!KKO", &rounds, &sn_reports_type, &reports, &exec, &cells, &graph)) return NULL;
    if (self->frozen || rounds == 0) return sn_refuse(SN_FROZEN, -1);
    const size_t size = sizeof *plan->cells;
    if (graph != NULL) {
        if (PyList_Append(self->kept, graph) < 0) return NULL;
        self->reports = (sn_reports_object *)Py_NewRef(reports);
        plan->reports = &self->reports->reports;
        plan->graph = (void *)(uintptr_t)exec;
        plan->run = sn_gpu_run;
        PyMem_Free(plan->cells);
        plan->cells = (void **)(uintptr_t)cells;
    } else if (grow(&plan->cells, size, 0, SN_ROWS * (Py_ssize_t)plan->cell_count) < 0) {
        return NULL;
    }
    memset(plan->cells, 0, size * SN_ROWS * plan->cell_count);
    plan->rounds = rounds;
    self->frozen = 1;
    Py_RETURN_NONE;
}

static PyObject *plan_point(plan_object *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "point(cell, array)");
        return NULL;
    }
    const Py_ssize_t number = cell_number(self, args[0]);
    if (number < 0) return sn_refuse(SN_UNKNOWN, -1);
    const sn_cell *cell = (const sn_cell *)args[0];
    const sn_type type = {cell->element, cell->place.ndim, SN_CONTIGUOUS};
    sn_place place;
    PyObject *held;
    /* Any launch may write through the cell, so its memory must be writeable. */
    sn_reason reason = sn_memory(type, args[1], (sn_access){self->device, true}, &place, &held);
    if (reason != SN_FITS) return sn_refuse(reason, number);
    if (PyObject_TypeCheck(held, &sn_cell_type)) reason = SN_CELL;
    else if (place.layout != SN_CONTIGUOUS) reason = SN_LAYOUT;
    for (int i = 0; reason == SN_FITS && i < type.ndim; i++)
        if (place.shape[i] != cell->place.shape[i]) reason = SN_SHAPE;
    if (reason == SN_FITS && !self->frozen) reason = SN_UNFROZEN;
    if (reason == SN_FITS && self->running) reason = SN_RUNNING;
    if (reason != SN_FITS) {
        Py_DECREF(held);
        return sn_refuse(reason, number);
    }
    self->plan.cells[number] = place.address;
    if (PyList_SetItem(self->targets, number, held) < 0) return NULL; /* takes over held */
    Py_RETURN_NONE;
}

static PyObject *plan_run(plan_object *self, PyObject *ignored)
{
    (void)ignored;
    sn_plan *plan = &self->plan;
    if (!self->frozen) return sn_refuse(SN_UNFROZEN, -1);
    if (self->running) return sn_refuse(SN_RUNNING, -1);
    for (uint32_t i = 0; i < plan->cell_count; i++)
        if (plan->cells[i] == NULL) return sn_refuse(SN_UNPOINTED, i);
    sn_error error = {0};
    self->running = 1; /* without the GIL another thread could point a cell elsewhere and free what this run uses */
    PyThreadState *state = plan->run != NULL || sn_is_long(self->touched) ? PyEval_SaveThread() : NULL;
    const uint32_t at = sn_plan_run(plan, &error);
    if (state != NULL) PyEval_RestoreThread(state);
    self->running = 0;
    if (sn_prints_show(self->plan.prints, (PyObject *)self) < 0) return NULL;
    if (error.code == 0) Py_RETURN_NONE;
    return Py_BuildValue("IILLL", at, error.site, (long long)error.thread, (long long)error.index,
                         (long long)error.length);
}

/* The number of an address among those seen, counted from 0 in the order of their first appearance. */
static uint64_t appearance(void **seen, uint64_t *count, void *address)
{
    for (uint64_t i = 0; i < *count; i++)
        if (seen[i] == address) return i;
    seen[*count] = address;
    return (*count)++;
}

/* An image is a copy of the block with its addresses replaced: cell n by 2n + 1, the m-th address by 2m. */
static int append_images(plan_object *self, PyObject *images, void **seen)
{
    uint64_t seen_count = 0;
    uint32_t patch = 0;
    for (uint32_t at = 0; at < self->plan.launch_count; at++) {
        const char *const block = self->plan.launches[at].args;
        const sn_entry *entry = (const sn_entry *)PyList_GET_ITEM(self->entries, at);
        PyObject *image = PyBytes_FromStringAndSize(block, (Py_ssize_t)entry->block_words * 8);
        if (image == NULL) return -1;
        for (uint32_t i = 0; i < entry->pointer_count; i++) {
            const char *const original = block + entry->pointers[i];
            uint64_t binding;
            if (patch < self->plan.patch_count && (const char *)self->plan.patches[patch].at == original) {
                binding = 2 * (uint64_t)self->plan.patches[patch++].cell + 1;
            } else {
                void *address;
                memcpy(&address, original, sizeof address);
                binding = 2 * appearance(seen, &seen_count, address);
            }
            memcpy(PyBytes_AS_STRING(image) + entry->pointers[i], &binding, sizeof binding);
        }
        const int failed = PyList_Append(images, image);
        Py_DECREF(image);
        if (failed) return -1;
    }
    return 0;
}

static PyObject *plan_images(plan_object *self, PyObject *ignored)
{
    (void)ignored;
    size_t count = 1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->entries); i++)
        count += ((const sn_entry *)PyList_GET_ITEM(self->entries, i))->pointer_count;
    void **seen = PyMem_Calloc(count, sizeof *seen);
    if (seen == NULL) return PyErr_NoMemory();
    PyObject *images = PyList_New(0);
    if (images != NULL && append_images(self, images, seen) < 0) Py_CLEAR(images);
    PyMem_Free(seen);
    return images;
}

static PyObject *plan_cells(plan_object *self, void *closure)
{
    (void)closure;
    return PyList_AsTuple(self->cells);
}

static PyMethodDef plan_methods[] = {
    {"record", (PyCFunction)(void (*)(void))plan_record, METH_FASTCALL,
     "record(entry, dim, inputs, outputs): check, pack and record."},
    {"packed", (PyCFunction)plan_packed, METH_O,
     "packed(addresses) -> per launch (kernel, threads, threads in a block, bytes of its argument block), where a GPU finds "
     "what is in each cell at the address given for that."},
    {"end", (PyCFunction)plan_end, METH_VARARGS,
     "end(rounds=1, reports, exec, cells, graph): end recording. A plan of a GPU needs the graph of all its rounds, with "
     "reports for each launch of each, and the address of the host's for the rows of cells that it reads; both live as "
     "long as `graph`."},
    {"point", (PyCFunction)(void (*)(void))plan_point, METH_FASTCALL, "point(cell, array): set the address of a cell."},
    {"run", (PyCFunction)plan_run, METH_NOARGS,
     "run() -> None, or (launch, site, thread, index, length) of the thread that stopped itself."},
    {"images", (PyCFunction)plan_images, METH_NOARGS,
     "images() -> per launch the bytes of its argument block, addresses replaced by the order of first appearance."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef plan_getset[] = {
    {"cells", (getter)plan_cells, NULL, "The cells in the order of their numbers.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef plan_members[] = {
    {"frozen", T_BOOL, offsetof(plan_object, frozen), READONLY, "Whether recording has ended."},
    {"host_ns", T_LONGLONG, offsetof(plan_object, plan.host_ns), READONLY,
     "What the last run took until a GPU had it all and the host only waited; 0 on the host."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_plan_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Plan",
    .tp_doc = "Plan(): launches that one call runs in order.",
    .tp_basicsize = sizeof(plan_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = plan_new,
    .tp_dealloc = (destructor)plan_dealloc,
    .tp_traverse = (traverseproc)plan_traverse,
    .tp_methods = plan_methods,
    .tp_getset = plan_getset,
    .tp_members = plan_members,
};

sn_plan *sn_plan_of(PyObject *object)
{
    if (!PyObject_TypeCheck(object, &sn_plan_type)) {
        PyErr_Format(PyExc_TypeError, "expected a Plan, not %s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    plan_object *self = (plan_object *)object;
    if (!self->frozen) {
        sn_refuse(SN_UNFROZEN, -1);
        return NULL;
    }
    return &self->plan;
}

int sn_plan_show(PyObject *object)
{
    return sn_prints_show(((plan_object *)object)->plan.prints, object);
}

int sn_add_plan(PyObject *module) { return PyModule_AddType(module, &sn_plan_type); }
