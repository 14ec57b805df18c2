/* Where the elements of an array lie, and the descriptor that tells a kernel so: in an argument block, in a struct.
 *
 * A descriptor is C layout: the address of the data; an i32 extent a dimension; for strided and indexed arrays an i64
 * stride a dimension, in bytes; for indexed ones the address of a list of i32 indices a dimension, 0 where that
 * dimension is not indexed.
 */
#ifndef SIM_NODE_PLACE_H
#define SIM_NODE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SN_MAX_NDIM = 4 };

/* Each fits wherever the ones after it do. */
typedef enum { SN_CONTIGUOUS, SN_STRIDED, SN_INDEXED, SN_LAYOUTS } sn_layout;

typedef struct {
    char *address;
    int64_t shape[SN_MAX_NDIM], strides[SN_MAX_NDIM]; /* strides in bytes */
    void *index[SN_MAX_NDIM];
    uint8_t ndim, layout;
} sn_place;

static inline size_t sn_strides_offset(int ndim) { return 8 + ((size_t)ndim * 4 + 7) / 8 * 8; }

static inline size_t sn_descriptor_size(int ndim, sn_layout layout)
{
    return sn_strides_offset(ndim) + 8 * (size_t)ndim * layout;
}

/* Writes the descriptor of a place whose extents are below 2^31, in a layout that its own fits. */
static inline void sn_describe(const sn_place *place, sn_layout as, void *to)
{
    char *at = to;
    memcpy(at, &place->address, sizeof place->address);
    for (int i = 0; i < place->ndim; i++) memcpy(at + 8 + 4 * i, &(int32_t){(int32_t)place->shape[i]}, 4);
    if (as == SN_CONTIGUOUS) return;
    at += sn_strides_offset(place->ndim);
    memcpy(at, place->strides, 8 * (size_t)place->ndim);
    if (as == SN_INDEXED) memcpy(at + 8 * place->ndim, place->index, 8 * (size_t)place->ndim);
}

static inline int64_t sn_count(const sn_place *place)
{
    int64_t count = 1;
    for (int i = 0; i < place->ndim; i++) count *= place->shape[i];
    return count;
}

/* Sets strides and layout of elements of `size` bytes in C order; false where their bytes do not fit an i64. */
static inline bool sn_place_in_order(sn_place *place, int64_t size)
{
    int64_t total = size;
    place->layout = SN_CONTIGUOUS;
    for (int i = place->ndim - 1; i >= 0; i--) {
        place->strides[i] = total;
        if (__builtin_mul_overflow(total, place->shape[i], &total)) return false;
        if (place->shape[i] == 0) total = 0;
    }
    return true;
}

/* Whether the elements follow each other in C order; a dimension of one element has no say. */
static inline bool sn_is_contiguous(const sn_place *place, int64_t size)
{
    int64_t wanted = size;
    bool in_order = true;
    for (int i = place->ndim - 1; i >= 0; i--) {
        if (place->shape[i] == 0) return true;
        in_order &= place->shape[i] == 1 || place->strides[i] == wanted;
        if (__builtin_mul_overflow(wanted, place->shape[i], &wanted)) return false;
    }
    return in_order;
}

/* The bytes that elements of `size` bytes take, from `low` to `high` relative to the address; false on overflow. */
static inline bool sn_reach(const sn_place *place, int64_t size, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int i = 0; i < place->ndim; i++)
        if (place->shape[i] == 0) return true;
    for (int i = 0; i < place->ndim; i++) {
        int64_t span, *end = place->strides[i] < 0 ? low : high;
        if (__builtin_mul_overflow(place->shape[i] - 1, place->strides[i], &span)) return false;
        if (__builtin_add_overflow(*end, span, end)) return false;
    }
    return !__builtin_add_overflow(*high, size, high);
}

/* Whether every element is aligned, by the address and the strides that matter. */
static inline bool sn_is_aligned(const sn_place *place, int64_t align)
{
    if ((uintptr_t)place->address % (uintptr_t)align != 0) return false;
    for (int i = 0; i < place->ndim; i++)
        if (place->shape[i] > 1 && place->strides[i] % align != 0) return false;
    return true;
}

#endif
