/* Several writers of an input: who is in charge, who may claim it, and what a dead one leaves. */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "check.h"

#define NOTHING UINT64_MAX

static sn_ring ring;
static sn_reader writers[SN_LANES + 1];
static uint64_t step;

static void begin(int exclusive, uint32_t silence)
{
    make_ring(&ring, 4, 64, 2, 8);
    for (uint32_t i = 0; i < 2; i++) sn_mailbox_rule(&ring, i, exclusive, silence);
    for (uint32_t k = 0; k <= SN_LANES; k++) CHECK(sn_reader_open(&writers[k], &ring) == SN_OK);
    step = 0;
}

static void end(void) { sn_ring_unmap(&ring); }

static void claim(uint32_t writer, int32_t priority)
{
    char name[2] = {(char)('a' + writer), 0};
    CHECK(sn_mailbox_claim(&writers[writer], 0, name, priority, 0, NULL) == SN_OK);
}

static void put(uint32_t writer, uint64_t value) { CHECK(sn_mailbox_put(&writers[writer], 0, &value, step, 1) == SN_OK); }

/* The command of the next tick. */
static uint64_t tick(void)
{
    uint64_t value = 77;
    const int code = sn_mailbox_take(&ring, 0, &value, SN_NONE, 5);
    CHECK(code == SN_NEW || (code == SN_NOTHING && value == 77));
    publish(&ring, ++step);
    return code == SN_NEW ? value : NOTHING;
}

static void an_awaited_command_answers_the_last_tick_or_is_dropped(void)
{
    uint64_t value = 1;
    begin(0, 3);
    claim(0, 0), claim(1, 5);
    CHECK(!sn_mailbox_answered(&ring, 0));
    put(0, 100);
    sn_mailbox_put(&writers[1], 0, &value, SN_NONE, 1); /* of the higher priority, and answers none: not that one is waited for */
    CHECK(!sn_mailbox_answered(&ring, 0));
    put(1, 101);
    CHECK(sn_mailbox_answered(&ring, 0) && sn_mailbox_answered(&ring, 0)); /* a look changes nothing */
    CHECK(sn_mailbox_take(&ring, 0, &value, 0, 5) == SN_NEW && value == 101);
    publish(&ring, ++step);
    publish(&ring, ++step);
    sn_mailbox_put(&writers[1], 0, &value, step - 1, 1);
    CHECK(!sn_mailbox_answered(&ring, 0));
    CHECK(sn_mailbox_take(&ring, 0, &value, step, 5) == SN_LATE);
    CHECK(sn_mailbox_take(&ring, 0, &value, step, 5) == SN_NOTHING); /* it is gone */
    CHECK(sn_mailbox_at(&ring, 0)->applied[1] == 1 && sn_mailbox_at(&ring, 0)->answers == 0);
    put(0, 200);
    CHECK(!sn_mailbox_answered(&ring, 0)); /* 1 is in charge */
    sn_mailbox_leave(&writers[1], 0);
    CHECK(sn_mailbox_answered(&ring, 0));
    end();
}

static void the_highest_priority_wins_and_others_are_not_applied_late(void)
{
    begin(0, 3);
    claim(0, -1), claim(1, 10), claim(2, 5);
    put(0, 100), put(2, 102);
    CHECK(tick() == 102);
    put(0, 200), put(1, 201), put(2, 202);
    CHECK(tick() == 201);
    CHECK(tick() == NOTHING); /* nor what lost at the tick before */
    put(2, 302);
    CHECK(tick() == NOTHING); /* 1 is in charge, and has nothing new */
    put(2, 402);
    CHECK(tick() == 402); /* 1 was heard three ticks ago */
    put(1, 501), put(2, 502);
    CHECK(tick() == 501); /* and is in charge with its next command */
    const sn_mailbox *m = sn_mailbox_at(&ring, 0);
    CHECK(m->charge == writers[1].life && m->step == step && m->answers == step - 1 && m->sent_ns == 1 && m->age_ns == 4);
    CHECK(m->applied[0] == 0 && m->applied[1] == 2 && m->applied[2] == 2);
    uint64_t value;
    CHECK(sn_mailbox_take(&ring, 1, &value, SN_NONE, 5) == SN_NOTHING); /* another input is another matter */
    end();
}

static void of_equals_the_one_in_charge_stays(void)
{
    begin(0, 2);
    claim(0, 4), claim(1, 4);
    put(1, 1);
    CHECK(tick() == 1);
    put(0, 2), put(1, 3);
    CHECK(tick() == 3);
    put(0, 4);
    CHECK(tick() == NOTHING);
    put(0, 5);
    CHECK(tick() == 5);
    put(0, 6), put(1, 7);
    CHECK(tick() == 6);
    sn_mailbox_forget(&ring, 0);
    put(0, 8), put(1, 9);
    CHECK(tick() == 8); /* nobody was in charge: the lowest lane */
    claim(1, 5);
    put(0, 10), put(1, 11);
    CHECK(tick() == 11); /* a priority may change */
    end();
}

