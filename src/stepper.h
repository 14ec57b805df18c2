/* The stepper: a plant's memory, and the tick, which is implemented here once for every clock.
 *
 * A tick latches the inputs, runs the plan once a substep, hashes the fields, commits the slot, records and accounts.
 * It allocates nothing, waits for nobody and knows no Python.
 *
 * Each substep reads the values from one buffer and writes the nexts (and the outputs) into another. Those of the
 * substeps of a tick alternate between two buffers, neither of which holds the state that the tick began with, and such
 * that the last one is the slot to commit. So nothing is copied, and a tick that fails leaves the state as it was.
 */
#ifndef SIM_NODE_STEPPER_H
#define SIM_NODE_STEPPER_H

#include <stdbool.h>

#include "account.h"
#include "gpu.h"
#include "records.h"
#include "sim_node/ring.h"

/* Where a field lives: in the ring's slots, in memory that only the stepper sees, or in those slots that a GPU keeps. */
typedef enum { SN_PUBLISHED, SN_PRIVATE, SN_DEVICE, SN_BLOCKS } sn_block;

enum { SN_NO_CELL = -1, SN_NO_COPY = -1, SN_PRIVATE_BUFFERS = 3, SN_SUMS = 32 };

typedef struct {
    sn_block block;
    uint64_t offset; /* in a buffer of its block */
    uint64_t packed; /* in the layout of the whole state */
    uint64_t size;
    int64_t value, next; /* cells of the plan, or SN_NO_CELL; an output has a next only */
    int64_t copied; /* of a GPU's: where in the ring's slot it is, too, or SN_NO_COPY */
} sn_field;

typedef struct {
    uint64_t offset, size;
    int64_t cell;
} sn_input;

/* Where a GPU runs the plan, what it has of the stepper's memory. Its graph brings the inputs to where it sees them, and
 * behind the last round adds up sums of the fields; then it commits the slot itself, and the sums come to the host. */
typedef struct {
    const sn_reports *reports; /* NULL: the host runs the plan, and all memory is its own */
    uint8_t *buffers;          /* the GPU's: both scratch and the private ones, each behind the other */
    uint8_t *held, *seen;      /* the inputs, as the host and as the GPU addresses them */
    uint64_t *sums;            /* of each field SN_SUMS, which add up to its hash, and as many of the whole state */
    uint64_t summed;           /* the same, where the GPU has them */
    void *commit;              /* the driver's handle of the kernel that commits (sn_follow), and threads in its block */
    uint32_t commit_block;
    uint8_t *slots;            /* the GPU's: as many as the ring has, spares too, each `stride` bytes behind the other */
    uint64_t stride;
    void *const *events;       /* one a slot, recorded when it is written; NULL: nobody waits for them */
} sn_away;

typedef struct {
    sn_plan *plan; /* these three are borrowed; a run of it is a tick, its rounds are the substeps */
    sn_ring *ring;
    const sn_field *fields;
    const sn_input *inputs;
    uint32_t field_count, input_count;
    uint64_t block_size[SN_BLOCKS], state_size, input_size;
    uint64_t dt_ns, keyframe_every, record_capacity;
    sn_away away;
} sn_stepper_options;

/* A command given by this process: EMPTY, FULL, or BUSY while one side copies. */
typedef struct {
    _Atomic uint32_t phase;
    uint8_t *bytes;
} sn_command;

/* A whole state that waits to be taken; the tick fills it only while it is not full. */
typedef struct {
    _Atomic bool full;
    uint64_t step;
    uint8_t *state, *inputs;
} sn_waiting;

