/* Plan: launches recorded with their arguments packed, run in order by one call. */
#define PY_SSIZE_T_CLEAN
#include "plan_object.h"

#include <string.h>
#include <structmember.h>
#include <stddef.h>

#include "entry.h"
#include "prints.h"
#include "trace_object.h"

static PyObject *plan_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs; /* for the __init__ of a subclass */
    sn_plan_object *self = (sn_plan_object *)cls->tp_alloc(cls, 0);
    if (self == NULL) return NULL;
    self->entries = PyList_New(0);
    self->kept = PyList_New(0);
    self->cells = PyList_New(0);
    self->targets = PyList_New(0);
    if (!self->entries || !self->kept || !self->cells || !self->targets) Py_CLEAR(self);
    return (PyObject *)self;
}

static int plan_traverse(sn_plan_object *self, visitproc visit, void *arg)
{
    Py_VISIT(self->entries);
    Py_VISIT(self->kept);
    Py_VISIT(self->cells);
    Py_VISIT(self->targets);
    return 0;
}

/* No tp_clear: whoever holds the plan may run it. */
static void plan_dealloc(sn_plan_object *self)
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

static Py_ssize_t cell_number(const sn_plan_object *self, const PyObject *cell)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->cells); i++)
        if (PyList_GET_ITEM(self->cells, i) == cell) return i;
    return -1;
}

/* The number of a cell, given on its first appearance; -1 with an exception set. */
static Py_ssize_t number_cell(sn_plan_object *self, PyObject *cell)
{
    const Py_ssize_t known = cell_number(self, cell);
    if (known >= 0) return known;
    if (grow(&self->plan.cells, sizeof *self->plan.cells, self->plan.cell_count, 1) < 0) return -1;
    if (PyList_Append(self->targets, Py_None) < 0 || PyList_Append(self->cells, cell) < 0) return -1;
    self->plan.cells[self->plan.cell_count] = NULL;
    return self->plan.cell_count++;
}

/* Adds a checked launch; takes over the block when it returns 0. */
static int add_launch(sn_plan_object *self, sn_entry *entry, int64_t threads, unsigned char *block, PyObject **held)
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
    plan->launches[plan->launch_count++] = (sn_launch){
        entry->kernel, block, threads, entry->block, entry->pairs_from, entry->most_blocks,
    };
    self->device = entry->device;
    if (__builtin_add_overflow(self->touched, sn_touched(entry, threads), &self->touched)) self->touched = INT64_MAX;
    return 0;
}

static sn_reason record(sn_plan_object *self, sn_entry *entry, PyObject *const *args, Py_ssize_t *position)
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

static PyObject *plan_record(sn_plan_object *self, PyObject *const *args, Py_ssize_t nargs)
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

static PyObject *plan_end(sn_plan_object *self, PyObject *args)
{
    sn_plan *plan = &self->plan;
    unsigned rounds = 1;
    PyObject *reports = NULL, *graph = NULL;
    unsigned long long exec = 0, cells = 0, marks = 0;
    unsigned mark_count = 0;
    if (!PyArg_ParseTuple(args, "|IO!KKKIO", &rounds, &sn_reports_type, &reports, &exec, &cells, &marks, &mark_count, &graph))
        return NULL;
    if (self->frozen || rounds == 0) return sn_refuse(SN_FROZEN, -1);
    const size_t size = sizeof *plan->cells;
    if (graph != NULL) {
        if (PyList_Append(self->kept, graph) < 0) return NULL;
        self->reports = (sn_reports_object *)Py_NewRef(reports);
        plan->reports = &self->reports->reports;
        plan->graph = (void *)(uintptr_t)exec;
        plan->marks = (const sn_mark *)(uintptr_t)marks;
        plan->mark_count = mark_count;
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

static PyObject *plan_leave(sn_plan_object *self, PyObject *trace)
{
    if (!PyObject_TypeCheck(trace, &sn_trace_type)) return PyErr_Format(PyExc_TypeError, "leave(trace)");
    if (self->running) return sn_refuse(SN_RUNNING, -1);
    if (PyList_Append(self->kept, trace) < 0) return NULL;
    self->plan.trace = &((sn_trace_object *)trace)->trace;
    Py_RETURN_NONE;
}

static PyObject *plan_point(sn_plan_object *self, PyObject *const *args, Py_ssize_t nargs)
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

static PyObject *plan_run(sn_plan_object *self, PyObject *ignored)
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

static PyObject *plan_cells(sn_plan_object *self, void *closure)
{
    (void)closure;
    return PyList_AsTuple(self->cells);
}

static PyMethodDef plan_methods[] = {
    {"record", (PyCFunction)(void (*)(void))plan_record, METH_FASTCALL,
     "record(entry, dim, inputs, outputs): check, pack and record."},
    {"packed", (PyCFunction)sn_plan_packed, METH_O,
     "packed(addresses) -> per launch (kernel, threads, threads in a block, from how many on they run in pairs, how many "
     "blocks run at once at most, bytes of its argument block), where a GPU finds what is in each cell at the address given for that."},
    {"end", (PyCFunction)plan_end, METH_VARARGS,
     "end(rounds=1, reports, exec, cells, marks, mark_count, graph): end recording. A plan of a GPU needs the graph of all "
     "its rounds, with reports for each launch of each, the address of the host's for the rows of cells that it reads, and "
     "that of its marks where it is traced; all live as long as `graph`."},
    {"leave", (PyCFunction)plan_leave, METH_O, "leave(trace): leave spans of what its launches take from now on."},
    {"point", (PyCFunction)(void (*)(void))plan_point, METH_FASTCALL, "point(cell, array): set the address of a cell."},
    {"run", (PyCFunction)plan_run, METH_NOARGS,
     "run() -> None, or (launch, site, thread, index, length) of the thread that stopped itself."},
    {"images", (PyCFunction)sn_plan_images, METH_NOARGS,
     "images() -> per launch the bytes of its argument block, addresses replaced by the order of first appearance."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef plan_getset[] = {
    {"cells", (getter)plan_cells, NULL, "The cells in the order of their numbers.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef plan_members[] = {
    {"frozen", T_BOOL, offsetof(sn_plan_object, frozen), READONLY, "Whether recording has ended."},
    {"host_ns", T_LONGLONG, offsetof(sn_plan_object, plan.host_ns), READONLY,
     "What the last run took until a GPU had it all and the host only waited; 0 on the host."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject sn_plan_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "sim_node._native.Plan",
    .tp_doc = "Plan(): launches that one call runs in order.",
    .tp_basicsize = sizeof(sn_plan_object),
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
    sn_plan_object *self = (sn_plan_object *)object;
    if (!self->frozen) {
        sn_refuse(SN_UNFROZEN, -1);
        return NULL;
    }
    return &self->plan;
}

int sn_plan_show(PyObject *object)
{
    return sn_prints_show(((sn_plan_object *)object)->plan.prints, object);
}

int sn_add_plan(PyObject *module) { return PyModule_AddType(module, &sn_plan_type); }