static void a_writer_that_leaves_is_not_in_charge_but_was_heard(void)
{
    begin(0, 100);
    claim(0, 0), claim(1, 9);
    put(1, 1), put(0, 2);
    sn_reader_close(&writers[1]);
    CHECK(tick() == 1);
    put(0, 3);
    CHECK(tick() == 3);
    put(0, 4); /* a new writer in a lane is not taken for the one before it */
    sn_mailbox_leave(&writers[0], 0);
    CHECK(sn_mailbox_claim(&writers[2], 0, "c", 99, 0, NULL) == SN_OK && writers[2].lanes[0] == 1);
    claim(3, -5);
    CHECK(tick() == 4 && sn_mailbox_at(&ring, 0)->rank[0] == 0);
    put(3, 5);
    CHECK(tick() == 5);
    end();
}

/* Writer 0 comes to the input through lane 0 or lane 1, which writer 1 keeps from it or not. */
static void come_by(uint32_t lane, int32_t priority)
{
    if (lane == 1) claim(1, 0);
    claim(0, priority);
    sn_mailbox_leave(&writers[1], 0);
    CHECK(writers[0].lanes[0] == lane + 1);
}

/* Of what one writer left in two lanes the last counts, whatever lane it is in, and nothing comes after it. */
static void a_writer_that_comes_back_goes_on(void)
{
    for (uint32_t lane = 0; lane < 2; lane++) {
        uint64_t value = 1;
        begin(0, 100);
        come_by(lane, 5);
        sn_mailbox_put(&writers[0], 0, &value, step, 10);
        sn_mailbox_leave(&writers[0], 0);
        come_by(1 - lane, 1);
        value = 2;
        sn_mailbox_put(&writers[0], 0, &value, step, 11);
        CHECK(tick() == 2 && tick() == NOTHING);
        sn_mailbox_leave(&writers[0], 0);
        come_by(lane, -1);
        value = 3;
        sn_mailbox_put(&writers[0], 0, &value, step, 12);
        sn_mailbox_leave(&writers[0], 0);
        come_by(1 - lane, -1); /* where it was heard before, but sends nothing now */
        CHECK(tick() == 3 && tick() == NOTHING);
        end();
    }
}

static void what_was_sent_before_is_forgotten(void)
{
    begin(0, 100);
    claim(0, 0), claim(1, 9);
    put(0, 1), put(1, 2);
    sn_mailbox_forget(&ring, 0);
    CHECK(tick() == NOTHING);
    put(0, 3);
    CHECK(tick() == 3); /* 1 is in charge no more */
    end();
}

