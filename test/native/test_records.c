/* The queue under a producer that outruns its consumer: nothing is torn, twice or out of order, and losses add up. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "records.h"

enum { TICKS = 200000, FIELDS = 3 };

static sn_records records;
static _Atomic int done;

static void *produce(void *unused)
{
    (void)unused;
    for (uint64_t step = 1; step <= TICKS; step++) {
        sn_record *record = sn_records_claim(&records);
        if (record != NULL) {
            for (int i = 0; i < FIELDS; i++) record->words[i] = step * 10 + (uint64_t)i;
            memcpy(record->words + FIELDS, &step, 5);
            sn_records_put(&records, record, step, step % 3);
        }
        if (step % 1000 == 0) sched_yield();
    }
    atomic_store(&done, 1);
    return NULL;
}

static void check(int good, uint64_t step)
{
    if (good) return;
    fprintf(stderr, "wrong at step %llu\n", (unsigned long long)step);
    exit(1);
}

int main(void)
{
    check(sn_records_open(&records, 100, FIELDS, 5) == 0 && records.capacity == 128, 0);
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    uint64_t last = 0, lost = 0, taken = 0;
    for (int over = 0; !over;) {
        over = atomic_load(&done); /* read before the queue: what is put later is taken in the next turn */
        for (uint64_t count; (count = sn_records_run(&records)) > 0;) {
            over = 0;
            for (uint64_t i = 0; i < count; i++) {
                const sn_record *record = sn_records_peek(&records, i);
                const uint64_t step = record->step;
                check(i == 0 ? step - last - 1 == record->lost - lost : step == last + 1, step);
                for (int k = 0; k < FIELDS; k++) check(record->words[k] == step * 10 + (uint64_t)k, step);
                check(memcmp(sn_record_inputs(&records, record), &step, 5) == 0, step);
                check(record->unanswered == step % 3, step);
                last = step;
                lost = record->lost;
            }
            sn_records_take(&records, count);
            taken += count;
        }
    }
    pthread_join(producer, NULL);
    check(taken + records.lost == TICKS, taken);
    sn_records_close(&records);
    return 0;
}
