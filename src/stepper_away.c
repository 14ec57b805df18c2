/* What a GPU does behind the plan's graph, so that its readers need no thread of the host: it commits the slot. */
#include <string.h>

#include "stepper_parts.h"

#define TRY(call)                                                                                                               \
    do {                                                                                                                        \
        const sn_result result_ = (call);                                                                                       \
        if (result_ != 0) return result_;                                                                                       \
    } while (0)

/* An array of one dimension, and the argument block of plant/commit.py's kernel (ARCHITECTURE.md, ABI). */
typedef struct {
    uint64_t address;
    int32_t length, padding;
} sn_array_argument;

typedef struct {
    int32_t dim[4];
    sn_array_argument sums, stopped, slot, latest;
    uint64_t sequence, before, after;
} sn_commit_arguments;

/* Copies into the slot what the GPU keeps for its own readers and others, too, and counts it. */
static sn_result sn_copy_kept(sn_stepper *s, uint8_t *slot)
{
    const uint32_t rounds = s->options.plan->rounds;
    void *const *cells = sn_plan_cells(s->options.plan, sn_plan_row(rounds, rounds - 1));
    for (uint32_t i = 0; i < s->options.field_count; i++) {
        const sn_field *field = &s->fields[i];
        if (field->block != SN_DEVICE || field->copied == SN_NO_COPY) continue;
        const uint64_t from = (uintptr_t)cells[field->next];
        if (field->size)
            TRY(sn_driver_functions.read(slot + field->copied, from, field->size, s->options.away.reports->stream));
        sn_account_count(&s->account, SN_COPIES, 1);
        __atomic_fetch_add(&s->options.ring->control->copies, 1, __ATOMIC_RELAXED);
    }
    return 0;
}

/* Launches what publishes the slot unless a kernel before it stopped itself. */
static sn_result sn_commit_there(const sn_stepper *s, int slot)
{
    const sn_away *const away = &s->options.away;
    const sn_ring *const ring = s->options.ring;
    const sn_words words = sn_ring_words(ring, slot);
    const int32_t sums = (int32_t)((s->options.field_count + 1) * SN_SUMS);
    sn_commit_arguments arguments = {
        .dim = {1, 1, 1, 1},
        .sums = {away->summed, sums, 0},
        .stopped = {(uintptr_t)away->reports->fresh->flag, 1, 0},
        .slot = {(uintptr_t)sn_slot_at(ring, (uint32_t)slot), sizeof(sn_slot) / sizeof(uint64_t), 0},
        .latest = {(uintptr_t)&ring->control->latest, 1, 0},
        .sequence = words.sequence,
        .before = ring->control->latest,
        .after = words.latest,
    };
    sn_launch launch = {.args = &arguments, .threads = 1, .block = away->commit_block, .pairs_from = INT64_MAX,
                        .most_blocks = 1};
    memcpy(&launch.kernel, &away->commit, sizeof launch.kernel);
    return sn_gpu_launch(away->reports, &launch, away->reports->count - 1);
}

sn_result sn_follow(void *stepper)
{
    sn_stepper *const s = stepper;
    const sn_away *const away = &s->options.away;
    if (s->filling >= 0) {
        if (away->events != NULL) TRY(sn_driver_functions.record(away->events[s->filling], away->reports->stream));
        TRY(sn_copy_kept(s, sn_ring_slot(s->options.ring, s->filling)));
        TRY(sn_commit_there(s, s->filling));
    }
    const size_t size = (s->options.field_count + 1) * SN_SUMS * sizeof *away->sums;
    TRY(sn_driver_functions.read(away->sums, away->summed, size, away->reports->stream));
    return sn_driver_functions.fill(away->summed, 0, size, away->reports->stream); /* for the next run, behind all that waits */
}
