/* A histogram of fixed memory for one writer and any number of readers, with buckets as HdrHistogram has them: exact
 * below 64, then 64 to an octave, so that a value is known to 1.6 %.
 *
 * The writer never waits. Readers take the counts one by one: a value that comes in meanwhile may be in the sum and
 * not yet in a bucket, which statistics bear.
 */
#ifndef SIM_NODE_HISTOGRAM_H
#define SIM_NODE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    SN_HISTOGRAM_BITS = 6,
    SN_HISTOGRAM_TOP = 40, /* values of 2^40 and more (18 minutes of nanoseconds) fall into the last bucket */
    SN_HISTOGRAM_BUCKETS = (SN_HISTOGRAM_TOP - SN_HISTOGRAM_BITS + 1) << SN_HISTOGRAM_BITS
};

typedef struct {
    _Atomic uint64_t sum, max;
    _Atomic uint64_t counts[SN_HISTOGRAM_BUCKETS];
} sn_histogram;

static inline uint32_t sn_histogram_bucket(uint64_t value)
{
    if (value >> SN_HISTOGRAM_BITS == 0) return (uint32_t)value;
    if (value >> SN_HISTOGRAM_TOP) return SN_HISTOGRAM_BUCKETS - 1;
    const uint32_t shift = 63u - (uint32_t)__builtin_clzll(value) - SN_HISTOGRAM_BITS;
    return (shift << SN_HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

/* The least value that falls into a bucket. */
static inline uint64_t sn_histogram_floor(uint32_t bucket)
{
    const uint32_t octave = bucket >> SN_HISTOGRAM_BITS, within = bucket & ((1u << SN_HISTOGRAM_BITS) - 1);
    if (octave == 0) return within;
    return ((uint64_t)(1u << SN_HISTOGRAM_BITS) + within) << (octave - 1);
}

/* Only the writer adds, so a load and a store do. */
static inline void sn_histogram_add(sn_histogram *histogram, uint64_t value)
{
    _Atomic uint64_t *count = &histogram->counts[sn_histogram_bucket(value)];
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
    const uint64_t sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
    atomic_store_explicit(&histogram->sum, sum + value, memory_order_relaxed);
    if (value > atomic_load_explicit(&histogram->max, memory_order_relaxed))
        atomic_store_explicit(&histogram->max, value, memory_order_relaxed);
}

#endif
