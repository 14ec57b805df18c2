/* The native clock steered from another thread: pause, requested ticks, resume, stop, failure, and orders that come
 * before the loop. No wait here is for a time. */
#include "fixture.h"

#include "loop.c"
#include "gpu.c"
#include "nvtx.c"
#include "stepper.c"
#include "stepper_away.c"
#include "stepper_inputs.c"
#include "stepper_probe.c"

typedef struct {
    fixture plant;
    sn_loop loop;
    sn_pace pace;
    sn_ending ending;
} rig;

static void *run(void *object)
{
    rig *r = object;
    r->ending = sn_loop_run(&r->loop, &r->plant.stepper, &r->pace);
    return NULL;
}

static const sn_pace PACE = {.period_ns = 200000, .spin_ns = 20000, .affinity = -1};

static void open_rig(rig *r, sn_pace pace)
{
    const int64_t force[WIDTH] = {1, 2, 3, 4, 5};
    const model m = fixture_start();
    memset(r, 0, sizeof *r);
    fixture_open(&r->plant, 2, 3, 1024, 0);
    fixture_load(&r->plant, &m, force);
    CHECK(sn_loop_open(&r->loop, &r->plant.ring) == 0);
    r->pace = pace;
}

static void close_rig(rig *r)
{
    sn_loop_close(&r->loop);
    fixture_close(&r->plant);
}

static uint64_t step_of(rig *r) { return atomic_load(&r->plant.stepper.step); }

static void wait_for_step(rig *r, uint64_t step)
{
    while (step_of(r) < step) sched_yield();
}

static void check_steering(void)
{
    rig r;
    pthread_t thread;
    open_rig(&r, PACE);
    pthread_create(&thread, NULL, run, &r);
    wait_for_step(&r, 20);
    sn_loop_pause(&r.loop, true);
    CHECK(sn_loop_settle(&r.loop) == 0);
    const uint64_t paused_at = step_of(&r);
    CHECK(pthread_mutex_lock(&r.loop.right) == 0); /* parked: whoever asks may look inside */
    const model before = fixture_state(&r.plant);
    pthread_mutex_unlock(&r.loop.right);
    sn_loop_request(&r.loop, 7);
    CHECK(sn_loop_settle(&r.loop) == 0);
    CHECK(step_of(&r) == paused_at + 7);
    const model after = fixture_state(&r.plant);
    CHECK(memcmp(&before, &after, sizeof before) != 0);
    sn_loop_pause(&r.loop, false);
    wait_for_step(&r, paused_at + 27);
    sn_loop_stop(&r.loop);
    pthread_join(thread, NULL);
    CHECK(r.ending == SN_STOPPED && atomic_load(&r.loop.phase) == SN_IDLE);
    const sn_account *account = &r.plant.stepper.account;
    uint64_t on_time = 0;
    for (uint32_t i = 0; i < SN_HISTOGRAM_BUCKETS; i++) on_time += account->histograms[SN_LATENESS].counts[i];
    CHECK(account->counters[SN_TICKS] == step_of(&r) && on_time == step_of(&r) - 7);
    close_rig(&r);
}

/* The period is an hour: only an order can end the sleep. */
static void check_prompt(void)
{
    rig r;
    pthread_t thread;
    sn_pace hourly = PACE;
    hourly.period_ns = INT64_C(3600000000000);
    open_rig(&r, hourly);
    pthread_create(&thread, NULL, run, &r);
    while (atomic_load(&r.loop.phase) != SN_RUNNING) sched_yield();
    sn_loop_pause(&r.loop, true);
    CHECK(sn_loop_settle(&r.loop) == 0);
    sn_loop_pause(&r.loop, false);
    sn_loop_stop(&r.loop);
    pthread_join(thread, NULL);
    CHECK(step_of(&r) == 0 && r.ending == SN_STOPPED);
    sn_loop_stop(&r.loop); /* before the loop: not lost */
    CHECK(sn_loop_run(&r.loop, &r.plant.stepper, &r.pace) == SN_STOPPED);
    close_rig(&r);
}

static void check_free_and_failure(void)
{
    rig r;
    sn_pace free_running = {.ticks = 500, .affinity = -1};
    open_rig(&r, free_running);
    CHECK(sn_loop_run(&r.loop, &r.plant.stepper, &r.pace) == SN_DONE && step_of(&r) == 500);
    const int64_t wrong[WIDTH] = {-1};
    sn_stepper_command(&r.plant.stepper, 0, (const uint8_t *)wrong);
    CHECK(sn_loop_run(&r.loop, &r.plant.stepper, &r.pace) == SN_FAILED && step_of(&r) == 500);
    CHECK(r.plant.stepper.error.index == -1);
    close_rig(&r);
}

