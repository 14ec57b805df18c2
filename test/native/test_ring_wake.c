/* No wake-up is lost, wherever producer and reader are held up: at each atomic operation of a commit the producer stands
 * still until the reader sleeps or stands still at one of its own, which goes on when the commit is over. Both that
 * tick and the next must reach the reader. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local int operations = -1; /* left until this thread is held up; negative: never */
static _Thread_local void (*hold_up)(void);

#define STEP() (operations >= 0 && operations-- == 0 ? hold_up() : (void)0)
#define __atomic_store_n(at, value, order) (STEP(), __atomic_store_n(at, value, order))
#define __atomic_exchange_n(at, value, order) (STEP(), __atomic_exchange_n(at, value, order))
#define __atomic_fetch_add(at, value, order) (STEP(), __atomic_fetch_add(at, value, order))
#define __atomic_load_n(at, order) (STEP(), __atomic_load_n(at, order))
#define syscall(...) (STEP(), (syscall)(__VA_ARGS__))

#include "check.h"

#define LIMIT_NS INT64_C(20000000000)

static sn_ring ring;
static _Atomic int thread_id, reader_goes, reader_is_held, committed;
static _Atomic uint64_t taken;

static void hold_up_reader(void)
{
    reader_is_held = 1;
    while (!committed) sched_yield();
    reader_is_held = 0;
}

static void *read_two(void *operation)
{
    sn_reader d;
    sn_tick t;
    CHECK(sn_reader_open(&d, &ring) == SN_OK);
    thread_id = (int)(syscall)(SYS_gettid);
    while (!reader_goes) sched_yield();
    hold_up = hold_up_reader;
    operations = *(const int *)operation;
    while (taken < 2) {
        CHECK(sn_reader_wait(&d, LIMIT_NS, 0) == SN_NEW);
        CHECK(sn_reader_take(&d, &t, 0) == SN_NEW);
        sn_reader_release(&d, &t);
        taken = t.step;
    }
    sn_reader_close(&d);
    return NULL;
}

static int sleeps(void)
{
    char path[64], text[256] = {0};
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread_id);
    int file = open(path, O_RDONLY);
    CHECK(file >= 0 && read(file, text, sizeof text - 1) > 0);
    close(file);
    return strrchr(text, ')')[2] == 'S';
}

static void hold_up_producer(void)
{
    reader_goes = 1;
    while (!reader_is_held && !sleeps()) sched_yield();
}

static void wait_for(uint64_t step)
{
    const int64_t start = sn_now_ns();
    while (taken < step && sn_now_ns() - start < LIMIT_NS) sched_yield();
    CHECK(taken >= step);
}

/* Returns whether the producer was held up, and whether the reader was, as two bits. */
static int commit_held_up_at(int producers, int readers, uint32_t waiter)
{
    pthread_t thread;
    void *memory = make_ring(&ring, 4, 64, 0, 0);
    ring.control->waiter = waiter; /* as an earlier wait may have left it */
    thread_id = reader_goes = reader_is_held = committed = 0;
    taken = 0;
    CHECK(pthread_create(&thread, NULL, read_two, &readers) == 0);
    while (thread_id == 0) sched_yield();
    hold_up = hold_up_producer;
    operations = producers;
    publish(&ring, 1);
    const int reached = (operations < 0) | (reader_is_held << 1);
    operations = -1;
    reader_goes = committed = 1;
    wait_for(1);
    while (!sleeps()) sched_yield();
    publish(&ring, 2);
    wait_for(2);
    CHECK(pthread_join(thread, NULL) == 0);
    munmap(memory, (size_t)ring.geometry.size);
    return reached;
}

int main(void)
{
    for (uint32_t waiter = 0; waiter < 2; waiter++)
        for (int producers = 0, reached = 1; reached & 1; producers++)
            for (int readers = 0; (reached = commit_held_up_at(producers, readers, waiter)) == 3; readers++) continue;
    return 0;
}
