/* What the launch files of sim_node._native share: element types, arrays, cells, entries, and the check of one argument.
 *
 * A fault in the arguments is a reason and a position, raised as Refusal(position, reason); runtime/refusal.py knows the
 * kernel and the values and says it in words. So the check is here, once, and the prose is there, once.
 */
#ifndef SIM_NODE_ENTRY_H
#define SIM_NODE_ENTRY_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"

enum { SN_BOOL, SN_I32, SN_U32, SN_I64, SN_U64, SN_F32, SN_F64, SN_CODES }; /* dtypes.Scalar.code */
enum { SN_MAX_NDIM = 4 };

extern const uint8_t sn_scalar_size[SN_CODES];

typedef struct {
    uint8_t code;
    uint8_t ndim; /* 0: passed by value */
    uint16_t components;
} sn_type;

static inline size_t sn_element_size(sn_type type) { return (size_t)sn_scalar_size[type.code] * type.components; }

/* Reads (code, components, ndim) into a type; -1 with ValueError set when they make none. */
int sn_type_set(sn_type *type, int code, int components, int ndim);

/* Memory of elements with an owner that keeps it. */
typedef struct {
    PyObject_HEAD
    sn_type type;
    int64_t shape[SN_MAX_NDIM];
    Py_buffer memory;
    Py_ssize_t extents[SN_MAX_NDIM + 1], strides[SN_MAX_NDIM + 1]; /* as a buffer: a vector adds an axis */
} sn_array;

/* An argument whose address is set from run to run. */
typedef struct {
    PyObject_HEAD
    sn_type type;
    int64_t shape[SN_MAX_NDIM];
} sn_cell;

typedef struct {
    sn_type type;
    bool written;
    uint32_t offset; /* in the argument block */
} sn_param;

/* A compiled kernel with the parameters that its argument block holds. */
typedef struct {
    PyObject_HEAD
    sn_kernel kernel;
    PyObject *owner; /* keeps the code mapped */
    sn_param *params;
    Py_ssize_t count;
    uint32_t block_words; /* 8 bytes each */
    uint32_t touched;     /* bytes of one element of each array: what a thread touches at least */
} sn_entry;

extern PyTypeObject sn_array_type, sn_cell_type, sn_entry_type, sn_plan_type;

typedef enum {
    SN_FITS,
    SN_RAISED, /* a Python exception is set */
    SN_COUNT,
    SN_SEQUENCE,
    SN_DIM,
    SN_KIND,
    SN_DTYPE,
    SN_SHAPE,
    SN_LAYOUT,
    SN_ALIGNMENT,
    SN_READONLY,
    SN_EXTENT,
    SN_RANGE,
    SN_LENGTH,
    SN_CELL,
    SN_UNKNOWN,
    SN_UNPOINTED,
    SN_UNFROZEN,
    SN_FROZEN,
    SN_RUNNING,
} sn_reason;

/* Adds Refusal and looks up the numpy types that the checks need. */
int sn_add_argument(PyObject *module);

/* Raises Refusal(position, reason), unless an exception is set already; returns NULL. */
PyObject *sn_refuse(sn_reason reason, Py_ssize_t position);

/* The memory of an array, a cell or any buffer, checked against a type; `held` is what keeps it, a new reference. */
sn_reason sn_memory(sn_type type, PyObject *value, bool written, void **data, int64_t *shape, PyObject **held);

/* A launch's dim: an int or a sequence of one. */
sn_reason sn_dim(PyObject *value, int64_t *dim);

/* Fills the zeroed argument block from inputs, then outputs; held[i] is what keeps the memory of array i, else NULL.
 *
 * Sets `position` to the argument at fault, or for SN_COUNT to the number given.
 */
sn_reason sn_pack(const sn_entry *entry, PyObject *inputs, PyObject *outputs, void *block, PyObject **held,
                  Py_ssize_t *position);

/* Whether work is long enough to let other Python threads run meanwhile.
 *
 * Giving the GIL up costs little, but taking it back from a busy thread can cost a whole switch interval (5 ms), so a
 * launch that is over in microseconds keeps it. The measure is the memory touched if each thread takes one element of
 * each array: 256 KiB, some 10 µs at the speed of memory.
 */
static inline bool sn_is_long(int64_t touched) { return touched >= (int64_t)256 << 10; }

int sn_add_plan(PyObject *module); /* plan_object.c */
int sn_add_array(PyObject *module); /* array_object.c: Array, Cell */

#endif