/* Due an hour ago, a tick a minute: the whole periods that have passed are left out, done one by one, at most so many in a
 * row, taken as a delay of all that follows, or the end. */
static void check_overrun(sn_overrun overrun)
{
    rig r;
    const int64_t minute = INT64_C(60000000000), hour = 60 * minute, began = sn_now_ns();
    open_rig(&r, PACE);
    const sn_pace pace = {.period_ns = minute, .overrun = overrun, .catch_up = 2, .affinity = -1};
    sn_schedule schedule = {.due_ns = began - hour - minute / 2};
    const sn_account *account = &r.plant.stepper.account;
    CHECK(sn_run_due(&r.plant.stepper, &pace, &schedule) == (overrun == SN_END ? SN_TOO_LATE : SN_DONE));
    CHECK(step_of(&r) == (overrun == SN_END ? 0 : 1));
    if (overrun != SN_END) CHECK(account->counters[SN_MISSES] == 1 && (int64_t)account->histograms[SN_LATENESS].max >= hour);
    CHECK(account->counters[SN_SKIPPED] == (overrun == SN_SKIP ? 60 : 0));
    if (overrun == SN_MOVE) CHECK(schedule.due_ns >= began + minute);
    else CHECK(schedule.due_ns == began - hour + minute / 2 + (overrun == SN_SKIP ? hour : 0));
    if (overrun == SN_CATCH_UP) {
        CHECK(sn_run_due(&r.plant.stepper, &pace, &schedule) == SN_DONE && account->counters[SN_SKIPPED] == 0);
        CHECK(sn_run_due(&r.plant.stepper, &pace, &schedule) == SN_DONE && account->counters[SN_SKIPPED] == 58);
        CHECK(schedule.due_ns == began + minute / 2 && schedule.in_row == 0 && step_of(&r) == 3);
    }
    close_rig(&r);
}

/* However late ticks begin within a period, the instants are those of the first: an hour's period, a minute late. */
static void check_no_drift(sn_overrun overrun)
{
    rig r;
    const int64_t minute = INT64_C(60000000000), hour = 60 * minute, began = sn_now_ns();
    open_rig(&r, PACE);
    const sn_pace pace = {.period_ns = hour, .overrun = overrun, .catch_up = 2, .affinity = -1};
    sn_schedule schedule = {.due_ns = began - minute};
    for (int i = 0; i < 60000; i++) CHECK(sn_run_due(&r.plant.stepper, &pace, &schedule) == SN_DONE);
    CHECK(schedule.due_ns == began - minute + 60000 * hour && r.plant.stepper.account.counters[SN_SKIPPED] == 0);
    close_rig(&r);
}

static void check_grants(void)
{
    rig r;
    const sn_pace pace = {.ticks = 3, .priority = 1000, .affinity = CPU_SETSIZE, .lock_memory = false};
    open_rig(&r, pace);
    const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    CHECK(sn_loop_run(&r.loop, &r.plant.stepper, &r.pace) == SN_DONE && step_of(&r) == 3); /* refused, not failed */
    CHECK(atomic_load(&r.loop.grants[SN_PRIORITY]) == EINVAL && atomic_load(&r.loop.grants[SN_AFFINITY]) == EINVAL);
    CHECK(atomic_load(&r.loop.grants[SN_MEMORY]) == SN_NOT_ASKED);
    CHECK(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == slack);
    close_rig(&r);
}

/* Answers ticks with their number, the last one of that number, and the slow one only when the loop was seen to wait for it. */
typedef struct {
    rig *rig;
    uint64_t last, slow;
} controller;

/* A tick beats at most once, and then only whoever waits for an answer does. */
static void await_waiting(const sn_control *control)
{
    for (int beats = 0; beats < 2; beats++) {
        const int64_t before = __atomic_load_n(&control->heartbeat_ns, __ATOMIC_RELAXED);
        while (__atomic_load_n(&control->heartbeat_ns, __ATOMIC_RELAXED) == before) sched_yield();
    }
}

static void *control(void *object)
{
    controller *c = object;
    sn_reader reader;
    sn_tick tick;
    CHECK(sn_reader_open(&reader, &c->rig->plant.ring) == SN_OK);
    for (uint64_t step = 0; step < c->last;) {
        if (sn_reader_wait(&reader, INT64_C(1000000000), 0) != SN_NEW || sn_reader_take(&reader, &tick, 0) != SN_NEW) continue;
        const int64_t force[WIDTH] = {(int64_t)tick.step};
        if (tick.step == c->slow) await_waiting(reader.ring->control);
        CHECK(sn_mailbox_put(&reader, 0, force, tick.step, sn_now_ns()) == SN_OK);
        step = tick.step;
        sn_reader_release(&reader, &tick);
    }
    sn_reader_close(&reader);
    return NULL;
}

