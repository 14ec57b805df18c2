/* Who maps the memory of a GPU in which the ring's fields of the device lie. It must outlive each mapping, so the producer
 * looks here before it is freed. */
#ifndef SIM_NODE_RING_MAPPER_H
#define SIM_NODE_RING_MAPPER_H

#include "reader.h"

/* Enter the table before the memory is mapped; `*place` is for sn_mapper_leave. Returns SN_OK, SN_CLOSED (it may be free by
 * now: do not map it), SN_NO_ROOM or SN_NO_LIFE. */
static inline int sn_mapper_enter(const sn_ring *r, uint32_t *place)
{
    uint64_t self = sn_life_self();
    if (self == 0 || self == SN_NONE) return SN_NO_LIFE;
    for (uint32_t i = 0; i < SN_READERS; i++) {
        uint64_t life = __atomic_load_n(&r->control->mappers[i], __ATOMIC_RELAXED);
        if (life != 0 && !sn_life_ended(life)) continue;
        /* seq_cst, the entry before `closed`; sn_ring_close sets that before sn_mapper_of looks here: one of both sees
         * the other. */
        if (!__atomic_compare_exchange_n(&r->control->mappers[i], &life, self, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) continue;
        *place = i;
        if (!__atomic_load_n(&r->control->closed, __ATOMIC_SEQ_CST)) return SN_OK;
        __atomic_store_n(&r->control->mappers[i], 0, __ATOMIC_RELEASE);
        return SN_CLOSED;
    }
    return SN_NO_ROOM;
}

/* Leave it, when the memory is mapped no more. */
static inline void sn_mapper_leave(const sn_ring *r, uint32_t place)
{
    __atomic_store_n(&r->control->mappers[place], 0, __ATOMIC_RELEASE); /* pairs with the load in sn_mapper_of */
}

/* The life in the entry, if that process lives, else 0. */
static inline uint64_t sn_mapper_of(const sn_ring *r, uint32_t place)
{
    uint64_t life = __atomic_load_n(&r->control->mappers[place], __ATOMIC_SEQ_CST);
    return life == 0 || sn_life_ended(life) ? 0 : life;
}

#endif