typedef struct {
    sn_stepper_options options;
    sn_field *fields;
    sn_input *inputs;
    uint8_t *memory; /* one allocation: of what follows all that is not a GPU's */
    uint64_t away_size; /* bytes of those that are */
    uint8_t *scratch, *device_scratch;
    uint8_t *private_buffers[SN_PRIVATE_BUFFERS];
    uint8_t *current[SN_BLOCKS]; /* where the state is that the last tick left */
    uint8_t *held, *seen, *taken; /* the inputs as applied, where the plan reads them, and one on its way from a mailbox */
    sn_command *commands;
    sn_received *received; /* of each input */
    uint64_t *hashes;
    _Atomic uint64_t step;
    _Atomic int64_t began_ns; /* of the tick that is being done; 0: none is */
    uint64_t unanswered; /* of the last tick: inputs that had to answer and did not */
    bool replaying;
    sn_records records;
    sn_waiting waiting;
    sn_account account;
    sn_error error; /* of the tick that failed, and which launch of the plan it was */
    uint32_t failed_launch;
    int filling; /* of a GPU: the slot that the run is to commit; -1: none */
} sn_stepper;

/* What a tick was waited for, all zeros: for nothing. It was due at an instant, and a miss when later than a period. The
 * inputs of which bits are set had to answer the last tick: one that did not keeps its value, or is all zeros. */
typedef struct {
    int64_t due_ns, period_ns;
    uint64_t awaited;
    bool zero;
} sn_due;

/* Copies fields and inputs, allocates and touches all memory. Returns 0, or -1 when memory is short. */
int sn_stepper_open(sn_stepper *stepper, const sn_stepper_options *options);
void sn_stepper_close(sn_stepper *stepper);

/* Makes this, packed as its layout says, the state of the next ticks; a GPU is waited for. Tells its slot, and returns
 * what the GPU's driver answered. */
sn_result sn_stepper_place(sn_stepper *stepper, const uint8_t *state, int *slot);

/* Then makes the inputs and the step those that go with it; publishes, and forgets what waits. Nobody takes records or
 * keyframes meanwhile. */
void sn_stepper_begin(sn_stepper *stepper, int slot, uint64_t step, const uint8_t *inputs);

/* Which of these inputs, a bit each, have no command that answers the last tick. */
uint64_t sn_stepper_unanswered(const sn_stepper *stepper, uint64_t inputs);

/* Counts these inputs as without an answer for a tick that is not done. */
void sn_stepper_give_up(sn_stepper *stepper, uint64_t inputs);

/* Does one tick; false when a kernel stopped itself: then `error` and `failed_launch` tell, and state and step stay. */
bool sn_stepper_tick(sn_stepper *stepper, sn_due due);

/* Does a tick with these inputs, packed as their layout says. It leaves no record and no keyframe: it was recorded. */
bool sn_stepper_replay(sn_stepper *stepper, const uint8_t *inputs);

/* Copies a field as the last tick left it, and the whole state, packed as its layout says. */
sn_result sn_stepper_read(const sn_stepper *stepper, uint32_t field, uint8_t *to);
sn_result sn_stepper_copy(const sn_stepper *stepper, uint8_t *state);

/* Gives an input a value from the next tick on, if no command comes through its mailbox. One thread at a time. */
void sn_stepper_command(sn_stepper *stepper, uint32_t input, const uint8_t *bytes);

/* Applies what sn_stepper_command was given; for a stepper that does not run. */
void sn_stepper_latch_commands(sn_stepper *stepper);

/* What the plan does wrongly, a flag each; an overwritten value may raise the other two. */
typedef enum {
    SN_UNWRITTEN = 1,   /* the next depends on what was in the buffer before */
    SN_CARRIED = 2,     /* it depends on what an earlier run left in memory of the plan's own */
    SN_OVERWRITTEN = 4, /* the plan changes the value that it reads */
} sn_fault;

/* Does a tick's run from the state as it is into buffers with different contents, and compares.
 *
 * `faults` takes the flags of each field and then of each input. Returns false when a kernel stopped itself: then
 * nothing is known. The state stays as it was, if the plan does not overwrite it. */
bool sn_stepper_probe(sn_stepper *stepper, uint8_t *faults);

#endif
