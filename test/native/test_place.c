/* Places against their definition, element by element: order, reach, alignment; and descriptors byte by byte. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "place.h"

/* Calls `visit` with the offset of each element in row-major order. */
static void each(const sn_place *place, void (*visit)(void *, int64_t), void *arg)
{
    const int64_t count = sn_count(place);
    for (int64_t at = 0; at < count; at++) {
        int64_t offset = 0, rest = at;
        for (int i = place->ndim - 1; i >= 0; i--) {
            offset += rest % place->shape[i] * place->strides[i];
            rest /= place->shape[i];
        }
        visit(arg, offset);
    }
}

typedef struct {
    const sn_place *place;
    int64_t low, high, expected, size;
    bool in_order, aligned;
} seen;

static void look(void *arg, int64_t offset)
{
    seen *s = arg;
    if (offset < s->low) s->low = offset;
    if (offset + s->size > s->high) s->high = offset + s->size;
    s->in_order &= offset == s->expected;
    s->expected += s->size;
    s->aligned &= ((uintptr_t)s->place->address + (uintptr_t)offset) % 4 == 0;
}

static void check_place(sn_place *place, int64_t size)
{
    seen s = {.place = place, .size = size, .in_order = true, .aligned = true};
    int64_t low, high;
    each(place, look, &s);
    CHECK(sn_reach(place, size, &low, &high));
    CHECK(sn_is_contiguous(place, size) == s.in_order);
    if (sn_count(place) == 0) return;
    CHECK(low == s.low && high == s.high);
    CHECK(sn_is_aligned(place, 4) == s.aligned);
}

static void check_overflow(void)
{
    sn_place place = {.ndim = 2, .shape = {INT64_MAX, 3}};
    int64_t low, high;
    CHECK(!sn_place_in_order(&place, 8));
    place.shape[0] = 0;
    CHECK(sn_place_in_order(&place, 8));
    place = (sn_place){.ndim = 2, .shape = {INT32_MAX, INT32_MAX}, .strides = {INT64_MAX / 4, 8}};
    CHECK(!sn_reach(&place, 8, &low, &high));
    place.strides[0] = INT64_MIN;
    CHECK(!sn_reach(&place, 8, &low, &high));
}

static void check_descriptor(void)
{
    char bytes[80], *at = bytes;
    int32_t indices[3] = {2, 1, 0};
    sn_place place = {.address = bytes, .ndim = 3, .shape = {3, 4, 5}, .strides = {-800, 40, 8}, .index = {indices}};
    CHECK(sn_descriptor_size(1, SN_CONTIGUOUS) == 16 && sn_descriptor_size(4, SN_INDEXED) == 8 + 16 + 32 + 32);
    CHECK(sn_descriptor_size(3, SN_CONTIGUOUS) == 24 && sn_descriptor_size(3, SN_STRIDED) == 48);
    for (sn_layout layout = SN_CONTIGUOUS; layout < SN_LAYOUTS; layout++) {
        memset(bytes, 0x55, sizeof bytes);
        sn_describe(&place, layout, bytes);
        CHECK(memcmp(at, &place.address, 8) == 0);
        CHECK(memcmp(at + 8, &(int32_t[]){3, 4, 5}, 12) == 0);
        CHECK(layout < SN_STRIDED || memcmp(at + 24, place.strides, 24) == 0);
        CHECK(layout < SN_INDEXED || memcmp(at + 48, place.index, 24) == 0);
        for (size_t i = sn_descriptor_size(3, layout); i < sizeof bytes; i++) CHECK(bytes[i] == 0x55);
    }
}

int main(void)
{
    static _Alignas(8) char memory[8];
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        sn_place place = {.address = memory + (round % 16 == 0)};
        const int64_t size = 4 * (1 + round % 3);
        place.ndim = (uint8_t)(1 + round % 4);
        for (int i = 0; i < place.ndim; i++) {
            random = random * 1664525u + 1013904223u;
            place.shape[i] = random >> 30;
        }
        CHECK(sn_place_in_order(&place, size));
        check_place(&place, size);
        CHECK(place.layout == SN_CONTIGUOUS && sn_is_contiguous(&place, size));
        for (int i = 0; i < place.ndim; i++) {
            random = random * 1664525u + 1013904223u;
            if (random >> 31) place.strides[i] = (int32_t)(random << 1) >> 26;
        }
        check_place(&place, size);
    }
    check_overflow();
    check_descriptor();
    return 0;
}
