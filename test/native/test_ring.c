/* The protocol in one thread: slots, leases, spares, mailboxes, lives. */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "check.h"

static void ticks_come_in_order_and_skips_are_counted(void)
{
    sn_ring r;
    make_ring(&r, 4, 64, 0, 0);
    sn_reader d;
    sn_tick t;
    uint64_t copy[8];
    CHECK(sn_reader_open(&d, &r) == SN_OK);
    CHECK(sn_reader_take(&d, &t, 1) == SN_NOTHING && sn_ring_copy(&r, copy, &t) == SN_NOTHING);
    CHECK(sn_reader_wait(&d, 0, 0) == SN_NOTHING);
    publish(&r, 10);
    CHECK(sn_reader_wait(&d, 0, 0) == SN_NEW);
    CHECK(sn_reader_take(&d, &t, 0) == SN_NEW && t.step == 10 && t.stamp_ns == 10000 && t.hash == (10 ^ 0xabc));
    CHECK(t.skipped == 0);
    CHECK(((uintptr_t)t.payload & 63) == 0 && *(const uint64_t *)t.payload == 10);
    sn_reader_release(&d, &t);
    CHECK(sn_reader_take(&d, &t, 0) == SN_NOTHING && sn_reader_take(&d, &t, 1) == SN_NEW && t.skipped == 0);
    sn_reader_release(&d, &t);
    for (uint64_t step = 11; step < 15; step++) publish(&r, step);
    CHECK(sn_reader_take(&d, &t, 0) == SN_NEW && t.step == 14 && t.skipped == 3);
    CHECK(d.entry->taken == 2 && d.entry->skipped == 3 && d.entry->step == 14 && d.entry->lost == 0);
    CHECK(sn_ring_copy(&r, copy, &t) == SN_NEW && copy[0] == 14 && copy[7] == 14);
    sn_ring_close(&r);
    CHECK(sn_reader_wait(&d, 1000, 0) == SN_CLOSED);
}

static void leased_slots_are_left_alone_and_spares_alternate(void)
{
    sn_ring r;
    make_ring(&r, 4, 64, 0, 0);
    sn_reader d, other;
    sn_tick held[5];
    CHECK(sn_reader_open(&d, &r) == SN_OK && sn_reader_open(&other, &r) == SN_OK && d.entry != other.entry);
    for (int i = 0; i < 4; i++) {
        publish(&r, (uint64_t)i);
        CHECK(sn_reader_take(&d, &held[i], 0) == SN_NEW);
        for (int k = 0; k < i; k++) CHECK(held[k].slot != held[i].slot);
    }
    CHECK(sn_reader_take(&other, &held[4], 1) == SN_NEW);
    int first = publish(&r, 4), second = publish(&r, 5), third = publish(&r, 6);
    CHECK(first >= 4 && second >= 4 && first != second && third == first);
    CHECK(*(uint64_t *)sn_ring_slot(&r, second) == 5); /* what was committed last but one is whole, what is last too */
    CHECK(r.control->dropped == 3);
    for (uint64_t i = 0; i < 4; i++) CHECK(*(const uint64_t *)held[i].payload == i);
    CHECK(sn_reader_take(&d, &held[4], 1) == SN_NO_LEASE);
    sn_reader_release(&d, &held[1]);
    CHECK(publish(&r, 7) == (int)held[1].slot);
    CHECK(sn_reader_take(&d, &held[1], 0) == SN_NEW && held[1].step == 7 && held[1].skipped == 3);
    int slot = sn_ring_next(&r);
    CHECK(slot == sn_ring_next(&r)); /* not committed: the same one again */
}

static void a_slot_given_back_can_still_be_leased(void)
{
    sn_ring r;
    make_ring(&r, 2, 64, 0, 0);
    sn_reader d;
    sn_tick first, second;
    CHECK(sn_reader_open(&d, &r) == SN_OK);
    publish(&r, 1);
    CHECK(sn_reader_take(&d, &first, 0) == SN_NEW);
    publish(&r, 2);
    CHECK(sn_ring_next(&r) >= 2); /* one slot is leased, the other the latest */
    CHECK(sn_slot_at(&r, first.slot)->sequence == 2);
    CHECK(sn_reader_take(&d, &second, 0) == SN_NEW && second.step == 2);
}

