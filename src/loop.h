/* The native clock: ticks of a stepper at absolute instants, in the thread that calls it, steered from others.
 *
 * The thread sleeps in a futex with an absolute deadline. That wakes as exactly as clock_nanosleep (both are one
 * hrtimer with the thread's slack), and an order from another thread ends the sleep at once, however long the period.
 * It waits for commands in the ring's own futex, which whoever sends one wakes.
 */
#ifndef SIM_NODE_LOOP_H
#define SIM_NODE_LOOP_H

#include <pthread.h>

#include "stepper.h"

/* What is done about instants that have passed by whole periods: leave them out, do their ticks at once, move those that
 * follow by as much, or end. */
typedef enum { SN_SKIP, SN_CATCH_UP, SN_MOVE, SN_END } sn_overrun;

/* What a tick does about an input that has not answered within the limit: keep its value, make it zero, or not be done. */
typedef enum { SN_HOLD, SN_ZERO, SN_STOP } sn_miss;

/* What is asked of the operating system for the thread, and how it answered: 0 granted, else the errno. */
typedef enum { SN_PRIORITY, SN_AFFINITY, SN_MEMORY, SN_GRANTS } sn_grant;

enum { SN_NOT_ASKED = -1 };

typedef struct {
    int64_t period_ns, spin_ns; /* period 0: as fast as possible */
    uint64_t ticks;             /* 0: until stopped */
    sn_overrun overrun;
    uint64_t catch_up; /* ticks in a row that SN_CATCH_UP does at most; then it leaves out the rest */
    int priority; /* of SCHED_FIFO; 0: leave it */
    int affinity; /* processor; -1: leave it */
    bool lock_memory;
    uint64_t awaited; /* inputs that are to answer the last tick before the next begins, a bit each */
    int64_t limit_ns; /* how long they are waited for */
    sn_miss miss;
} sn_pace;

typedef enum { SN_IDLE, SN_RUNNING, SN_PARKED } sn_phase;
typedef enum { SN_DONE, SN_STOPPED, SN_FAILED, SN_NO_ANSWER, SN_TOO_LATE } sn_ending;

typedef struct {
    sn_control *control;       /* of the ring, whose bell of commands an order rings, too */
    pthread_mutex_t right;     /* to tick or look inside: the loop's while it runs, nobody's while it is parked */
    _Atomic uint32_t orders;   /* futex: bumped by each order */
    _Atomic uint32_t progress; /* futex: bumped when the phase changes or requested ticks are done */
    _Atomic uint32_t phase;
    _Atomic bool stop, paused;
    _Atomic uint64_t requested;
    _Atomic int grants[SN_GRANTS];
} sn_loop;

int sn_loop_open(sn_loop *loop, const sn_ring *ring);
void sn_loop_close(sn_loop *loop);

/* Runs until the ticks are done, a stop is ordered or a tick fails. One thread at a time. */
sn_ending sn_loop_run(sn_loop *loop, sn_stepper *stepper, const sn_pace *pace);

/* Orders, from any thread. A stop with no loop running ends the next one at once, so that none is lost to a race. */
void sn_loop_stop(sn_loop *loop);
void sn_loop_pause(sn_loop *loop, bool paused);
void sn_loop_request(sn_loop *loop, uint64_t ticks);

/* Waits until the loop neither runs nor owes requested ticks; 0, or -1 after a signal. */
int sn_loop_settle(sn_loop *loop);

#endif
