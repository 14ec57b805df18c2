/* A reader's side: leases, waiting for the bell, and copying without a lease. A handle belongs to one thread,
 * and to the process that opened it: not to a forked child. */
#ifndef SIM_NODE_RING_READER_H
#define SIM_NODE_RING_READER_H

#include "producer.h"

#define SN_TRIES 1000 /* every failed try means that the producer went on; so many in a row: give up for now */

typedef struct {
    sn_ring *ring;
    sn_entry *entry;
    uint64_t life, latest, step; /* own life; newest tick taken; its step, which a command answers */
    uint8_t lanes[SN_INPUTS];    /* of each input, the own lane + 1; 0: not claimed */
    uint32_t leases;             /* taken so far, modulo 2^24 in their words: no two alike that could be mistaken */
} sn_reader;

typedef struct {
    const void *payload; /* the fields; valid until the tick is released */
    uint64_t number, step, hash, skipped; /* of the commit; of the tick; of the state; commits never seen before it */
    int64_t stamp_ns, sent_ns; /* simulated time; CLOCK_MONOTONIC at the commit */
    uint32_t slot, lease, word; /* where it lies; which lease of the reader's, and what stands there while it lasts */
} sn_tick;

/* Enter the reader table; returns SN_OK, SN_NO_ROOM or SN_NO_LIFE. */
static inline int sn_reader_open(sn_reader *d, sn_ring *r)
{
    uint64_t self = sn_life_self();
    if (self == 0 || self == SN_NONE) return SN_NO_LIFE;
    for (int dead = 0; dead < 2; dead++) /* free entries first: they cost no look into /proc */
        for (uint32_t i = 0; i < SN_READERS; i++) {
            sn_entry *entry = &r->control->readers[i];
            uint64_t life = __atomic_load_n(&entry->life, __ATOMIC_RELAXED), own = self | (uint64_t)i << 56;
            if ((life != 0 && !(dead && sn_life_ended(life))) || !sn_entry_claim(r, entry, life, own)) continue;
            entry->step = entry->taken = entry->skipped = entry->lost = entry->revoked = 0;
            d->ring = r;
            d->entry = entry;
            d->life = own;
            d->latest = d->step = SN_NONE;
            d->leases = 0;
            memset(d->lanes, 0, sizeof d->lanes);
            return SN_OK;
        }
    return SN_NO_ROOM;
}

/* Leave the table: leases and inputs are free for others. */
static inline void sn_reader_close(sn_reader *d)
{
    for (uint32_t i = 0; i < d->ring->geometry.inputs; i++) sn_input_leave(d->ring, i, d->life);
    for (uint32_t k = 0; k < SN_LEASES; k++) __atomic_store_n(&d->entry->lease[k], 0, __ATOMIC_RELEASE);
    __atomic_store_n(&d->entry->life, 0, __ATOMIC_RELEASE); /* pairs with the exchange in sn_entry_claim */
}

static inline int sn_ring_closed(const sn_ring *r) { return __atomic_load_n(&r->control->closed, __ATOMIC_ACQUIRE) != 0; }

/* Whether no more ticks will come: closed, or its owner is gone (a look into /proc). */
static inline int sn_ring_ended(const sn_ring *r) { return sn_ring_closed(r) || sn_life_ended(r->control->owner); }

/* Whether it is worth asking sn_ring_ended: closed, or three heartbeats have been missed. */
static inline int sn_ring_silent(const sn_ring *r)
{
    int64_t age = sn_now_ns() - __atomic_load_n(&r->control->heartbeat_ns, __ATOMIC_RELAXED);
    return age < 0 || age > 3 * SN_BEAT_NS || sn_ring_closed(r);
}

/* Whether a tick newer than the one last taken is published. */
static inline int sn_reader_behind(const sn_reader *d)
{
    uint64_t latest = __atomic_load_n(&d->ring->control->latest, __ATOMIC_ACQUIRE);
    return latest != SN_NONE && latest != d->latest;
}

static inline void sn_tick_read(sn_tick *t, const sn_ring *r, uint64_t latest)
{
    t->slot = (uint32_t)(latest & 255);
    t->number = latest >> 8;
    sn_slot *s = sn_slot_at(r, t->slot);
    t->payload = s + 1;
    t->step = __atomic_load_n(&s->step, __ATOMIC_RELAXED);
    t->hash = __atomic_load_n(&s->hash, __ATOMIC_RELAXED);
    t->stamp_ns = __atomic_load_n(&s->stamp_ns, __ATOMIC_RELAXED);
    t->sent_ns = __atomic_load_n(&s->sent_ns, __ATOMIC_RELAXED);
}

/* Lease the newest tick; `again` takes it also if it was taken before. Returns SN_NEW with the tick, SN_NOTHING or
 * SN_NO_LEASE. */
