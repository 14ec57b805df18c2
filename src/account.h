/* What the ticks of a stepper cost: histograms in nanoseconds, and counters. One writer, any number of readers. */
#ifndef SIM_NODE_ACCOUNT_H
#define SIM_NODE_ACCOUNT_H

#include "histogram.h"

/* In the order of the names in plant/statistics.py. */
typedef enum {
    SN_LATENESS,       /* from the instant a tick was due to the instant it began */
    SN_STEP_TIME,      /* from its beginning to its end */
    SN_WAKE_TO_COMMIT, /* from its beginning to the bell */
    SN_ANSWER_TIME,    /* from the instant that a tick could begin to the last command that it waited for */
    SN_HISTOGRAMS
} sn_quantity;

typedef enum {
    SN_TICKS,             /* done */
    SN_MISSES,            /* begun later than a period, or longer than one */
    SN_SKIPPED,           /* left out by the overrun policy */
    SN_COPIES,            /* published fields that had to be copied into their slot */
    SN_KEYFRAMES_SKIPPED, /* because the one before was not taken yet */
    SN_UNANSWERED,        /* done with no answer of an input in time */
    SN_COUNTERS
} sn_counter;

typedef struct {
    sn_histogram histograms[SN_HISTOGRAMS];
    _Atomic uint64_t counters[SN_COUNTERS];
} sn_account;

/* What came through the mailbox of an input: from sending a command to latching it; and in ticks from the one that a
 * command answers to the one that applies it: 1 is the next. Then what lockstep counts: ticks without an answer, the last
 * of them, and commands dropped since they came after their tick. */
typedef struct {
    sn_histogram age, delay;
    _Atomic uint64_t unanswered, unanswered_step, late;
} sn_received;

static inline void sn_account_put(sn_histogram *histogram, int64_t value)
{
    sn_histogram_add(histogram, value > 0 ? (uint64_t)value : 0);
}

static inline void sn_account_add(sn_account *account, sn_quantity quantity, int64_t value)
{
    sn_account_put(&account->histograms[quantity], value);
}

/* Only the tick counts, so a load and a store do. */
static inline void sn_count(_Atomic uint64_t *count, uint64_t by)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_relaxed);
}

static inline void sn_account_count(sn_account *account, sn_counter counter, uint64_t by)
{
    sn_count(&account->counters[counter], by);
}

#endif
