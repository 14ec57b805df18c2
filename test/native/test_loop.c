/* The native clock steered from another thread: pause, requested ticks, resume, stop, failure, and orders that come
 * before the loop. No wait here is for a time. */
#include "fixture.h"

#include "loop.c"
#include "gpu.c"
#include "nvtx.c"
#include "stepper.c"
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
    CHECK(sn_loop_open(&r->loop) == 0);
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

/* Due an hour ago, a tick a minute: skipped are the whole periods that have passed, or caught up one by one. */
static void check_overrun(sn_overrun overrun)
{
    rig r;
    const int64_t minute = INT64_C(60000000000), hour = 60 * minute, began = sn_now_ns();
    open_rig(&r, PACE);
    const sn_pace pace = {.period_ns = minute, .overrun = overrun, .affinity = -1};
    int64_t due = began - hour - minute / 2;
    CHECK(sn_run_due(&r.plant.stepper, &pace, &due));
    const sn_account *account = &r.plant.stepper.account;
    CHECK(account->counters[SN_MISSES] == 1 && (int64_t)account->histograms[SN_LATENESS].max >= hour);
    CHECK(account->counters[SN_SKIPPED] == (overrun == SN_SKIP ? 60 : 0));
    CHECK(due == began - hour + minute / 2 + (overrun == SN_SKIP ? hour : 0));
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

int main(void)
{
    check_steering();
    check_prompt();
    check_free_and_failure();
    check_overrun(SN_SKIP);
    check_overrun(SN_CATCH_UP);
    check_grants();
    return 0;
}
