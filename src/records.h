/* The queue of records from the tick to the thread that writes them out: one producer, one consumer, fixed memory.
 *
 * A full queue loses the new record and counts it; the producer never waits. Each record carries the number lost before
 * it, so that the consumer can tell where a run of ticks ends.
 */
#ifndef SIM_NODE_RECORDS_H
#define SIM_NODE_RECORDS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t step;
    uint64_t lost; /* records dropped since the start, before this one */
    uint64_t unanswered; /* a bit for each input without an answer in time */
    uint64_t words[]; /* a hash a field, then the inputs' bytes */
} sn_record;

typedef struct {
    uint8_t *memory;
    uint64_t capacity; /* a power of two */
    uint64_t fields, input_bytes, stride;
    _Atomic uint64_t lost; /* only the producer counts */
    _Alignas(64) _Atomic uint64_t head; /* records put */
    _Alignas(64) _Atomic uint64_t tail; /* records taken */
} sn_records;

/* Returns 0, or -1 when memory is short. The memory is touched, so that no tick meets a page fault. */
static inline int sn_records_open(sn_records *records, uint64_t capacity, uint64_t fields, uint64_t input_bytes)
{
    memset(records, 0, sizeof *records);
    records->capacity = 1;
    while (records->capacity < capacity) records->capacity *= 2;
    records->fields = fields;
    records->input_bytes = input_bytes;
    records->stride = (sizeof(sn_record) + fields * 8 + input_bytes + 7) / 8 * 8;
    if (records->capacity > SIZE_MAX / records->stride) return -1;
    records->memory = malloc(records->capacity * records->stride);
    if (records->memory == NULL) return -1;
    memset(records->memory, 0, records->capacity * records->stride);
    return 0;
}

static inline void sn_records_close(sn_records *records)
{
    free(records->memory);
    records->memory = NULL;
}

static inline sn_record *sn_records_at(const sn_records *records, uint64_t position)
{
    return (sn_record *)(void *)(records->memory + (position & (records->capacity - 1)) * records->stride);
}

/* The record to fill and then put, or NULL when the queue is full: then it is lost, and counted. */
static inline sn_record *sn_records_claim(sn_records *records)
{
    const uint64_t head = atomic_load_explicit(&records->head, memory_order_relaxed);
    if (head - atomic_load_explicit(&records->tail, memory_order_acquire) == records->capacity) {
        atomic_fetch_add_explicit(&records->lost, 1, memory_order_relaxed);
        return NULL;
    }
    return sn_records_at(records, head);
}

static inline void sn_records_put(sn_records *records, sn_record *record, uint64_t step, uint64_t unanswered)
{
    record->step = step;
    record->unanswered = unanswered;
    record->lost = atomic_load_explicit(&records->lost, memory_order_relaxed);
    const uint64_t head = atomic_load_explicit(&records->head, memory_order_relaxed);
    atomic_store_explicit(&records->head, head + 1, memory_order_release);
}

/* Records that wait and follow one another step by step, from the oldest on. */
static inline uint64_t sn_records_run(const sn_records *records)
{
    const uint64_t head = atomic_load_explicit(&records->head, memory_order_acquire);
    const uint64_t tail = atomic_load_explicit(&records->tail, memory_order_relaxed);
    if (head == tail) return 0;
    uint64_t count = 1;
    const uint64_t first = sn_records_at(records, tail)->step;
    while (tail + count < head && sn_records_at(records, tail + count)->step == first + count) count++;
    return count;
}

/* The i-th waiting record. */
static inline const sn_record *sn_records_peek(const sn_records *records, uint64_t i)
{
    return sn_records_at(records, atomic_load_explicit(&records->tail, memory_order_relaxed) + i);
}

static inline const uint8_t *sn_record_inputs(const sn_records *records, const sn_record *record)
{
    return (const uint8_t *)(record->words + records->fields);
}

/* Empties the queue and forgets what was lost; the caller is both producer and consumer. */
static inline void sn_records_clear(sn_records *records)
{
    atomic_store_explicit(&records->tail, atomic_load(&records->head), memory_order_release);
    atomic_store_explicit(&records->lost, 0, memory_order_relaxed);
}

/* Gives the first `count` records back to the producer. */
static inline void sn_records_take(sn_records *records, uint64_t count)
{
    const uint64_t tail = atomic_load_explicit(&records->tail, memory_order_relaxed);
    atomic_store_explicit(&records->tail, tail + count, memory_order_release);
}

#endif
