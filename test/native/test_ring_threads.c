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
        uint64_t command[8];
        publish(&ring, step);
        while (sn_mailbox_take(&ring, 0, command, SN_NONE, sn_now_ns()) != SN_NEW) sched_yield();
        CHECK(sn_mailbox_at(&ring, 0)->answers == step && command[0] == step && command[7] == step);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    sn_ring_unmap(&ring);
}

/* One of SN_LANES writers: its commands say who it is and how many it sent. Claims anew from time to time. */
static void *hammer(void *number)
{
    const uint64_t self = (uint64_t)(uintptr_t)number;
    sn_reader d;
    char name[2] = {(char)('0' + self), 0};
    CHECK(sn_reader_open(&d, &ring) == SN_OK);
    for (uint64_t n = 1; n <= TICKS; n++) {
        if (n % 100 == 1) {
            sn_mailbox_leave(&d, 0);
            CHECK(sn_mailbox_claim(&d, 0, name, (int32_t)self, 0, NULL) == SN_OK);
        }
        uint64_t *words = (uint64_t *)sn_mailbox_buffer(&d, 0);
        for (int i = 0; i < 100; i++) __atomic_store_n(&words[i], n << 8 | self, __ATOMIC_RELAXED);
        sn_mailbox_send(&d, 0, n << 8 | self, (int64_t)n);
    }
    sn_reader_close(&d);
    __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Whatever the writers do, commands are whole, come in each one's order, and have the rank of their sender. */
static void hammer_with(uint64_t writers, int ticking)
{
    pthread_t threads[SN_LANES];
    uint64_t words[100], last[SN_LANES] = {0};
    make_ring(&ring, 4, 64, 1, 800);
    done = 0;
    for (uint64_t i = 0; i < writers; i++) CHECK(pthread_create(&threads[i], NULL, hammer, (void *)(uintptr_t)i) == 0);
    const sn_mailbox *m = sn_mailbox_at(&ring, 0);
    int over = 0, code = SN_NEW;
    for (uint64_t step = 1; !over || code == SN_NEW; step++) {
        over = __atomic_load_n(&done, __ATOMIC_ACQUIRE) == writers;
        code = sn_mailbox_take(&ring, 0, words, SN_NONE, 0);
        CHECK(!over || code != SN_OUTRUN);
        if (code == SN_NEW) {
            const uint64_t who = words[0] & 255, n = words[0] >> 8;
            CHECK(who < writers && m->answers == words[0] && m->sent_ns == (int64_t)n);
            CHECK(n > last[who]);
            uint32_t k = 0;
            while (k < SN_LANES - 1 && m->speaker[k] != m->charge) k++;
            CHECK(m->speaker[k] == m->charge && m->rank[k] == (int32_t)who);
            for (int i = 0; i < 100; i++) CHECK(words[i] == words[0]);
            last[who] = n;
        }
        if (ticking) publish(&ring, step);
    }
    for (uint64_t i = 0; i < writers; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(writers > 1 || last[0] == TICKS); /* once a writer alone is done, the next take has its last command */
    for (uint32_t k = 0; k < SN_LANES; k++) CHECK(m->taken[k] == sn_lane_at(&ring, 0, k)->count);
    sn_ring_unmap(&ring);
}

static void commands_are_never_mixed(void)
{
    hammer_with(1, 0);
    hammer_with(SN_LANES, 1);
}

static uint64_t holding, owned;

/* Wants the input alone, or shares it, for a moment, again and again. */
static void *contend(void *number)
{
    const uint64_t self = (uint64_t)(uintptr_t)number;
    const int alone = self % 2 == 0;
    sn_reader d;
    sn_writer other;
    CHECK(sn_reader_open(&d, &ring) == SN_OK);
    for (int n = 0; n < 300; n++) {
        const int code = sn_mailbox_claim(&d, 0, "contender", 0, alone, &other);
        CHECK(code == SN_OK || (code == SN_EXCLUSIVE && other.pid == (uint32_t)getpid()));
        if (code != SN_OK) continue;
        /* the number of those who hold it in the low half, of those who hold it alone in the high one */
        const uint64_t mine = alone ? UINT64_C(1) << 32 | 1 : 1;
        const uint64_t now = __atomic_add_fetch(&holding, mine, __ATOMIC_SEQ_CST);
        CHECK(now >> 32 == 0 || now == (UINT64_C(1) << 32 | 1));
        if (alone) owned++; /* the thread sanitizer would see two at once here */
        sched_yield();
        __atomic_sub_fetch(&holding, mine, __ATOMIC_SEQ_CST);
        sn_mailbox_leave(&d, 0);
    }
    sn_reader_close(&d);
    return NULL;
}

static void an_input_is_never_had_alone_beside_another(void)
{
    pthread_t threads[SN_LANES];
    make_ring(&ring, 4, 64, 1, 8);
    for (uint64_t i = 0; i < SN_LANES; i++) CHECK(pthread_create(&threads[i], NULL, contend, (void *)(uintptr_t)i) == 0);
    for (uint64_t i = 0; i < SN_LANES; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(holding == 0 && sn_mailbox_at(&ring, 0)->owner == 0);
    sn_reader last;
    CHECK(sn_reader_open(&last, &ring) == SN_OK && sn_mailbox_claim(&last, 0, "last", 0, 1, NULL) == SN_OK);
    sn_ring_unmap(&ring);
}

int main(void)
{
    readers_see_whole_slots();
    no_wake_up_is_lost();
    commands_are_never_mixed();
    an_input_is_never_had_alone_beside_another();
    return 0;
}
