/* What the launch files of sim_node._native share: elements, arrays, cells, entries, and the check of arguments.
 *
 * A fault in the arguments is a reason and a position, raised as Refusal(position, reason); runtime/refusal.py knows the
 * kernel and the values and says it in words. So the check is here, once, and the prose is there, once.
 */
#ifndef SIM_NODE_ENTRY_H
#define SIM_NODE_ENTRY_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "plan.h"
#include "reports_object.h"

/* dtypes.Scalar.code; then the address in an array's descriptor, and what is not of one scalar: a struct */
enum {
    SN_BOOL, SN_I32, SN_U32, SN_I64, SN_U64, SN_F32, SN_F64, SN_F16, SN_I8, SN_U8, SN_I16, SN_U16,
    SN_SCALARS, SN_STRUCT = 255
};
enum { SN_MAX_AXES = 2 }; /* of numpy, for the components of one element */

extern const uint8_t sn_scalar_size[SN_SCALARS];
extern const char *const sn_scalar_format[SN_SCALARS];

typedef struct sn_field sn_field;

/* An element type: made once for each type of the kernel language, so that equal types are one object. */
typedef struct {
    PyObject_HEAD
    PyObject *dtype; /* of the kernel language */
    PyObject *numpy; /* the numpy dtype of a component, or of a struct */
    PyObject *format; /* of a struct as a buffer: bytes */
    uint32_t size, align;
    uint8_t code; /* of every component */
    uint8_t axis_count;
    int32_t axes[SN_MAX_AXES], components; /* as numpy shows one element: (), (3,), (3, 3) */
    sn_field *fields; /* of a struct */
    Py_ssize_t field_count;
} sn_element;

typedef struct {
    sn_element *element;
    uint8_t ndim; /* 0: by value */
    uint8_t layout;
} sn_type;

/* A typed place in a block of bytes: a parameter in the argument block, or a field in a struct. */
struct sn_field {
    PyObject *name;
    sn_type type;
    uint32_t offset;
    bool written; /* a parameter that the kernel stores to */
};

/* Bytes that are no buffer of anybody's: of a device, which the host cannot read, or of the host, by their address. */
typedef struct {
    PyObject_HEAD
    char *address;
    Py_ssize_t nbytes;
    PyObject *device; /* NULL: the host */
    PyObject *owner;  /* keeps them, where it is another object's memory */
    char readonly;
} sn_memory_object;

/* Memory of elements with an owner that keeps it. */
typedef struct {
    PyObject_HEAD
    sn_element *element;
    PyObject *device; /* the owner's, borrowed; NULL: memory of the host */
    sn_place place;
    Py_buffer memory; /* of the owner: all that a view of this array may reach */
    Py_ssize_t extents[SN_MAX_NDIM + SN_MAX_AXES], strides[SN_MAX_NDIM + SN_MAX_AXES]; /* as a buffer */
} sn_array;

/* Elements of an array chosen by lists of indices, a list a dimension. */
typedef struct {
    PyObject_HEAD
    sn_array *base;
    PyObject *indices[SN_MAX_NDIM]; /* bytes; NULL: all of that dimension */
    PyObject *there; /* of an array of a device: a tuple with the memory of each list there; else NULL */
    sn_place place;
} sn_indexed;

/* An argument whose address is set from run to run. */
typedef struct {
    PyObject_HEAD
    sn_element *element;
    sn_place place;
} sn_cell;

/* A compiled kernel with the parameters that its argument block holds. */
typedef struct {
    PyObject_HEAD
    sn_kernel kernel;
    PyObject *owner;    /* keeps the code mapped */
    PyObject *variants; /* a list: the same kernel compiled for other layouts of its arrays */
    sn_field *params;
    Py_ssize_t count;
    uint32_t *pointers; /* offsets of the addresses in the block, in order */
    uint32_t pointer_count;
    uint32_t block_words; /* 8 bytes each */
    PyObject *device;     /* that it runs on, borrowed from its reports; NULL: the host */
    sn_reports_object *reports; /* of a GPU */
    uint32_t block;       /* of a GPU: threads in one */
    int64_t pairs_from;   /* of a GPU, as sn_launch has it */
    uint32_t most_blocks; /* likewise */
    uint32_t touched;     /* bytes of one element of each array: what a thread touches at least */
    bool prints, stops;
    int dims;             /* coordinates that a thread of it has; 0: it asks for none */
} sn_entry;

extern PyTypeObject sn_element_type, sn_array_type, sn_indexed_type, sn_cell_type, sn_memory_type, sn_entry_type,
    sn_plan_type;