static inline int sn_reader_take(sn_reader *d, sn_tick *t, int again)
{
    sn_ring *r = d->ring;
    uint32_t lease = 0;
    while (lease < SN_LEASES && __atomic_load_n(&d->entry->lease[lease], __ATOMIC_RELAXED) != 0) lease++;
    for (int try_ = 0; try_ < SN_TRIES; try_++) {
        /* acquire: pairs with the release in sn_ring_commit: the slot's content is seen with its number. */
        uint64_t latest = __atomic_load_n(&r->control->latest, __ATOMIC_ACQUIRE);
        uint32_t slot = (uint32_t)(latest & 255);
        if (latest == SN_NONE || slot >= r->geometry.slots || (!again && latest == d->latest)) return SN_NOTHING;
        if (lease == SN_LEASES) return SN_NO_LEASE;
        /* seq_cst, lease before sequence; sn_ring_next writes the sequence before it looks at the leases: if it did not
         * see this lease, then this load sees its odd word (or a later one). */
        const uint32_t word = ++d->leases << 8 | (slot + 1);
        __atomic_store_n(&d->entry->lease[lease], word, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&sn_slot_at(r, slot)->sequence, __ATOMIC_SEQ_CST) == latest >> 8 << 1) {
            sn_tick_read(t, r, latest);
            t->lease = lease;
            t->word = word;
            t->skipped = d->latest == SN_NONE || latest == d->latest ? 0 : t->number - (d->latest >> 8) - 1;
            if (latest != d->latest) d->entry->taken++;
            d->entry->skipped += t->skipped;
            d->entry->step = d->step = t->step;
            d->latest = latest;
            return SN_NEW;
        }
        __atomic_store_n(&d->entry->lease[lease], 0, __ATOMIC_RELEASE);
        d->entry->lost++;
    }
    return SN_NOTHING;
}

/* Whether all that was read of the tick until now is of it: its lease lasts, or the slot was not filled since. Where
 * leases have a limit (lease_limit_ns of the control block), ask before what was read is used. */
static inline int sn_reader_intact(const sn_reader *d, const sn_tick *t)
{
    /* Pairs with the release fence in sn_ring_next: if any byte was of a later tick, the lease and the sequence are gone. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&d->entry->lease[t->lease], __ATOMIC_RELAXED) == t->word) return 1;
    return __atomic_load_n(&sn_slot_at(d->ring, t->slot)->sequence, __ATOMIC_RELAXED) == t->number << 1;
}

/* Give the slot back; nothing may be read from it any more. */
static inline void sn_reader_release(sn_reader *d, const sn_tick *t)
{
    /* release: pairs with the load in sn_ring_leased: what was read here was read before the slot is filled again. */
    uint32_t *lease = &d->entry->lease[t->lease];
    if (__atomic_load_n(lease, __ATOMIC_RELAXED) == t->word) /* else it was taken away, and may be another tick's by now */
        __atomic_store_n(lease, 0, __ATOMIC_RELEASE);
}

/* Copy the newest tick (geometry.slot_size bytes) with no lease and no reader; returns SN_NEW or
 * SN_NOTHING. */
static inline int sn_ring_copy(const sn_ring *r, void *to, sn_tick *t)
{
    for (int try_ = 0; try_ < SN_TRIES; try_++) {
        uint64_t latest = __atomic_load_n(&r->control->latest, __ATOMIC_ACQUIRE);
        if (latest == SN_NONE || (latest & 255) >= r->geometry.slots) return SN_NOTHING;
        const sn_slot *s = sn_slot_at(r, (uint32_t)(latest & 255));
        /* acquire: pairs with the release of the even sequence in sn_ring_commit. */
        if (__atomic_load_n(&s->sequence, __ATOMIC_ACQUIRE) != latest >> 8 << 1) continue;
        sn_tick_read(t, r, latest);
        sn_copy_shared(to, t->payload, r->geometry.slot_size);
        /* Pairs with the release fence in sn_ring_next: if any byte was of a later tick, the sequence has changed. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&s->sequence, __ATOMIC_RELAXED) == latest >> 8 << 1) return SN_NEW;
    }
    return SN_NOTHING;
}

/* Wait until a tick newer than the last one taken is published, spinning first. Returns SN_NEW; SN_NOTHING when the
 * time is over (ask sn_ring_ended then: a killed producer closes nothing); SN_CLOSED; or SN_INTERRUPTED. */
static inline int sn_reader_wait(const sn_reader *d, int64_t timeout_ns, int64_t spin_ns)
{
    sn_control *c = d->ring->control;
    int64_t start = sn_now_ns();
    for (;;) {
        /* acquire: a tick rung for before this load is seen by the next one. */
        uint32_t bell = __atomic_load_n(&c->bell, __ATOMIC_ACQUIRE);
        if (sn_reader_behind(d)) return SN_NEW;
        if (sn_ring_closed(d->ring)) return SN_CLOSED;
        int64_t left = timeout_ns - (sn_now_ns() - start);
        if (left <= 0) return SN_NOTHING;
        if (timeout_ns - left < spin_ns) {
            sn_pause();
            continue;
        }
        /* acq_rel: pairs with the exchange in sn_bell_ring. The futex call itself looks at the bell once more. */
        __atomic_exchange_n(&c->waiter, 1, __ATOMIC_ACQ_REL);
        if (sn_reader_behind(d) || sn_ring_closed(d->ring)) continue;
        struct timespec rest;
        rest.tv_sec = (time_t)(left / 1000000000);
        rest.tv_nsec = (long)(left % 1000000000);
        if (syscall(SYS_futex, &c->bell, FUTEX_WAIT, bell, &rest, NULL, 0) != 0 && errno == EINTR)
            return SN_INTERRUPTED;
    }
}

#endif