static void a_tick_overwritten_before_its_lease_is_not_taken(void)
{
    sn_ring r;
    make_ring(&r, 2, 64, 0, 0);
    sn_reader d;
    sn_tick t;
    uint64_t copy[8];
    CHECK(sn_reader_open(&d, &r) == SN_OK);
    publish(&r, 1);
    uint64_t old = r.control->latest;
    publish(&r, 2);
    publish(&r, 3);
    uint64_t newest = r.control->latest;
    CHECK((old & 255) == (newest & 255));
    r.control->latest = old; /* as a reader sees it that loaded it before the other two were published */
    CHECK(sn_reader_take(&d, &t, 0) == SN_NOTHING && d.entry->lost == SN_TRIES && d.entry->lease[0] == 0);
    CHECK(sn_ring_copy(&r, copy, &t) == SN_NOTHING);
    r.control->latest = newest;
    CHECK(sn_reader_take(&d, &t, 0) == SN_NEW && t.step == 3);
}

static void a_killed_waiter_costs_one_call(void)
{
    sn_ring r;
    make_ring(&r, 2, 64, 0, 0);
    sn_control *c = r.control;
    publish(&r, 1);
    CHECK(c->waiter == 0);
    pid_t child = fork();
    if (child == 0) {
        sn_reader d;
        sn_tick t;
        CHECK(sn_reader_open(&d, &r) == SN_OK && sn_reader_take(&d, &t, 0) == SN_NEW);
        sn_reader_wait(&d, INT64_MAX, 0);
        _exit(0);
    }
    while (!__atomic_load_n(&c->waiter, __ATOMIC_SEQ_CST)) sched_yield();
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    CHECK(c->waiter == 1);
    publish(&r, 2);
    CHECK(c->waiter == 0); /* so the next commit makes no call */
}

