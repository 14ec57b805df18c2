#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "loop.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the thread was before, to be given back. */
typedef struct {
    int slack, policy;
    struct sched_param param;
    cpu_set_t processors;
} sn_before;

static int sn_futex_wait(_Atomic uint32_t *word, uint32_t seen, const struct timespec *deadline)
{
    return (int)syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void sn_futex_bump(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* An order must end either sleep. */
static void sn_order(sn_loop *loop)
{
    sn_futex_bump(&loop->orders);
    sn_bell_ring(&loop->control->command_bell, &loop->control->command_waiter);
}

int sn_loop_open(sn_loop *loop, const sn_ring *ring)
{
    memset(loop, 0, sizeof *loop);
    loop->control = ring->control;
    for (int i = 0; i < SN_GRANTS; i++) atomic_store(&loop->grants[i], SN_NOT_ASKED);
    return pthread_mutex_init(&loop->right, NULL);
}

void sn_loop_close(sn_loop *loop) { pthread_mutex_destroy(&loop->right); }

static void sn_enter_phase(sn_loop *loop, sn_phase phase)
{
    atomic_store(&loop->phase, phase);
    sn_futex_bump(&loop->progress);
}

static void sn_answer(sn_loop *loop, sn_grant grant, int result)
{
    atomic_store(&loop->grants[grant], result == 0 ? 0 : errno);
}

/* Only what is in memory now is locked: locking what comes later could make the process's allocations fail. */
static sn_before sn_ask(sn_loop *loop, const sn_pace *pace)
{
    sn_before before = {.slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), .policy = sched_getscheduler(0)};
    sched_getparam(0, &before.param);
    sched_getaffinity(0, sizeof before.processors, &before.processors);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    for (int i = 0; i < SN_GRANTS; i++) atomic_store(&loop->grants[i], SN_NOT_ASKED);
    if (pace->lock_memory) sn_answer(loop, SN_MEMORY, mlockall(MCL_CURRENT));
    if (pace->affinity >= 0) {
        cpu_set_t wanted;
        CPU_ZERO(&wanted);
        if (pace->affinity < CPU_SETSIZE) CPU_SET(pace->affinity, &wanted);
        sn_answer(loop, SN_AFFINITY, sched_setaffinity(0, sizeof wanted, &wanted));
    }
    if (pace->priority > 0) {
        const struct sched_param wanted = {.sched_priority = pace->priority};
        sn_answer(loop, SN_PRIORITY, sched_setscheduler(0, SCHED_FIFO, &wanted));
    }
    return before;
}

static void sn_give_back(sn_loop *loop, const sn_before *before)
{
    if (atomic_load(&loop->grants[SN_PRIORITY]) == 0) sched_setscheduler(0, before->policy, &before->param);
    if (atomic_load(&loop->grants[SN_AFFINITY]) == 0)
        sched_setaffinity(0, sizeof before->processors, &before->processors);
    if (atomic_load(&loop->grants[SN_MEMORY]) == 0) munlockall();
    prctl(PR_SET_TIMERSLACK, before->slack > 0 ? before->slack : 0, 0, 0, 0);
}

static sn_due sn_due_of(const sn_pace *pace, int64_t due_ns, int64_t period_ns)
{
    return (sn_due){due_ns, period_ns, pace->awaited, pace->miss == SN_ZERO};
}

/* Sleeps, then spins the last part; false when an order came first. */
static bool sn_wait_until(sn_loop *loop, uint32_t seen, int64_t due_ns, int64_t spin_ns)
{
    const int64_t sleep_ns = due_ns - spin_ns;
    const struct timespec deadline = {sleep_ns / 1000000000, sleep_ns % 1000000000};
    while (sn_now_ns() < sleep_ns && atomic_load(&loop->orders) == seen) sn_futex_wait(&loop->orders, seen, &deadline);
    while (sn_now_ns() < due_ns && atomic_load(&loop->orders) == seen) sn_pause();
    return atomic_load(&loop->orders) == seen;
}

/* Gives the right to tick away until an order comes. */
static void sn_park(sn_loop *loop, uint32_t seen)
{
    pthread_mutex_unlock(&loop->right);
    sn_enter_phase(loop, SN_PARKED);
    while (atomic_load(&loop->orders) == seen) sn_futex_wait(&loop->orders, seen, NULL);
    pthread_mutex_lock(&loop->right);
}

/* Sleeps until a command comes, an order, or an instant; returns at once, too, where that may have been missed. */
static void sn_sleep_for_command(sn_control *control, uint32_t bell, int64_t until_ns)
{
    /* acq_rel: pairs with the exchange in sn_bell_ring. The flag found set: it was before the caller looked for commands, and
     * nobody has taken it since, so whoever sends now sees it, and has rung the bell or will wake this thread. */
    if (__atomic_exchange_n(&control->command_waiter, 1, __ATOMIC_ACQ_REL) == 0) return;
    const struct timespec deadline = {until_ns / 1000000000, until_ns % 1000000000};
    syscall(SYS_futex, &control->command_bell, FUTEX_WAIT_BITSET, bell, &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

typedef enum { SN_GO, SN_ORDERED, SN_GIVEN_UP } sn_waited;

/* Waits until the inputs have answered the last tick or the limit is over, with heartbeats meanwhile, by which dead writers make way. */
static sn_waited sn_wait_for_answers(const sn_loop *loop, sn_stepper *stepper, const sn_pace *pace, uint32_t seen)
{
    if (pace->awaited == 0) return SN_GO;
    const int64_t began_ns = sn_now_ns(), until_ns = began_ns + pace->limit_ns;
    for (int64_t now_ns = began_ns;; now_ns = sn_now_ns()) {
        /* acquire: a command rung for before this load is seen by the look behind it. */
        const uint32_t bell = __atomic_load_n(&loop->control->command_bell, __ATOMIC_ACQUIRE);
        if (atomic_load(&loop->orders) != seen) return SN_ORDERED;
        const uint64_t unanswered = sn_stepper_unanswered(stepper, pace->awaited);
        if (unanswered == 0) {
            sn_account_add(&stepper->account, SN_ANSWER_TIME, now_ns - began_ns);
            return SN_GO;
        }
        if (now_ns >= until_ns) {
            if (pace->miss != SN_STOP) return SN_GO; /* the tick finds it unanswered itself */
            sn_stepper_give_up(stepper, unanswered);
            return SN_GIVEN_UP;
        }
        sn_ring_heartbeat(stepper->options.ring, now_ns);
        if (now_ns - began_ns < pace->spin_ns) {
            sn_pause();
            continue;
        }
        const int64_t beat_ns = now_ns + SN_BEAT_NS;
        sn_sleep_for_command(loop->control, bell, until_ns < beat_ns ? until_ns : beat_ns);
    }
}

/* Requested ticks are due now: nobody set an instant for them. A resume forgets those that are left. */
static sn_ending sn_run_requested(sn_loop *loop, sn_stepper *stepper, const sn_pace *pace)
{
    for (uint64_t left; (left = atomic_load(&loop->requested)) > 0 && !atomic_load(&loop->stop);) {
        const uint32_t seen = atomic_load(&loop->orders);
        if (atomic_load(&loop->phase) != SN_RUNNING) sn_enter_phase(loop, SN_RUNNING);
        const sn_waited waited = sn_wait_for_answers(loop, stepper, pace, seen);
        if (waited == SN_GIVEN_UP) return SN_NO_ANSWER;
        if (waited == SN_ORDERED || !atomic_compare_exchange_strong(&loop->requested, &left, left - 1)) continue;
        if (!sn_stepper_tick(stepper, sn_due_of(pace, 0, 0))) return SN_FAILED;
    }
    return SN_DONE;
}

/* What a loop with a period knows of its instants. */
typedef struct {
    int64_t due_ns;  /* the next one; 0: set it anew, a period from now */
    uint64_t in_row; /* ticks done at once since the last that was in time */
} sn_schedule;

/* One tick at its instant; moves the instant on, past those that the policy leaves out. */
static sn_ending sn_run_due(sn_stepper *stepper, const sn_pace *pace, sn_schedule *schedule)
{
    if (pace->period_ns == 0) return sn_stepper_tick(stepper, sn_due_of(pace, 0, 0)) ? SN_DONE : SN_FAILED;
    const int64_t late_ns = sn_now_ns() - schedule->due_ns, periods = late_ns / pace->period_ns;
    const sn_due due = sn_due_of(pace, schedule->due_ns, pace->period_ns);
    schedule->due_ns += pace->period_ns;
    schedule->in_row = periods > 0 ? schedule->in_row + 1 : 0;
    if (periods > 0 && pace->overrun == SN_END) return SN_TOO_LATE;
    if (periods > 0 && pace->overrun == SN_MOVE) schedule->due_ns += late_ns;
    if (periods > 0 && (pace->overrun == SN_SKIP || (pace->overrun == SN_CATCH_UP && schedule->in_row > pace->catch_up))) {
        sn_account_count(&stepper->account, SN_SKIPPED, (uint64_t)periods);
        schedule->due_ns += periods * pace->period_ns;
        schedule->in_row = 0;
    }
    return sn_stepper_tick(stepper, due) ? SN_DONE : SN_FAILED;
}

static sn_ending sn_loop_turn(sn_loop *loop, sn_stepper *stepper, const sn_pace *pace)
{
    sn_schedule schedule = {0};
    for (uint64_t done = 0; pace->ticks == 0 || done < pace->ticks;) {
        const uint32_t seen = atomic_load(&loop->orders);
        if (atomic_load(&loop->stop)) return SN_STOPPED;
        if (atomic_load(&loop->paused)) {
            schedule = (sn_schedule){0};
            const sn_ending ending = sn_run_requested(loop, stepper, pace);
            if (ending != SN_DONE) return ending;
            sn_park(loop, seen);
            continue;
        }
        if (atomic_load(&loop->phase) != SN_RUNNING) sn_enter_phase(loop, SN_RUNNING);
        if (schedule.due_ns == 0) schedule.due_ns = sn_now_ns() + pace->period_ns;
        if (pace->period_ns > 0 && !sn_wait_until(loop, seen, schedule.due_ns, pace->spin_ns)) continue;
        const sn_waited waited = sn_wait_for_answers(loop, stepper, pace, seen);
        if (waited == SN_ORDERED) continue;
        if (waited == SN_GIVEN_UP) return SN_NO_ANSWER;
        const sn_ending ending = sn_run_due(stepper, pace, &schedule);
        if (ending != SN_DONE) return ending;
        done++;
    }
    return SN_DONE;
}

sn_ending sn_loop_run(sn_loop *loop, sn_stepper *stepper, const sn_pace *pace)
{
    pthread_mutex_lock(&loop->right);
    const sn_before before = sn_ask(loop, pace);
    const sn_ending ending = sn_loop_turn(loop, stepper, pace);
    sn_give_back(loop, &before);
    pthread_mutex_unlock(&loop->right);
    atomic_store(&loop->requested, 0);
    atomic_store(&loop->stop, false);
    sn_enter_phase(loop, SN_IDLE);
    return ending;
}

void sn_loop_stop(sn_loop *loop)
{
    atomic_store(&loop->stop, true);
    sn_order(loop);
}

void sn_loop_pause(sn_loop *loop, bool paused)
{
    atomic_store(&loop->paused, paused);
    if (!paused) atomic_store(&loop->requested, 0);
    sn_order(loop);
}

void sn_loop_request(sn_loop *loop, uint64_t ticks)
{
    atomic_fetch_add(&loop->requested, ticks);
    sn_order(loop);
}

int sn_loop_settle(sn_loop *loop)
{
    for (;;) {
        const uint32_t seen = atomic_load(&loop->progress);
        const uint32_t phase = atomic_load(&loop->phase);
        if (phase == SN_IDLE || (phase == SN_PARKED && atomic_load(&loop->requested) == 0)) return 0;
        if (sn_futex_wait(&loop->progress, seen, NULL) < 0 && errno == EINTR) return -1;
    }
}
