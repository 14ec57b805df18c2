/* Mailboxes: commands back. An input has a few lanes, one a writer, and the newest command of the writer in charge wins:
 * of those who sent lately, the one of the highest priority. A writer fills the buffer that is not current and then
 * publishes the count, so that a writer killed half-way leaves the last command. */
#ifndef SIM_NODE_RING_MAILBOX_H
#define SIM_NODE_RING_MAILBOX_H

#include "reader.h"

/* Who sends to an input. */
typedef struct {
    uint32_t pid;
    int32_t priority;
    char name[SN_NAME];
} sn_writer;

/* ---- who may send ---- */

static inline void sn_lane_describe(const sn_lane *l, sn_writer *w)
{
    w->pid = sn_life_pid(__atomic_load_n(&l->writer, __ATOMIC_RELAXED));
    w->priority = __atomic_load_n(&l->priority, __ATOMIC_RELAXED);
    sn_copy_shared(w->name, l->name, sizeof w->name);
    w->name[SN_NAME - 1] = 0;
}

/* Tell of a writer what its lane says, and of one that has left since who it was. */
static inline void sn_writer_describe(const sn_ring *r, uint32_t input, uint64_t life, sn_writer *w)
{
    memset(w, 0, sizeof *w);
    for (uint32_t k = 0; k < SN_LANES; k++)
        if (__atomic_load_n(&sn_lane_at(r, input, k)->writer, __ATOMIC_RELAXED) == life)
            sn_lane_describe(sn_lane_at(r, input, k), w);
    w->pid = sn_life_pid(life);
}

/* Another living writer of the input; 0: there is none. */
static inline uint64_t sn_lane_rival(const sn_reader *d, uint32_t input)
{
    for (uint32_t k = 0; k < SN_LANES; k++) {
        /* seq_cst: pairs with the exchange in sn_word_take; see sn_mailbox_claim. */
        uint64_t writer = __atomic_load_n(&sn_lane_at(d->ring, input, k)->writer, __ATOMIC_SEQ_CST);
        if (writer != 0 && writer != d->life && !sn_life_ended(writer)) return writer;
    }
    return 0;
}

/* Another living writer that has the input for itself; 0: there is none, and whoever else had it has it no more. */
static inline uint64_t sn_owner_rival(const sn_reader *d, uint32_t input)
{
    uint64_t *word = &sn_mailbox_at(d->ring, input)->owner, owner = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    if (owner != 0 && owner != d->life && !sn_life_ended(owner)) return owner;
    if (owner != 0) sn_word_give(word, owner);
    return 0;
}

