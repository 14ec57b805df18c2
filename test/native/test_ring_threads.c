/* The protocol between threads: no reader ever sees a mixed slot, no writer ever waits, every wait ends. */
#include <pthread.h>
#include <sched.h>

#include "check.h"

#define TICKS 100000
#define READERS 3

static sn_ring ring;
static uint64_t done;

static int whole(const void *payload, uint64_t step)
{
    const uint64_t *words = (const uint64_t *)payload;
    for (uint64_t i = 0; i < ring.geometry.slot_size / 8; i++)
        if (words[i] != step) return 0;
    return 1;
}

/* Leases ticks, sometimes several at once, and looks at each twice. */
static void *lease(void *unused)
{
    (void)unused;
    sn_reader d;
    sn_tick t, held[3];
    int holding = 0;
    CHECK(sn_reader_open(&d, &ring) == SN_OK);
    uint64_t last = 0, seen = 0;
    while (sn_reader_wait(&d, INT64_C(60000000000), 0) == SN_NEW) {
        if (sn_reader_take(&d, &t, 0) != SN_NEW) continue;
        CHECK(t.step > last && whole(t.payload, t.step));
        last = t.step;
        seen += 1 + t.skipped;
        if (t.step % 3 == 0 && holding < 3) {
            held[holding++] = t;
            continue;
        }
        CHECK(whole(t.payload, t.step));
        sn_reader_release(&d, &t);
        while (holding > 0 && t.step % 5 == 0) {
            holding--;
            CHECK(whole(held[holding].payload, held[holding].step));
            sn_reader_release(&d, &held[holding]);
        }
    }
    CHECK(last > 0 && d.entry->taken + d.entry->skipped == seen);
    sn_reader_close(&d);
    return NULL;
}

static void *copy(void *unused)
{
    (void)unused;
    sn_tick t;
    uint64_t words[64], last = 0;
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        if (!sn_ring_copy(&ring, words, &t)) continue;
        CHECK(whole(words, t.step) && t.step >= last && t.hash == (t.step ^ 0xabc));
        last = t.step;
    }
    return NULL;
}

static void readers_see_whole_slots(void)
{
    pthread_t threads[READERS + 1];
    make_ring(&ring, 4, 512, 0, 0);
    done = 0;
    for (int i = 0; i <= READERS; i++) CHECK(pthread_create(&threads[i], NULL, i < READERS ? lease : copy, NULL) == 0);
    uint64_t published = 0;
    for (uint64_t step = 1; step <= TICKS; step++) {
        int slot = publish(&ring, step);
        published += slot < 4;
        if (slot >= 4) CHECK(whole(sn_ring_slot(&ring, slot), step));
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    sn_ring_close(&ring);
    for (int i = 0; i <= READERS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(published + ring.control->dropped == TICKS);
    sn_ring_unmap(&ring);
}

/* Each side waits for the other's answer, so a lost wake-up would stop both. */
static void *answer(void *unused)
{
    (void)unused;
    sn_reader d;
    sn_tick t;
    CHECK(sn_reader_open(&d, &ring) == SN_OK);
    for (uint64_t step = 1; step <= TICKS / 10; step++) {
        CHECK(sn_reader_wait(&d, INT64_C(60000000000), step % 2 ? 0 : 20000) == SN_NEW);
        CHECK(sn_reader_take(&d, &t, 0) == SN_NEW && t.step == step && t.skipped == 0);
        uint64_t command[8];
        for (int i = 0; i < 8; i++) command[i] = step;
        CHECK(sn_mailbox_put(&d, 0, command, t.step, sn_now_ns()) == 0);
        sn_reader_release(&d, &t);
    }
    return NULL;
}

static void no_wake_up_is_lost(void)
{
    pthread_t thread;
    make_ring(&ring, 4, 64, 1, 64);
    CHECK(pthread_create(&thread, NULL, answer, NULL) == 0);
    for (uint64_t step = 1; step <= TICKS / 10; step++) {
        uint64_t command[8], answers;
        int64_t sent_ns;
        publish(&ring, step);
        while (sn_mailbox_take(&ring, 0, command, &answers, &sent_ns) != SN_NEW) sched_yield();
        CHECK(answers == step && command[0] == step && command[7] == step);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    sn_ring_unmap(&ring);
}

static void *hammer(void *unused)
{
    (void)unused;
    sn_reader d;
    CHECK(sn_reader_open(&d, &ring) == SN_OK && sn_mailbox_claim(&d, 0) == 0);
    for (uint64_t n = 1; n <= TICKS; n++) {
        uint64_t *words = (uint64_t *)sn_mailbox_buffer(&d, 0);
        for (int i = 0; i < 100; i++) __atomic_store_n(&words[i], n, __ATOMIC_RELAXED);
        sn_mailbox_send(&d, 0, n, (int64_t)n);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void commands_are_never_mixed(void)
{
    pthread_t thread;
    uint64_t words[100], answers, last = 0;
    int64_t sent_ns;
    make_ring(&ring, 4, 64, 1, 800);
    done = 0;
    CHECK(pthread_create(&thread, NULL, hammer, NULL) == 0);
    int over = 0;
    while (last < TICKS) {
        if (sn_mailbox_take(&ring, 0, words, &answers, &sent_ns) == SN_NEW) {
            CHECK(answers > last && sent_ns == (int64_t)answers);
            for (int i = 0; i < 100; i++) CHECK(words[i] == answers);
            last = answers;
        } else {
            CHECK(!over); /* once the writer is done, the next try has its last command */
            over = (int)__atomic_load_n(&done, __ATOMIC_ACQUIRE);
        }
    }
    CHECK(pthread_join(thread, NULL) == 0);
    sn_ring_unmap(&ring);
}

int main(void)
{
    readers_see_whole_slots();
    no_wake_up_is_lost();
    commands_are_never_mixed();
    return 0;
}