static const sn_pace LOCKSTEP = {.affinity = -1, .awaited = 1, .limit_ns = INT64_C(3600000000000)};

/* Each tick waits for the answer to the last one, which the record shows; the wait ends by the command, not by the hour. */
static void check_lockstep(int64_t spin_ns)
{
    rig r;
    pthread_t thread;
    controller c = {&r, 399, 200};
    sn_pace pace = LOCKSTEP;
    pace.ticks = 400, pace.spin_ns = spin_ns;
    open_rig(&r, pace);
    pthread_create(&thread, NULL, control, &c);
    CHECK(sn_loop_run(&r.loop, &r.plant.stepper, &r.pace) == SN_DONE);
    pthread_join(thread, NULL);
    const sn_records *records = &r.plant.stepper.records;
    CHECK(sn_records_run(records) == 400);
    for (uint64_t i = 0; i < 400; i++) {
        int64_t force;
        memcpy(&force, sn_record_inputs(records, sn_records_peek(records, i)), sizeof force);
        CHECK(force == (int64_t)i && sn_records_peek(records, i)->unanswered == 0);
    }
    const sn_account *account = &r.plant.stepper.account;
    CHECK(account->counters[SN_UNANSWERED] == 0 && r.plant.stepper.received[0].delay.max == 1);
    CHECK(account->histograms[SN_ANSWER_TIME].max > 0);
    close_rig(&r);
}

/* Nobody answers: a pause, requested ticks and a stop all come through while the loop waits. */
static void check_lockstep_steering(int64_t spin_ns)
{
    rig r;
    pthread_t thread;
    sn_reader reader;
    sn_pace pace = LOCKSTEP;
    pace.spin_ns = spin_ns;
    open_rig(&r, pace);
    CHECK(sn_reader_open(&reader, &r.plant.ring) == SN_OK);
    pthread_create(&thread, NULL, run, &r);
    while (atomic_load(&r.loop.phase) != SN_RUNNING) sched_yield();
    sn_loop_pause(&r.loop, true);
    CHECK(sn_loop_settle(&r.loop) == 0 && step_of(&r) == 0);
    sn_loop_request(&r.loop, 1);
    const int64_t force[WIDTH] = {7};
    CHECK(sn_mailbox_put(&reader, 0, force, 0, sn_now_ns()) == SN_OK);
    CHECK(sn_loop_settle(&r.loop) == 0 && step_of(&r) == 1);
    sn_loop_request(&r.loop, 1);
    sn_loop_pause(&r.loop, false); /* forgets it */
    sn_loop_stop(&r.loop);
    pthread_join(thread, NULL);
    CHECK(r.ending == SN_STOPPED && step_of(&r) == 1);
    CHECK(r.plant.stepper.account.counters[SN_UNANSWERED] == 0);
    close_rig(&r);
}

static void check_unanswered(sn_miss miss)
{
    rig r;
    sn_reader reader;
    const int64_t force[WIDTH] = {7};
    sn_pace pace = LOCKSTEP;
    pace.ticks = 3, pace.limit_ns = 1000000, pace.miss = miss;
    open_rig(&r, pace);
    CHECK(sn_reader_open(&reader, &r.plant.ring) == SN_OK);
    CHECK(sn_mailbox_put(&reader, 0, force, 0, sn_now_ns()) == SN_OK);
    CHECK(sn_loop_run(&r.loop, &r.plant.stepper, &r.pace) == (miss == SN_STOP ? SN_NO_ANSWER : SN_DONE));
    const sn_stepper *s = &r.plant.stepper;
    int64_t held;
    memcpy(&held, s->held, sizeof held);
    CHECK(held == (miss == SN_ZERO ? 0 : 7) && s->unanswered == 1);
    CHECK(step_of(&r) == (miss == SN_STOP ? 1 : 3) && s->account.counters[SN_UNANSWERED] == (miss == SN_STOP ? 1 : 2));
    CHECK(s->received[0].unanswered == s->account.counters[SN_UNANSWERED]);
    CHECK(s->received[0].unanswered_step == (miss == SN_STOP ? 2 : 3));
    close_rig(&r);
}

int main(void)
{
    check_steering();
    check_prompt();
    check_free_and_failure();
    check_overrun(SN_SKIP);
    check_overrun(SN_CATCH_UP);
    check_overrun(SN_MOVE);
    check_overrun(SN_END);
    check_no_drift(SN_SKIP);
    check_no_drift(SN_MOVE);
    check_grants();
    check_lockstep(0);
    check_lockstep(LOCKSTEP.limit_ns);
    check_lockstep_steering(0);
    check_lockstep_steering(LOCKSTEP.limit_ns);
    check_unanswered(SN_HOLD);
    check_unanswered(SN_ZERO);
    check_unanswered(SN_STOP);
    return 0;
}