/* Take a word that is 0 or of a process that has ended; returns 0, or the living one that has it. */
static inline uint64_t sn_word_take(uint64_t *word, uint64_t life)
{
    uint64_t found = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (found != life) {
        if (found != 0 && !sn_life_ended(found)) return found;
        /* seq_cst: see sn_mailbox_claim. The acquire in it pairs with the release in sn_input_leave. */
        if (__atomic_compare_exchange_n(word, &found, life, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break;
    }
    return 0;
}

/* A lane for this writer, or SN_LANES if all have living ones. Those of dead writers are freed, taken or not: such a one is
 * in charge no more. */
static inline uint32_t sn_lane_take(const sn_reader *d, uint32_t input)
{
    uint32_t lane = SN_LANES;
    for (uint32_t k = 0; k < SN_LANES; k++) {
        uint64_t *word = &sn_lane_at(d->ring, input, k)->writer, writer = __atomic_load_n(word, __ATOMIC_RELAXED);
        if (lane == SN_LANES && sn_word_take(word, d->life) == 0) lane = k;
        else if (writer != 0 && sn_life_ended(writer)) sn_word_give(word, writer);
    }
    return lane;
}

/* Send to the input no more: lane and ownership are free for others. */
static inline void sn_mailbox_leave(sn_reader *d, uint32_t input)
{
    sn_input_leave(d->ring, input, d->life);
    d->lanes[input] = 0;
}

/* Become a writer of the input, under this name (NULL: the program's) and priority: more wins. `exclusive` asks to be the
 * only one, as the input may demand of everyone. Again: with other priority, name or right. Returns SN_OK, SN_NO_LANE or
 * SN_EXCLUSIVE; the last two tell in `other` (or NULL) who is in the way, and leave the claim as it was. */
static inline int sn_mailbox_claim(sn_reader *d, uint32_t input, const char *name, int32_t priority, int exclusive,
                                   sn_writer *other)
{
    /* Who wants the input alone writes `owner`, then looks at the lanes; who does not writes its lane, then looks at
     * `owner`. The four are in one total order, so of two at the same time at least one sees the other; both may. */
    sn_mailbox *m = sn_mailbox_at(d->ring, input);
    int alone = exclusive || __atomic_load_n(&m->exclusive, __ATOMIC_RELAXED) != 0;
    int owned = __atomic_load_n(&m->owner, __ATOMIC_RELAXED) == d->life;
    uint32_t lane = SN_LANES;
    uint64_t rival = alone ? sn_word_take(&m->owner, d->life) : 0;
    while (rival == 0 && lane == SN_LANES) { /* again where one of the lanes has become free meanwhile */
        lane = d->lanes[input] != 0 ? d->lanes[input] - 1u : sn_lane_take(d, input);
        rival = alone || lane == SN_LANES ? sn_lane_rival(d, input) : sn_owner_rival(d, input);
    }
    if (rival != 0 || lane == SN_LANES) {
        if (other != NULL) sn_writer_describe(d->ring, input, rival, other);
        if (d->lanes[input] == 0) sn_input_leave(d->ring, input, d->life);
        else if (!owned) sn_word_give(&m->owner, d->life);
        return alone || lane != SN_LANES ? SN_EXCLUSIVE : SN_NO_LANE;
    }
    sn_lane *l = sn_lane_at(d->ring, input, lane);
    if (name == NULL) name = program_invocation_short_name;
    d->lanes[input] = (uint8_t)(lane + 1);
    __atomic_store_n(&l->priority, priority, __ATOMIC_RELAXED);
    for (uint32_t i = 0, end = 0; i < SN_NAME; i++) { /* cut to what there is room for */
        end |= i == SN_NAME - 1 || name[i] == 0;
        __atomic_store_n(&l->name[i], end ? 0 : name[i], __ATOMIC_RELAXED);
        if (end) break;
    }
    return SN_OK;
}

/* ---- a writer ---- */

static inline sn_lane *sn_lane_own(const sn_reader *d, uint32_t input)
{
    return sn_lane_at(d->ring, input, d->lanes[input] - 1u);
}

/* The buffer to fill with the next command, all of it: it holds an old one. Valid until it is sent. The input must have
 * been claimed. */
static inline void *sn_mailbox_buffer(const sn_reader *d, uint32_t input)
{
    uint64_t next = __atomic_load_n(&sn_lane_own(d, input)->count, __ATOMIC_ACQUIRE) + 1;
    /* Pairs with the acquire fence in sn_lane_read: whoever sees a byte filled from here on sees the count that freed the
     * buffer. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return sn_lane_half(d->ring, input, d->lanes[input] - 1u, next);
}

/* Publish the buffer as the newest command, answering the tick of that step (SN_NONE: none). */
static inline void sn_mailbox_send(const sn_reader *d, uint32_t input, uint64_t answers, int64_t now_ns)
{
    sn_lane *l = sn_lane_own(d, input);
    uint64_t next = __atomic_load_n(&l->count, __ATOMIC_RELAXED) + 1;
    __atomic_thread_fence(__ATOMIC_RELEASE); /* as in sn_mailbox_buffer, for the four stores below */
    __atomic_store_n(&l->answers[next & 1], answers, __ATOMIC_RELAXED);
    __atomic_store_n(&l->sent_ns[next & 1], now_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&l->sender[next & 1], d->life, __ATOMIC_RELAXED);
    __atomic_store_n(&l->rank[next & 1], __atomic_load_n(&l->priority, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    /* release: pairs with the acquire in sn_lane_read. */
    __atomic_store_n(&l->count, next, __ATOMIC_RELEASE);
    sn_bell_ring(&d->ring->control->command_bell, &d->ring->control->command_waiter);
}

/* Send a command from memory of geometry.input_size[input] bytes; an input that was not claimed is, with priority 0.
 * Returns as sn_mailbox_claim. */
static inline int sn_mailbox_put(sn_reader *d, uint32_t input, const void *command, uint64_t answers, int64_t now_ns)
{
    int code = d->lanes[input] != 0 ? SN_OK : sn_mailbox_claim(d, input, NULL, 0, 0, NULL);
    if (code != SN_OK) return code;
    memcpy(sn_mailbox_buffer(d, input), command, d->ring->geometry.input_size[input]);
    sn_mailbox_send(d, input, answers, now_ns);
    return SN_OK;
}

/* ---- the producer ---- */

/* Before the ring has a name: whether the input is for one writer at a time, and after how many ticks one is silent. */
static inline void sn_mailbox_rule(sn_ring *r, uint32_t input, int exclusive, uint32_t silence)
{
    sn_mailbox_at(r, input)->exclusive = exclusive != 0;
    sn_mailbox_at(r, input)->silence = silence;
}

/* The newest command of a lane: its number there, and what its sender stamped it with. */
typedef struct {
    uint64_t count, answers, sender;
    int64_t sent_ns;
    int32_t rank;
} sn_stamp;

/* Read the newest command of a lane; `to` NULL: its stamp alone. Returns SN_NEW, or SN_OUTRUN if the writer was faster 16
 * times running: then `to` holds no command, and the stamp is as it was. */
static inline int sn_lane_read(const sn_ring *r, uint32_t input, uint32_t lane, void *to, sn_stamp *stamp)
{
    const sn_lane *l = sn_lane_at(r, input, lane);
    for (int try_ = 0; try_ < 16; try_++) {
        /* acquire: pairs with the release in sn_mailbox_send: the command is seen with its count. */
        uint64_t count = __atomic_load_n(&l->count, __ATOMIC_ACQUIRE);
        if (to != NULL) sn_copy_shared(to, sn_lane_half(r, input, lane, count), r->geometry.input_size[input]);
        sn_stamp s;
        s.count = count;
        s.answers = __atomic_load_n(&l->answers[count & 1], __ATOMIC_RELAXED);
        s.sender = __atomic_load_n(&l->sender[count & 1], __ATOMIC_RELAXED);
        s.sent_ns = __atomic_load_n(&l->sent_ns[count & 1], __ATOMIC_RELAXED);
        s.rank = __atomic_load_n(&l->rank[count & 1], __ATOMIC_RELAXED);
        /* Pairs with the release fence in sn_mailbox_buffer: if any byte was of a later command, the count has changed. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&l->count, __ATOMIC_RELAXED) != count) continue;
        *stamp = s;
        return SN_NEW;
    }
    return SN_OUTRUN;
}

/* Note who sent to a lane for this tick. relaxed, here and below: only the producer writes these words, and others look at
 * them at any time. */
static inline void sn_lane_note(sn_mailbox *m, uint32_t lane, const sn_stamp *stamp, uint64_t step)
{
    __atomic_store_n(&m->speaker[lane], stamp->sender, __ATOMIC_RELAXED);
    __atomic_store_n(&m->rank[lane], stamp->rank, __ATOMIC_RELAXED);
    __atomic_store_n(&m->heard[lane], step, __ATOMIC_RELAXED);
}

/* Whether one sender's command `a` was sent before its command `b` of another lane: it left the one for the other. */
static inline int sn_stamp_earlier(const sn_stamp *a, const sn_stamp *b)
{
    return a->sender == b->sender && a->sent_ns < b->sent_ns;
}

/* The writer in charge of the tick after the one last committed. That is, of those who sent since the last take, or have
 * not left or died and sent within `silence` ticks, the one of the highest priority; of equals the one that was in charge
 * already, else the lowest lane. Returns its lane, SN_LANES if there is none; tells the lanes' newest commands, and in a
 * bit each which of them were not taken. */
static inline uint32_t sn_mailbox_choose(const sn_ring *r, uint32_t input, sn_stamp newest[SN_LANES], uint32_t *fresh)
{
    sn_mailbox *m = sn_mailbox_at(r, input);
    const uint64_t step = r->step + 1;
    uint32_t ready = 0, chosen = SN_LANES;
    *fresh = 0;
    for (uint32_t k = 0; k < SN_LANES; k++) {
        newest[k].count = __atomic_load_n(&sn_lane_at(r, input, k)->count, __ATOMIC_ACQUIRE);
        newest[k].answers = SN_NONE;
        newest[k].sender = m->speaker[k];
        newest[k].sent_ns = INT64_MIN; /* what was taken was sent before all that was not */
        *fresh |= (uint32_t)(newest[k].count != m->taken[k]) << k;
    }
    if (*fresh == 0) return SN_LANES; /* nobody can have come into charge */
    for (uint32_t k = 0; k < SN_LANES; k++) {
        uint64_t writer = __atomic_load_n(&sn_lane_at(r, input, k)->writer, __ATOMIC_RELAXED);
        int heard = (*fresh >> k & 1) && sn_lane_read(r, input, k, NULL, &newest[k]) == SN_NEW;
        if (heard) sn_lane_note(m, k, &newest[k], step);
        if (heard || (writer != 0 && writer == m->speaker[k] && step - m->heard[k] < m->silence)) ready |= 1u << k;
    }
    for (uint32_t k = 0; k < SN_LANES; k++) {
        int out = !(ready >> k & 1);
        for (uint32_t j = 0; j < SN_LANES; j++) out |= (ready >> j & 1) && sn_stamp_earlier(&newest[k], &newest[j]);
        if (out) continue;
        if (chosen == SN_LANES || m->rank[k] > m->rank[chosen] || (m->rank[k] == m->rank[chosen] && m->speaker[k] == m->charge))
            chosen = k;
    }
    return chosen;
}

/* Whether sn_mailbox_take would give a command that answers the tick last committed, for which a producer may wait: each
 * command rings `command_bell`, whose flag a sleeper sets, as `bell` is rung for readers. */
static inline int sn_mailbox_answered(const sn_ring *r, uint32_t input)
{
    sn_stamp newest[SN_LANES];
    uint32_t fresh, chosen = sn_mailbox_choose(r, input, newest, &fresh);
    return chosen != SN_LANES && (fresh >> chosen & 1) && newest[chosen].answers == r->step;
}

/* Copy out, for the tick after the one last committed, the newest command of the writer in charge (sn_mailbox_choose).
 * What the others sent is not applied later either. Where `answering` is not SN_NONE, neither is a command that answers
 * another tick than that.
 *
 * Returns SN_NEW, whose `answers`, `sent_ns` and `age_ns` are in the mailbox; SN_NOTHING (`to` is as it was); SN_LATE, or
 * SN_OUTRUN if the writer was faster 16 times running: the next tick has it. After the last two `to` holds no command. */
static inline int sn_mailbox_take(sn_ring *r, uint32_t input, void *to, uint64_t answering, int64_t now_ns)
{
    sn_mailbox *m = sn_mailbox_at(r, input);
    sn_stamp newest[SN_LANES];
    uint32_t fresh, chosen = sn_mailbox_choose(r, input, newest, &fresh);
    int code = SN_NOTHING;
    if (fresh == 0) return SN_NOTHING;
    if (chosen == SN_LANES) return SN_OUTRUN;
    if (fresh >> chosen & 1) {
        sn_stamp *s = &newest[chosen];
        if (sn_lane_read(r, input, chosen, to, s) != SN_NEW || s->sender != m->speaker[chosen])
            return SN_OUTRUN; /* also where the lane, chosen for its sender, has another by now */
        for (uint32_t k = 0; k < SN_LANES; k++) { /* what this sender left in another lane meanwhile is past, too */
            sn_stamp left;
            if (__atomic_load_n(&sn_lane_at(r, input, k)->count, __ATOMIC_ACQUIRE) == newest[k].count) continue;
            if (sn_lane_read(r, input, k, NULL, &left) == SN_NEW && sn_stamp_earlier(&left, s)) newest[k].count = left.count;
        }
        sn_lane_note(m, chosen, s, r->step + 1);
        code = answering != SN_NONE && s->answers != answering ? SN_LATE : SN_NEW;
    }
    if (code == SN_NEW) {
        const sn_stamp *s = &newest[chosen];
        __atomic_store_n(&m->applied[chosen], m->applied[chosen] + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&m->step, r->step + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&m->answers, s->answers, __ATOMIC_RELAXED);
        __atomic_store_n(&m->sent_ns, s->sent_ns, __ATOMIC_RELAXED);
        __atomic_store_n(&m->age_ns, now_ns - s->sent_ns, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&m->charge, m->speaker[chosen], __ATOMIC_RELAXED);
    for (uint32_t k = 0; k < SN_LANES; k++) __atomic_store_n(&m->taken[k], newest[k].count, __ATOMIC_RELAXED);
    return code;
}

/* Begin anew: what was sent until now is not applied, and nobody is in charge. */
static inline void sn_mailbox_forget(sn_ring *r, uint32_t input)
{
    sn_mailbox *m = sn_mailbox_at(r, input);
    for (uint32_t k = 0; k < SN_LANES; k++) {
        uint64_t count = __atomic_load_n(&sn_lane_at(r, input, k)->count, __ATOMIC_ACQUIRE);
        __atomic_store_n(&m->taken[k], count, __ATOMIC_RELAXED);
        __atomic_store_n(&m->speaker[k], 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&m->charge, 0, __ATOMIC_RELAXED);
}

#endif