typedef enum {
    SN_FITS,
    SN_RAISED, /* a Python exception is set */
    SN_COUNT,
    SN_SEQUENCE,
    SN_DIM,
    SN_COORDINATES,
    SN_KIND,
    SN_DTYPE,
    SN_SHAPE,
    SN_LAYOUT,
    SN_COMPONENTS,
    SN_DEVICE,
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

/* Raises Refusal(position, reason), unless an exception is set already; returns NULL. */
PyObject *sn_refuse(sn_reason reason, Py_ssize_t position);

/* The pending exception as a reason: one of the expected kind says what it is about, any other is passed on. */
sn_reason sn_pending(PyObject *expected, sn_reason reason);

/* number.c: a Python int with the value of an int or a numpy integer, a new reference; and one scalar from a number. */
sn_reason sn_integer(PyObject *value, PyObject **number);
sn_reason sn_pack_scalar(PyObject *value, int code, void *to);
int sn_add_number(PyObject *module);

/* element_object.c: reads a tuple of (name, ndim, layout, element, offset), or with an offset of -1 places each. */
int sn_fields(PyObject *rows, sn_field **fields, Py_ssize_t *count, uint32_t *size);
void sn_fields_free(sn_field *fields, Py_ssize_t count);
static inline uint32_t sn_type_size(sn_type type)
{
    return type.ndim > 0 ? (uint32_t)sn_descriptor_size(type.ndim, type.layout) : type.element->size;
}
/* Calls `visit` with the offset of each address in a block of fields. */
void sn_pointers(const sn_field *fields, Py_ssize_t count, uint32_t base, void (*visit)(void *, uint32_t), void *arg);
int sn_add_element(PyObject *module);

/* Who may read memory: a device (NULL: the host), and whether it may write it too. */
typedef struct {
    const PyObject *device;
    bool written;
} sn_access;

/* memory.c: the memory of an array, a cell or any buffer, checked against a type; `held` keeps it, a new reference.
 *
 * Whatever its layout: SN_LAYOUT is the caller's to find, by comparing place->layout with that of the type.
 */
sn_reason sn_memory(sn_type type, PyObject *value, sn_access access, sn_place *place, PyObject **held);

/* argument.c: the value of a field, checked and written into its block; `held` is what keeps its memory, else NULL. */
sn_reason sn_pack_field(const sn_field *field, PyObject *value, sn_access access, char *block, PyObject **held);
int sn_add_argument(PyObject *module);

/* The size of a launch: an int, or a sequence of one to four; the threads are numbered row-major. */
typedef struct {
    int32_t dim[SN_MAX_NDIM]; /* 1 where there are fewer */
    int count;
    int64_t threads;
} sn_dims;
sn_reason sn_read_dims(PyObject *value, sn_dims *dims);

/* Fills the zeroed argument block from inputs, then outputs; held[i] is what keeps the memory of argument i, else NULL.
 *
 * Sets `position` to the argument at fault, or for SN_COUNT to the number given.
 */
sn_reason sn_pack(const sn_entry *entry, const sn_dims *dims, PyObject *inputs, PyObject *outputs, void *block,
                  PyObject **held, Py_ssize_t *position);

/* How the array that is given for a parameter lies in memory: contiguous also where it does not fit at all. */
sn_layout sn_layout_of(const sn_entry *entry, Py_ssize_t param, PyObject *value);

/* The variant of a kernel for the layouts of these arguments, borrowed; NULL where there is none yet. */
sn_entry *sn_variant(const sn_entry *entry, PyObject *inputs, PyObject *outputs);

/* Whether work is long enough to let other Python threads run meanwhile.
 *
 * Giving the GIL up costs little, but taking it back from a busy thread can cost a whole switch interval (5 ms), so a
 * launch that is over in microseconds keeps it. The measure is the memory touched if each thread takes one element of
 * each array: 256 KiB, some 10 µs at the speed of memory; and where that is nothing, as many threads.
 */
static inline int64_t sn_touched(const sn_entry *entry, int64_t threads)
{
    int64_t touched;
    return __builtin_mul_overflow(threads, entry->touched + 1, &touched) ? INT64_MAX : touched;
}
static inline bool sn_is_long(int64_t touched) { return touched >= (int64_t)256 << 10; }

/* array_object.c: reads shapes and gives them back; -1 or NULL with an exception set. */
int sn_set_shape(sn_place *place, PyObject *shape, int64_t size);
PyObject *sn_integers(const int64_t *numbers, int count);
PyObject *sn_descriptor(const sn_place *place, PyObject *layout);

int sn_add_plan(PyObject *module);  /* plan_object.c */
int sn_add_array(PyObject *module); /* array_object.c */
int sn_add_cell(PyObject *module);  /* cell_object.c: Cell, Indexed */
int sn_add_memory(PyObject *module); /* memory_object.c */
int sn_add_dlpack(PyObject *module); /* dlpack.c: Tensor, lend */

#endif
