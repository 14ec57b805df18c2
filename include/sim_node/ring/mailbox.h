/* Mailboxes: one an input, the newest command wins. A writer fills the buffer that is not current and then publishes
 * the count, so that a writer killed half-way leaves the last command. */
#ifndef SIM_NODE_RING_MAILBOX_H
#define SIM_NODE_RING_MAILBOX_H

#include "reader.h"

/* Become the one who may send to the input; returns 0, or the pid of the living process that already may. */
static inline uint32_t sn_mailbox_claim(const sn_reader *d, uint32_t input)
{
    sn_mailbox *m = sn_mailbox_at(d->ring, input);
    uint64_t writer = __atomic_load_n(&m->writer, __ATOMIC_RELAXED);
    while (writer != d->life) {
        if (writer != 0 && !sn_life_ended(writer)) return sn_life_pid(writer);
        /* acquire: pairs with the release in sn_reader_close; a dead writer's count is found by the load in
         * sn_mailbox_buffer, whichever it was. */
        if (__atomic_compare_exchange_n(&m->writer, &writer, d->life, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) break;
    }
    return 0;
}

/* The buffer to fill with the next command, all of it: it holds an old one. Valid until it is sent. The mailbox must have
 * been claimed. */
static inline void *sn_mailbox_buffer(const sn_reader *d, uint32_t input)
{
    uint64_t next = __atomic_load_n(&sn_mailbox_at(d->ring, input)->count, __ATOMIC_ACQUIRE) + 1;
    /* Pairs with the acquire fence in sn_mailbox_take: whoever sees a byte filled from here on sees the count that
     * freed the buffer. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return sn_mailbox_half(d->ring, input, next);
}

/* Publish the buffer as the newest command, answering the tick of that step (SN_NONE: none). */
static inline void sn_mailbox_send(const sn_reader *d, uint32_t input, uint64_t answers, int64_t now_ns)
{
    sn_mailbox *m = sn_mailbox_at(d->ring, input);
    uint64_t next = __atomic_load_n(&m->count, __ATOMIC_RELAXED) + 1;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* as in sn_mailbox_buffer, for the two stores below */
    __atomic_store_n(&m->answers[next & 1], answers, __ATOMIC_RELAXED);
    __atomic_store_n(&m->sent_ns[next & 1], now_ns, __ATOMIC_RELAXED);
    /* release: pairs with the acquire in sn_mailbox_take. */
    __atomic_store_n(&m->count, next, __ATOMIC_RELEASE);
}

/* Send a command from memory of geometry.input_size[input] bytes; returns as sn_mailbox_claim. */
static inline uint32_t sn_mailbox_put(const sn_reader *d, uint32_t input, const void *command, uint64_t answers,
                                      int64_t now_ns)
{
    uint32_t holder = sn_mailbox_claim(d, input);
    if (holder != 0) return holder;
    memcpy(sn_mailbox_buffer(d, input), command, d->ring->geometry.input_size[input]);
    sn_mailbox_send(d, input, answers, now_ns);
    return 0;
}

/* Producer: copy the newest command out. Returns SN_NEW, SN_NOTHING (nothing is touched), or SN_OUTRUN if the
 * writer was faster 16 times running: the next tick has it, and `to` holds no command. */
static inline int sn_mailbox_take(sn_ring *r, uint32_t input, void *to, uint64_t *answers, int64_t *sent_ns)
{
    sn_mailbox *m = sn_mailbox_at(r, input);
    for (int try_ = 0; try_ < 16; try_++) {
        /* acquire: pairs with the release in sn_mailbox_send: the command is seen with its count. */
        uint64_t count = __atomic_load_n(&m->count, __ATOMIC_ACQUIRE);
        if (count == m->taken) return SN_NOTHING; /* only this thread writes taken */
        sn_copy_shared(to, sn_mailbox_half(r, input, count), r->geometry.input_size[input]);
        *answers = __atomic_load_n(&m->answers[count & 1], __ATOMIC_RELAXED);
        *sent_ns = __atomic_load_n(&m->sent_ns[count & 1], __ATOMIC_RELAXED);
        /* Pairs with the release fence in sn_mailbox_buffer: if any byte was of a later command, the count has changed. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&m->count, __ATOMIC_RELAXED) == count) {
            __atomic_store_n(&m->taken, count, __ATOMIC_RELAXED);
            return SN_NEW;
        }
    }
    return SN_OUTRUN;
}

#endif
