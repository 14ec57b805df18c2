/* Spans of time that a plan's runs and a stepper's ticks leave for a trace: what was done, from when to when.
 *
 * One writer, one reader, fixed memory; what does not fit is lost, and counted.
 */
#ifndef SIM_NODE_TRACE_H
#define SIM_NODE_TRACE_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In the order of the names in runtime/trace.py. Those from the kernel on are a GPU's own, where one runs the plan. */
typedef enum {
    SN_SPAN_TICK,    /* its number is the step that it made */
    SN_SPAN_INPUTS,  /* commands taken */
    SN_SPAN_PLAN,    /* run, and on a GPU waited for */
    SN_SPAN_HASH,
    SN_SPAN_COMMIT,  /* of the slot, and the bell rung */
    SN_SPAN_RECORD,  /* and keyframe, and heartbeat */
    SN_SPAN_KERNEL,  /* its number is that of the launch */
    SN_SPAN_TO_GPU,
    SN_SPAN_HASH_ON_GPU,
    SN_SPAN_COMMIT_ON_GPU, /* copies into the slot, commit, and sums for the host */
} sn_work;

typedef struct {
    int64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
    uint32_t work, number;
} sn_span;

typedef struct {
    sn_span *spans;
    uint64_t capacity; /* a power of two */
    _Atomic uint64_t lost; /* only the writer counts */
    _Alignas(64) _Atomic uint64_t head; /* spans put */
    _Alignas(64) _Atomic uint64_t tail; /* spans taken */
} sn_trace;

/* Returns 0, or -1 when memory is short. The memory is touched, so that no tick meets a page fault. */
static inline int sn_trace_open(sn_trace *trace, uint64_t capacity)
{
    memset(trace, 0, sizeof *trace);
    trace->capacity = 1;
    while (trace->capacity < capacity) trace->capacity *= 2;
    if (trace->capacity > SIZE_MAX / sizeof *trace->spans) return -1;
    trace->spans = malloc(trace->capacity * sizeof *trace->spans);
    if (trace->spans == NULL) return -1;
    memset(trace->spans, 0, trace->capacity * sizeof *trace->spans);
    return 0;
}

static inline void sn_trace_close(sn_trace *trace)
{
    free(trace->spans);
    trace->spans = NULL;
}

static inline void sn_trace_put(sn_trace *trace, sn_work work, uint32_t number, int64_t begin_ns, int64_t end_ns)
{
    const uint64_t head = atomic_load_explicit(&trace->head, memory_order_relaxed);
    if (head - atomic_load_explicit(&trace->tail, memory_order_acquire) == trace->capacity) {
        atomic_fetch_add_explicit(&trace->lost, 1, memory_order_relaxed);
        return;
    }
    trace->spans[head & (trace->capacity - 1)] = (sn_span){begin_ns, end_ns, work, number};
    atomic_store_explicit(&trace->head, head + 1, memory_order_release);
}

/* Takes up to `most` of the oldest spans that wait; returns how many. */
static inline uint64_t sn_trace_take(sn_trace *trace, sn_span *to, uint64_t most)
{
    const uint64_t tail = atomic_load_explicit(&trace->tail, memory_order_relaxed);
    uint64_t count = atomic_load_explicit(&trace->head, memory_order_acquire) - tail;
    if (count > most) count = most;
    for (uint64_t i = 0; i < count; i++) to[i] = trace->spans[(tail + i) & (trace->capacity - 1)];
    atomic_store_explicit(&trace->tail, tail + count, memory_order_release);
    return count;
}

#endif
