/* The argument blocks of a plan's launches, as others need them: for a GPU's graph, and as images for digests. */
#define PY_SSIZE_T_CLEAN
#include "plan_object.h"

#include <stddef.h>
#include <string.h>

#include "entry.h"

/* One launch as a GPU's graph takes it, with marked addresses of cells in place of what they hold. */
static PyObject *packed(const sn_plan_object *self, uint32_t at, uint32_t *patch, PyObject *addresses)
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
    return Py_BuildValue("KLILIN", (unsigned long long)kernel, (long long)launch->threads, launch->block,
                         (long long)launch->pairs_from, launch->most_blocks, block);
}

PyObject *sn_plan_packed(sn_plan_object *self, PyObject *addresses)
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

/* The number of an address among those seen, counted from 0 in the order of their first appearance. */
static uint64_t appearance(void **seen, uint64_t *count, void *address)
{
    for (uint64_t i = 0; i < *count; i++)
        if (seen[i] == address) return i;
    seen[*count] = address;
    return (*count)++;
}

/* An image is a copy of the block with its addresses replaced: cell n by 2n + 1, the m-th address by 2m. */
static int append_images(sn_plan_object *self, PyObject *images, void **seen)
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

PyObject *sn_plan_images(sn_plan_object *self, PyObject *ignored)
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
