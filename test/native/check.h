/* What the C tests share: a check that names its place, and a ring in anonymous memory. */
#ifndef CHECK_H
#define CHECK_H

#include "sim_node/ring.h"

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

/* Owner of a ring whose inputs all have the same size. */
static inline void *make_ring(sn_ring *r, uint64_t slots, uint64_t slot_size, uint64_t inputs, uint64_t input_size)
{
    sn_geometry g;
    memset(&g, 0, sizeof g);
    g.slots = slots;
    g.slot_size = slot_size;
    g.inputs = inputs;
    for (uint64_t i = 0; i < inputs && i < SN_INPUTS; i++) g.input_size[i] = input_size;
    g.layout_size = 6;
    g.inputs_size = 2;
    CHECK(sn_geometry_place(&g) == NULL);
    void *memory = mmap(NULL, (size_t)g.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    sn_ring_format(r, memory, &g, 7, "0123456789abcdef0123456789abcdef", "layout", "{}", "");
    return memory;
}

/* Fill every word of a slot with the step and publish it. */
static inline int publish(sn_ring *r, uint64_t step)
{
    int slot = sn_ring_next(r);
    uint64_t *words = (uint64_t *)sn_ring_slot(r, slot);
    for (uint64_t i = 0; i < r->geometry.slot_size / 8; i++) words[i] = step;
    sn_ring_commit(r, slot, step, (int64_t)step * 1000, step ^ 0xabc);
    return slot;
}

#endif
