/* A plan: compiled kernels with their argument blocks, run in order by one call, once or several times over.
 *
 * An address that changes from run to run (the slot being written, the value last committed) is a cell; a patch says
 * which word of which argument block takes it. Whoever owns the plan sets the cells, sn_plan_run applies them.
 *
 * A run is of one or more rounds of all launches. The first has a row of cells of its own, and the others take the two
 * further ones in turn, such that the last round has the last row: what reads one buffer and writes another needs no more.
 */
#ifndef SIM_NODE_PLAN_H
#define SIM_NODE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "sim_node/ring/clock.h"
#include "trace.h"

/* What kernels print: records one behind the other, as compiled code appends them (ARCHITECTURE.md, ABI).
 *
 * A record is the number of the launch in its plan, that of the site (u32 each), the thread, the number of words (i64
 * each), and the words. One that does not fit is counted, and so are all behind it; it is written where none is kept.
 */
typedef struct {
    uint64_t used; /* also by those that did not fit */
    uint64_t capacity;
    uint64_t end; /* of what was kept, once one did not fit */
    uint64_t lost;
    unsigned char records[]; /* capacity, then room for one more */
} sn_prints;

enum { SN_RECORD_HEAD = 24, SN_RECORD_MAX = SN_RECORD_HEAD + 8 * 256 };

static inline void sn_prints_forget(sn_prints *prints)
{
    prints->used = prints->lost = 0;
    prints->end = UINT64_MAX;
}

/* The first thread that stopped itself; the compiled kernel fills it (ARCHITECTURE.md, ABI). */
typedef struct {
    uint32_t code; /* 0: none */
    uint32_t site;
    int64_t thread;
    int64_t index;
    int64_t length;
    sn_prints *prints; /* of kernels that print */
    uint32_t launch;   /* which of its plan's it is, and on a GPU of its run's: rounds count on */
    uint32_t lock;     /* of a GPU's threads; so is what follows */
    uint32_t *flag;    /* where the host sees that there is one */
} sn_error;

/* The site of an error that is not a thread's but the driver's, whose number is the index. */
#define SN_LOST (UINT32_MAX - 1)

typedef int sn_result; /* of a function of the driver of a GPU, CUresult: 0 is success */

enum { SN_HEAD = 16 }; /* bytes at the start of an argument block, before the parameters: the dims of the launch */

typedef void (*sn_kernel)(int64_t begin, int64_t end, const void *args, sn_error *error);

typedef struct {
    sn_kernel kernel; /* of a GPU, its driver's handle of it */
    void *args;
    int64_t threads;
    uint32_t block; /* of a GPU: threads in one */
    int64_t pairs_from; /* of a GPU: from so many threads on, one of a block runs two */
    uint32_t most_blocks; /* of a GPU: that run at once; what is left of the threads runs when those have ended */
} sn_launch;

typedef struct {
    void **at; /* word of an argument block */
    uint32_t cell;
} sn_patch;

/* An event of a GPU's where a piece of a graph ends, and what that piece is; the first is where the graph begins. */
typedef struct {
    void *event;
    uint32_t work, number;
} sn_mark;

enum { SN_ROWS = 3 };

/* Of an address in an argument block of a GPU's graph: it is that of a word where the address is found (ABI). */
#define SN_IN_CELL (UINT64_C(1) << 63)

typedef struct sn_plan sn_plan;

struct sn_plan {
    sn_launch *launches;
    sn_patch *patches;
    void **cells;      /* SN_ROWS of them, cell_count each; a GPU's graph reads them here */
    sn_prints *prints; /* NULL where no kernel prints */
    uint32_t launch_count, patch_count, cell_count, rounds;
    const struct sn_reports *reports; /* of a GPU (gpu.h), and its graph of all rounds, with what runs it */
    void *graph;
    sn_result (*run)(sn_plan *plan, sn_error *error);
    sn_trace *trace; /* NULL: nobody asks how long launches take */
    const sn_mark *marks; /* of a GPU, mark_count of them, where there is a trace; the last is behind what follows */
    uint32_t mark_count;
    sn_result (*follow)(void *stepper); /* of a GPU: gives it what comes behind the graph; NULL: nothing does */
    void *stepper;
    int64_t host_ns; /* what its last run took until the GPU had it all and the host only waited; 0 where it ran here */
};

/* The row of cells that a round takes. */
static inline uint32_t sn_plan_row(uint32_t rounds, uint32_t round) { return round == 0 ? 0 : 1 + (rounds - round) % 2; }

static inline void **sn_plan_cells(const sn_plan *plan, uint32_t row) { return plan->cells + (size_t)row * plan->cell_count; }

/* Tells a failure of a GPU's driver as an error of a launch. */
static inline void sn_error_lost(sn_error *error, sn_result result)
{
    error->code = 1;
    error->site = SN_LOST;
    error->index = result;
}

/* Runs every launch in order, in each round; returns the number of launches, or the index of the one whose error is set. */
static inline uint32_t sn_plan_run(sn_plan *plan, sn_error *error)
{
    error->prints = plan->prints;
    if (plan->run != NULL) {
        const sn_result result = plan->run(plan, error);
        if (result != 0) sn_error_lost(error, result);
        return error->code ? error->launch : plan->launch_count;
    }
    for (uint32_t round = 0; round < plan->rounds; round++) {
        void **const cells = sn_plan_cells(plan, sn_plan_row(plan->rounds, round));
        for (uint32_t i = 0; i < plan->patch_count; i++) *plan->patches[i].at = cells[plan->patches[i].cell];
        for (uint32_t i = 0; i < plan->launch_count; i++) {
            __atomic_store_n(&error->launch, i, __ATOMIC_RELAXED); /* a watchdog may look */
            const sn_launch *launch = &plan->launches[i];
            const int64_t began_ns = plan->trace ? sn_now_ns() : 0;
            launch->kernel(0, launch->threads, launch->args, error);
            if (plan->trace) sn_trace_put(plan->trace, SN_SPAN_KERNEL, i, began_ns, sn_now_ns());
            if (error->code) return i;
        }
    }
    return plan->launch_count;
}

#endif