static int wait_for(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

/* A writer of high priority sends one command and is killed. */
static void after_the_death_of_the_winner_the_next_is_in_charge(int heartbeat)
{
    begin(0, heartbeat ? 1000000 : 3);
    claim(0, 0);
    pid_t child = fork();
    if (child == 0) {
        const uint64_t value = 50;
        sn_reader own;
        CHECK(sn_reader_open(&own, &ring) == SN_OK && sn_mailbox_claim(&own, 0, "doomed", 7, 0, NULL) == SN_OK);
        CHECK(sn_mailbox_put(&own, 0, &value, 0, 0) == SN_OK);
        sn_mailbox_buffer(&own, 0);
        for (;;) pause();
    }
    while (__atomic_load_n(&sn_lane_at(&ring, 0, 1)->count, __ATOMIC_ACQUIRE) == 0) sched_yield();
    CHECK(kill(child, SIGKILL) == 0);
    wait_for(child);
    put(0, 1);
    CHECK(tick() == 50);
    put(0, 2);
    CHECK(tick() == NOTHING);
    put(0, 3);
    CHECK(tick() == NOTHING);
    for (uint32_t i = 0; heartbeat && i <= SN_READERS; i++) sn_ring_heartbeat(&ring, ring.beat_ns + SN_BEAT_NS);
    CHECK((sn_lane_at(&ring, 0, 1)->writer == 0) == (heartbeat != 0));
    put(0, 4);
    CHECK(tick() == 4);
    claim(1, 0);
    claim(2, 0), claim(3, 0);
    CHECK(writers[1].lanes[0] == 2); /* the dead one's */
    CHECK(sn_mailbox_claim(&writers[4], 0, "e", 0, 0, NULL) == SN_NO_LANE);
    end();
}

/* Whoever claims an input finds the dead: the one in charge is so no more, whichever lane the new writer takes. */
static void a_claim_displaces_a_dead_winner(void)
{
    begin(0, 1000000);
    claim(0, 0);
    pid_t child = fork();
    if (child == 0) {
        const uint64_t value = 50;
        sn_reader own;
        _exit(sn_reader_open(&own, &ring) == SN_OK && sn_mailbox_claim(&own, 0, "doomed", 7, 0, NULL) == SN_OK &&
                      sn_mailbox_put(&own, 0, &value, 0, 0) == SN_OK ? 0 : 1);
    }
    CHECK(wait_for(child) == 0);
    sn_mailbox_leave(&writers[0], 0);
    CHECK(tick() == 50);
    claim(1, 0);
    CHECK(writers[1].lanes[0] == 1 && sn_lane_at(&ring, 0, 1)->writer == 0);
    put(1, 1);
    CHECK(tick() == 1);
    end();
}

static void one_has_it_alone_where_the_input_says_so(void)
{
    sn_writer other;
    begin(1, 100);
    CHECK(sn_mailbox_claim(&writers[0], 0, "first", 3, 0, &other) == SN_OK);
    CHECK(sn_mailbox_claim(&writers[1], 0, "second", 9, 0, &other) == SN_EXCLUSIVE);
    CHECK(other.pid == (uint32_t)getpid() && other.priority == 3 && strcmp(other.name, "first") == 0);
    CHECK(sn_mailbox_claim(&writers[1], 1, "second", 9, 0, &other) == SN_OK); /* another input is free */
    CHECK(sn_mailbox_claim(&writers[0], 0, "again", 4, 0, &other) == SN_OK && writers[0].lanes[0] == 1);
    sn_mailbox_leave(&writers[0], 0);
    CHECK(sn_mailbox_claim(&writers[1], 0, "second", 9, 0, &other) == SN_OK);
    end();
}

static void one_has_it_alone_who_asks_for_it(void)
{
    sn_writer other;
    begin(0, 100);
    CHECK(sn_mailbox_claim(&writers[0], 0, "twenty-three bytes, cut here", 3, 0, &other) == SN_OK);
    CHECK(sn_mailbox_claim(&writers[1], 0, "alone", 0, 1, &other) == SN_EXCLUSIVE);
    CHECK(other.priority == 3 && strcmp(other.name, "twenty-three bytes, cut") == 0);
    CHECK(sn_mailbox_at(&ring, 0)->owner == 0 && sn_lane_at(&ring, 0, 1)->writer == 0); /* a refusal leaves nothing */
    CHECK(sn_mailbox_claim(&writers[0], 0, "alone", 3, 1, &other) == SN_OK);
    CHECK(sn_mailbox_claim(&writers[1], 0, "b", 0, 0, &other) == SN_EXCLUSIVE && strcmp(other.name, "alone") == 0);
    CHECK(sn_mailbox_claim(&writers[0], 0, "shares", 3, 0, &other) == SN_OK); /* again, and gives it up */
    CHECK(sn_mailbox_claim(&writers[1], 0, "b", 0, 0, &other) == SN_OK);
    CHECK(sn_mailbox_claim(&writers[1], 0, "b", 0, 1, &other) == SN_EXCLUSIVE);
    CHECK(sn_mailbox_at(&ring, 0)->owner == 0 && writers[1].lanes[0] == 2); /* it keeps what it had */
    sn_reader_close(&writers[0]), sn_reader_close(&writers[1]);
    pid_t child = fork();
    if (child == 0) { /* dies with the input for itself */
        sn_reader own;
        _exit(sn_reader_open(&own, &ring) == SN_OK && sn_mailbox_claim(&own, 0, "d", 0, 1, NULL) == SN_OK ? 0 : 1);
    }
    CHECK(wait_for(child) == 0 && sn_mailbox_at(&ring, 0)->owner != 0);
    CHECK(sn_mailbox_claim(&writers[2], 0, NULL, 0, 0, &other) == SN_OK && sn_mailbox_at(&ring, 0)->owner == 0);
    sn_lane_describe(sn_lane_at(&ring, 0, writers[2].lanes[0] - 1u), &other);
    CHECK(strncmp(other.name, program_invocation_short_name, SN_NAME - 1) == 0);
    end();
}

int main(void)
{
    an_awaited_command_answers_the_last_tick_or_is_dropped();
    the_highest_priority_wins_and_others_are_not_applied_late();
    of_equals_the_one_in_charge_stays();
    a_writer_that_leaves_is_not_in_charge_but_was_heard();
    a_writer_that_comes_back_goes_on();
    what_was_sent_before_is_forgotten();
    after_the_death_of_the_winner_the_next_is_in_charge(0);
    after_the_death_of_the_winner_the_next_is_in_charge(1);
    a_claim_displaces_a_dead_winner();
    one_has_it_alone_where_the_input_says_so();
    one_has_it_alone_who_asks_for_it();
    return 0;
}