static void the_reader_table_fills_and_dead_readers_leave_it(void)
{
    sn_ring r;
    make_ring(&r, 4, 64, 1, 8);
    sn_reader d[SN_READERS + 1];
    uint64_t command = 5;
    for (uint32_t i = 0; i < SN_READERS; i++) CHECK(sn_reader_open(&d[i], &r) == SN_OK);
    CHECK(sn_reader_open(&d[SN_READERS], &r) == SN_NO_ROOM);
    for (uint32_t i = 3; i < 3 + SN_LANES; i++) CHECK(sn_mailbox_put(&d[i], 0, &command, 1, 2) == SN_OK);
    CHECK(sn_mailbox_put(&d[9], 0, &command, 1, 2) == SN_NO_LANE);
    pid_t child = fork();
    if (child == 0) { /* dies with a lease, a place in the table and a mailbox */
        sn_reader dying;
        sn_tick t;
        publish(&r, 1);
        sn_reader_close(&d[3]);
        _exit(sn_reader_open(&dying, &r) == SN_OK && sn_reader_take(&dying, &t, 0) == SN_NEW &&
                      sn_mailbox_put(&dying, 0, &command, 1, 2) == 0 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    sn_entry *entry = &r.control->readers[3];
    CHECK(sn_life_pid(entry->life) == (uint32_t)child && entry->lease[0] != 0);
    CHECK(sn_life_pid(sn_lane_at(&r, 0, 0)->writer) == (uint32_t)child && sn_lane_at(&r, 0, 0)->count == 2);
    CHECK(sn_mailbox_put(&d[9], 0, &command, 1, 2) == SN_OK && sn_lane_at(&r, 0, 0)->count == 3); /* the dead one's lane */
    sn_mailbox_leave(&d[9], 0);
    sn_lane_at(&r, 0, 0)->writer = entry->life; /* as if nobody had asked for it: the heartbeat finds it, too */
    for (int64_t beat = 1; beat <= SN_READERS; beat++) sn_ring_heartbeat(&r, r.beat_ns + SN_BEAT_NS);
    CHECK(entry->life == 0 && entry->lease[0] == 0 && sn_lane_at(&r, 0, 0)->writer == 0);
    for (uint32_t i = 5; i < SN_READERS; i++) CHECK(r.control->readers[i].life == d[i].life);
    CHECK(sn_reader_open(&d[3], &r) == SN_OK);
}

static void commands_arrive_whole_and_once(void)
{
    sn_ring r;
    make_ring(&r, 4, 64, 2, 13); /* not a multiple of a word */
    sn_reader d;
    char sent[13] = "twelve bytes", got[13] = "";
    CHECK(sn_reader_open(&d, &r) == SN_OK);
    CHECK(sn_mailbox_take(&r, 1, got, SN_NONE, 100) == SN_NOTHING);
    CHECK(sn_mailbox_put(&d, 1, sent, 41, 99) == 0);
    CHECK(sn_mailbox_take(&r, 0, got, SN_NONE, 100) == SN_NOTHING);
    CHECK(sn_mailbox_take(&r, 1, got, SN_NONE, 100) == SN_NEW && memcmp(sent, got, 13) == 0);
    const sn_mailbox *m = sn_mailbox_at(&r, 1);
    CHECK(m->answers == 41 && m->sent_ns == 99 && m->age_ns == 1 && m->step == 1 && m->applied[0] == 1);
    CHECK(sn_mailbox_take(&r, 1, got, SN_NONE, 100) == SN_NOTHING);
    char *half = (char *)sn_mailbox_buffer(&d, 1); /* half filled, never sent: the last command stays */
    half[0] = 'X';
    CHECK(sn_mailbox_take(&r, 1, got, SN_NONE, 100) == SN_NOTHING && got[0] == 't');
    CHECK(*(char *)sn_lane_half(&r, 1, 0, sn_lane_at(&r, 1, 0)->count) == 't');
}

static void lives_tell_processes_apart(void)
{
    uint64_t self = sn_life_self();
    CHECK(sn_life_pid(self) == (uint32_t)getpid() && sn_life_start(self) > 0);
    CHECK(!sn_life_ended(self) && !sn_life_ended(self | UINT64_C(9) << 56));
    CHECK(sn_life_ended(self + (UINT64_C(1) << 22))); /* same pid, started later */
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    uint64_t life = sn_life_of((uint32_t)child);
    CHECK(!sn_life_ended(life));
    siginfo_t info;
    CHECK(kill(child, SIGKILL) == 0 && waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
    CHECK(sn_life_ended(life)); /* a zombie holds nothing */
    CHECK(waitpid(child, NULL, 0) == child && sn_life_ended(life));
}

static void choices_outside_the_limits_are_refused(void)
{
    sn_geometry good, g;
    memset(&good, 0, sizeof good);
    good.slots = 4;
    CHECK(sn_geometry_place(&good) == NULL);
    g = good, g.slots = 1;
    CHECK(sn_geometry_place(&g) != NULL);
    g = good, g.slots = SN_SLOTS + 1;
    CHECK(sn_geometry_place(&g) != NULL);
    g = good, g.inputs = SN_INPUTS + 1;
    CHECK(sn_geometry_place(&g) != NULL);
    g = good, g.slot_size = 12;
    CHECK(sn_geometry_place(&g) != NULL);
    g = good, g.slot_size = UINT64_MAX - 7;
    CHECK(sn_geometry_place(&g) != NULL);
    g = good, g.inputs = 1, g.input_size[0] = UINT64_MAX;
    CHECK(sn_geometry_place(&g) != NULL);
}

static void who_maps_the_memory_of_a_gpu_is_seen_until_it_leaves_or_dies(void)
{
    sn_ring ring;
    void *memory = make_ring(&ring, 2, 64, 0, 0);
    uint32_t place, other;
    CHECK(sn_mapper_enter(&ring, &place) == SN_OK && sn_mapper_enter(&ring, &other) == SN_OK && place != other);
    CHECK(sn_mapper_of(&ring, place) == sn_life_self() && sn_mapper_of(&ring, other) == sn_life_self());
    sn_mapper_leave(&ring, other);
    CHECK(sn_mapper_of(&ring, other) == 0);
    const pid_t child = fork();
    if (child == 0) _exit(sn_mapper_enter(&ring, &other) == SN_OK ? (int)other : 99);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == (int)other);
    CHECK(ring.control->mappers[other] != 0 && sn_mapper_of(&ring, other) == 0);
    for (uint32_t i = 1; i < SN_READERS; i++) CHECK(sn_mapper_enter(&ring, &other) == SN_OK); /* the dead one's place, too */
    CHECK(sn_mapper_enter(&ring, &other) == SN_NO_ROOM);
    sn_mapper_leave(&ring, place);
    sn_ring_close(&ring);
    CHECK(sn_mapper_enter(&ring, &place) == SN_CLOSED && sn_mapper_of(&ring, place) == 0);
    munmap(memory, ring.geometry.size);
}

static void each_code_has_words_of_its_own(void)
{
    for (int code = SN_LATE; code <= SN_NEW; code++)
        for (int other = code + 1; other <= SN_NEW + 1; other++)
            CHECK(strcmp(sn_code_text(code), sn_code_text(other)) != 0);
    CHECK(strcmp(sn_code_text(SN_LATE - 1), sn_code_text(SN_NEW + 1)) == 0);
}

static void a_lease_that_is_over_is_taken_away(void)
{
    sn_ring r;
    make_ring(&r, 2, 64, 0, 0);
    sn_reader d;
    sn_tick old, young;
    CHECK(sn_reader_open(&d, &r) == SN_OK);
    r.control->lease_limit_ns = INT64_C(3600000000000);
    publish(&r, 1);
    CHECK(sn_reader_take(&d, &old, 0) == SN_NEW);
    publish(&r, 2);
    CHECK(publish(&r, 3) >= 2 && publish(&r, 4) >= 2 && d.entry->revoked == 0); /* an hour is not over */
    CHECK(sn_reader_intact(&d, &old) && r.control->dropped == 2);
    sn_reader_release(&d, &old);
    CHECK(sn_reader_intact(&d, &old)); /* nobody has filled it */
    publish(&r, 5);
    CHECK(!sn_reader_intact(&d, &old));
    CHECK(sn_reader_take(&d, &old, 0) == SN_NEW && old.step == 5);
    publish(&r, 6);
    r.control->lease_limit_ns = 1;
    CHECK(publish(&r, 7) >= 2 && sn_reader_intact(&d, &old)); /* met for the first time */
    sn_reader_release(&d, &old);
    CHECK(sn_reader_take(&d, &young, 1) == SN_NEW && young.step == 6);
    CHECK(publish(&r, 8) < 2 && publish(&r, 9) >= 2); /* now that one is met first */
    CHECK(sn_reader_intact(&d, &young) && d.entry->revoked == 0);
    const int64_t met_ns = sn_now_ns();
    while (sn_now_ns() <= met_ns + 1) continue;
    CHECK(publish(&r, 10) == (int)young.slot && d.entry->revoked == 1 && d.entry->lease[young.lease] == 0);
    CHECK(!sn_reader_intact(&d, &young));
    CHECK(sn_reader_take(&d, &old, 0) == SN_NEW && old.lease == young.lease && old.step == 10);
    sn_reader_release(&d, &young); /* not the other tick's */
    CHECK(d.entry->lease[old.lease] == old.word && sn_reader_intact(&d, &old));
}

int main(void)
{
    ticks_come_in_order_and_skips_are_counted();
    leased_slots_are_left_alone_and_spares_alternate();
    a_slot_given_back_can_still_be_leased();
    a_tick_overwritten_before_its_lease_is_not_taken();
    a_lease_that_is_over_is_taken_away();
    a_killed_waiter_costs_one_call();
    the_reader_table_fills_and_dead_readers_leave_it();
    commands_arrive_whole_and_once();
    lives_tell_processes_apart();
    choices_outside_the_limits_are_refused();
    who_maps_the_memory_of_a_gpu_is_seen_until_it_leaves_or_dies();
    each_code_has_words_of_its_own();
    return 0;
}
