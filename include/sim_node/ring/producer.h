/* The producer's side: one thread, never waiting. */
#ifndef SIM_NODE_RING_PRODUCER_H
#define SIM_NODE_RING_PRODUCER_H

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "segment.h"

#define SN_BEAT_NS INT64_C(100000000)

/* Take a lease away that the producer has met for longer than the limit; returns whether it did. */
static inline int sn_lease_revoke(sn_ring *r, uint32_t reader, uint32_t lease, uint32_t word, int64_t limit_ns)
{
    sn_entry *entry = &r->control->readers[reader];
    sn_met *met = &r->met[reader][lease];
    const uint64_t life = __atomic_load_n(&entry->life, __ATOMIC_RELAXED);
    const int64_t now_ns = sn_now_ns();
    if (met->word != word || met->life != life) {
        met->word = word;
        met->life = life;
        met->since_ns = now_ns;
        return 0;
    }
    if (now_ns - met->since_ns < limit_ns) return 0;
    /* Before the release fence in sn_ring_next, which pairs with the acquire fence in sn_reader_intact: who sees a byte
     * written from then on sees the lease gone. Not where the reader was faster, and gave it back itself. */
    if (!__atomic_compare_exchange_n(&entry->lease[lease], &word, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return 0;
    __atomic_fetch_add(&entry->revoked, 1, __ATOMIC_RELAXED);
    return 1;
}

/* Whether any reader leases the slot; a lease that is over is taken away. */
static inline int sn_ring_leased(sn_ring *r, uint32_t slot)
{
    const int64_t limit_ns = __atomic_load_n(&r->control->lease_limit_ns, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < SN_READERS; i++)
        for (uint32_t k = 0; k < SN_LEASES; k++) {
            /* seq_cst: pairs with the lease's store in sn_reader_take (whose check comes after it). The acquire in it
             * pairs with the release in sn_reader_release: the reader's loads are over before the slot is filled. */
            const uint32_t word = __atomic_load_n(&r->control->readers[i].lease[k], __ATOMIC_SEQ_CST);
            if ((word & 255) == slot + 1 && (limit_ns <= 0 || !sn_lease_revoke(r, i, k, word, limit_ns))) return 1;
        }
    return 0;
}

/* The slot to fill next: neither the latest, nor the one last committed, nor leased; a spare if there is none. */
static inline int sn_ring_next(sn_ring *r)
{
    uint32_t slots = (uint32_t)r->geometry.slots, slot = r->last < slots ? r->last : 0;
    if (r->writing) return (int)r->writing - 1;
    uint64_t latest = r->control->latest; /* only this thread writes it */
    for (uint32_t i = 0; i < slots; i++) {
        slot = slot + 1 < slots ? slot + 1 : 0;
        if (latest != SN_NONE && (uint32_t)(latest & 255) == slot) continue;
        sn_slot *s = sn_slot_at(r, slot);
        uint64_t sequence = s->sequence; /* only this thread writes it */
        /* seq_cst: pairs with the check in sn_reader_take; before the look at the leases in the total order. */
        __atomic_store_n(&s->sequence, sequence | 1, __ATOMIC_SEQ_CST);
        if (!sn_ring_leased(r, slot)) {
            /* Pairs with the acquire fence in sn_ring_copy: whoever sees a byte written from here on sees it odd. */
            __atomic_thread_fence(__ATOMIC_RELEASE);
            r->writing = slot + 1;
            return (int)slot;
        }
        /* release: nothing was written, so what was there is still there for a reader that checks next. */
        __atomic_store_n(&s->sequence, sequence, __ATOMIC_RELEASE);
    }
    slot = r->last == slots ? slots + 1 : slots;
    r->writing = slot + 1;
    return (int)slot;
}

static inline void sn_bell_ring(uint32_t *bell, uint32_t *flag)
{
    /* acq_rel, the flag before the bell; a waiter exchanges the flag too, then looks for what is new. Of two exchanges of
     * one word the later sees the earlier: either the waiter sees it, or its flag is seen here, and then the bell
     * it waits on changes before the wake. Taken before waking, so that a killed waiter costs one call and no more. */
    uint32_t waiter = __atomic_exchange_n(flag, 0, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(bell, 1, __ATOMIC_RELEASE);
    if (waiter != 0) syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A commit has three parts, of which a GPU does the second itself, where it fills the slots. */

/* Say of which tick the slot that sn_ring_next gave is. */
static inline void sn_ring_describe(const sn_ring *r, int slot, uint64_t step, int64_t stamp_ns)
{
    sn_slot *s = sn_slot_at(r, (uint32_t)slot);
    /* relaxed: sn_ring_copy may read them meanwhile, and sees by the sequence that they are not to be had. */
    __atomic_store_n(&s->step, step, __ATOMIC_RELAXED);
    __atomic_store_n(&s->stamp_ns, stamp_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&s->sent_ns, sn_now_ns(), __ATOMIC_RELAXED);
}

/* The words by which readers know a slot: its own, and the ring's that names the newest. */
typedef struct {
    uint64_t sequence, latest;
} sn_words;

/* What these words become by the next commit; nothing else than they are for a spare, which nobody is to see. */
static inline sn_words sn_ring_words(const sn_ring *r, int slot)
{
    const uint64_t number = r->commits + 1;
    sn_words words = {sn_slot_at(r, (uint32_t)slot)->sequence, r->control->latest}; /* only this thread writes them */
    if ((uint64_t)slot < r->geometry.slots) {
        words.sequence = number << 1;
        words.latest = number << 8 | (uint64_t)slot;
    }
    return words;
}

/* Let readers see the slot. */
static inline void sn_ring_publish(const sn_ring *r, int slot, uint64_t hash)
{
    const sn_words words = sn_ring_words(r, slot);
    sn_slot *s = sn_slot_at(r, (uint32_t)slot);
    __atomic_store_n(&s->hash, hash, __ATOMIC_RELAXED); /* as in sn_ring_describe */
    /* release: pairs with the acquire of the sequence in sn_ring_copy. */
    __atomic_store_n(&s->sequence, words.sequence, __ATOMIC_RELEASE);
    /* release: pairs with the acquire of latest in sn_reader_take: who sees the number sees the whole slot. */
    __atomic_store_n(&r->control->latest, words.latest, __ATOMIC_RELEASE);
}

/* Count the slot as committed, and wake those who wait for it. */
static inline void sn_ring_settle(sn_ring *r, int slot, uint64_t step)
{
    r->commits++;
    r->step = step;
    r->last = (uint32_t)slot;
    r->writing = 0;
    if ((uint64_t)slot < r->geometry.slots) sn_bell_ring(&r->control->bell, &r->control->waiter);
    else __atomic_fetch_add(&r->control->dropped, 1, __ATOMIC_RELAXED);
}

/* Publish the slot that sn_ring_next gave. */
static inline void sn_ring_commit(sn_ring *r, int slot, uint64_t step, int64_t stamp_ns, uint64_t hash)
{
    sn_ring_describe(r, slot, step, stamp_ns);
    sn_ring_publish(r, slot, hash);
    sn_ring_settle(r, slot, step);
}

/* Tell readers that no more ticks will come. */
static inline void sn_ring_close(sn_ring *r)
{
    /* seq_cst: pairs with the acquire in sn_ring_closed, and comes before the look in sn_mapper_of. */
    __atomic_store_n(&r->control->closed, 1, __ATOMIC_SEQ_CST);
    sn_bell_ring(&r->control->bell, &r->control->waiter);
}

/* Give a word back, if it still is this one's. */
static inline void sn_word_give(uint64_t *word, uint64_t life)
{
    /* release: pairs with the acquire in sn_word_take: the next writer sees the last count. */
    __atomic_compare_exchange_n(word, &life, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Let go of an input that a reader sends to. */
static inline void sn_input_leave(const sn_ring *r, uint32_t input, uint64_t life)
{
    for (uint32_t k = 0; k < SN_LANES; k++) sn_word_give(&sn_lane_at(r, input, k)->writer, life);
    sn_word_give(&sn_mailbox_at(r, input)->owner, life); /* after its lane, so that the next owner finds it free */
}

/* Take over the entry of a dead process; only one of those who try gets it, and it alone lets go of what that one held. */
static inline int sn_entry_claim(const sn_ring *r, sn_entry *entry, uint64_t from, uint64_t life)
{
    uint64_t was = from;
    /* acq_rel: pairs with itself: leases cleared by the last holder are seen by the next. */
    if (!__atomic_compare_exchange_n(&entry->life, &was, life, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return 0;
    for (uint32_t k = 0; k < SN_LEASES; k++) __atomic_store_n(&entry->lease[k], 0, __ATOMIC_RELEASE);
    for (uint32_t i = 0; from != 0 && i < r->geometry.inputs; i++) sn_input_leave(r, i, from);
    return 1;
}

/* Call it once a tick: ten times a second it writes the heartbeat and looks whether one of the readers has died. */
static inline void sn_ring_heartbeat(sn_ring *r, int64_t now_ns)
{
    if (now_ns - r->beat_ns < SN_BEAT_NS) return;
    r->beat_ns = now_ns;
    __atomic_store_n(&r->control->heartbeat_ns, now_ns, __ATOMIC_RELAXED);
    for (uint32_t i = 1; i <= SN_READERS; i++) {
        sn_entry *entry = &r->control->readers[(r->checked + i) % SN_READERS];
        uint64_t life = __atomic_load_n(&entry->life, __ATOMIC_RELAXED);
        if (life == 0) continue;
        r->checked = (r->checked + i) % SN_READERS;
        if (sn_life_ended(life) && sn_entry_claim(r, entry, life, r->control->owner))
            __atomic_store_n(&entry->life, 0, __ATOMIC_RELEASE);
        return;
    }
}

#endif
