#include "stepper_parts.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "nvtx.h"

static uint64_t sn_padded(uint64_t size) { return (size + 63) / 64 * 64; }

/* Hands out the next part of one allocation, or only counts while there is none. */
static uint8_t *sn_part(uint8_t *memory, uint64_t *used, uint64_t size)
{
    uint8_t *part = memory ? memory + *used : NULL;
    *used += sn_padded(size);
    return part;
}

/* Lays out all that a tick touches; returns the bytes needed. */
static uint64_t sn_lay_out(sn_stepper *s, uint8_t *memory)
{
    const sn_stepper_options *o = &s->options;
    uint64_t used = 0;
    const bool away = o->away.reports != NULL;
    uint64_t there = 0;
    s->scratch = sn_part(away ? o->away.buffers : memory, away ? &there : &used, o->block_size[SN_PUBLISHED]);
    s->device_scratch = sn_part(o->away.buffers, &there, o->block_size[SN_DEVICE]);
    for (int i = 0; i < SN_PRIVATE_BUFFERS; i++)
        s->private_buffers[i] = sn_part(away ? o->away.buffers : memory, away ? &there : &used, o->block_size[SN_PRIVATE]);
    s->away_size = there;
    s->held = away ? o->away.held : sn_part(memory, &used, o->input_size);
    s->seen = away ? o->away.seen : s->held;
    s->taken = sn_part(memory, &used, o->input_size);
    s->waiting.state = sn_part(memory, &used, o->keyframe_every ? o->state_size : 0);
    s->waiting.inputs = sn_part(memory, &used, o->input_size);
    s->hashes = (uint64_t *)(void *)sn_part(memory, &used, o->field_count * sizeof *s->hashes);
    s->fields = (sn_field *)(void *)sn_part(memory, &used, o->field_count * sizeof *s->fields);
    s->inputs = (sn_input *)(void *)sn_part(memory, &used, o->input_count * sizeof *s->inputs);
    s->commands = (sn_command *)(void *)sn_part(memory, &used, o->input_count * sizeof *s->commands);
    s->received = (sn_received *)(void *)sn_part(memory, &used, o->input_count * sizeof *s->received);
    for (uint32_t i = 0; i < o->input_count; i++) {
        uint8_t *bytes = sn_part(memory, &used, o->inputs[i].size);
        if (memory) s->commands[i].bytes = bytes;
    }
    return used + 64; /* never none */
}

int sn_stepper_open(sn_stepper *s, const sn_stepper_options *options)
{
    memset(s, 0, sizeof *s);
    s->options = *options;
    const uint64_t size = sn_padded(sn_lay_out(s, NULL));
    s->memory = aligned_alloc(64, size);
    if (s->memory == NULL) return -1;
    memset(s->memory, 0, size);
    sn_lay_out(s, s->memory);
    memcpy(s->fields, options->fields, options->field_count * sizeof *s->fields);
    memcpy(s->inputs, options->inputs, options->input_count * sizeof *s->inputs);
    s->options.fields = s->fields;
    s->options.inputs = s->inputs;
    s->current[SN_PUBLISHED] = s->scratch;
    s->current[SN_PRIVATE] = s->private_buffers[0];
    s->current[SN_DEVICE] = s->device_scratch;
    s->filling = -1;
    if (options->away.reports != NULL) {
        options->plan->follow = sn_follow;
        options->plan->stepper = s;
    }
    if (sn_records_open(&s->records, options->record_capacity, options->field_count, options->input_size) < 0) {
        sn_stepper_close(s);
        return -1;
    }
    return 0;
}

void sn_stepper_close(sn_stepper *s)
{
    if (s->options.plan->stepper == s) s->options.plan->follow = NULL;
    sn_records_close(&s->records);
    free(s->memory);
    s->memory = NULL;
}

/* Points a row of the plan's cells at the buffers of one substep, and at the inputs. */
static void sn_point(const sn_stepper *s, uint32_t row, uint8_t *const from[SN_BLOCKS], uint8_t *const to[SN_BLOCKS])
{
    void **const cells = sn_plan_cells(s->options.plan, row);
    for (uint32_t i = 0; i < s->options.field_count; i++) {
        const sn_field *field = &s->fields[i];
        if (field->value != SN_NO_CELL) cells[field->value] = from[field->block] + field->offset;
        if (field->next != SN_NO_CELL) cells[field->next] = to[field->block] + field->offset;
    }
    for (uint32_t i = 0; i < s->options.input_count; i++)
        if (s->inputs[i].cell != SN_NO_CELL) cells[s->inputs[i].cell] = s->seen + s->inputs[i].offset;
}

uint8_t *sn_spare_buffer(const sn_stepper *s, int n)
{
    for (int i = 0;; i++)
        if (s->private_buffers[i] != s->current[SN_PRIVATE] && n-- == 0) return s->private_buffers[i];
}

bool sn_run_substeps(sn_stepper *s, uint8_t *const last[SN_BLOCKS], uint8_t *const other[SN_BLOCKS])
{
    const uint32_t rounds = s->options.plan->rounds;
    sn_point(s, 0, s->current, rounds % 2 ? last : other);
    if (rounds > 1) { /* the even ones from the end write the other */
        sn_point(s, 1, last, other);
        sn_point(s, 2, other, last);
    }
    s->failed_launch = sn_plan_run(s->options.plan, &s->error);
    return s->error.code == 0;
}

bool sn_is_away(const sn_stepper *s, const uint8_t *buffer)
{
    const sn_away *const away = &s->options.away;
    const uint64_t slots = (s->options.ring->geometry.slots + SN_SPARES) * away->stride;
    return (uintptr_t)buffer - (uintptr_t)away->buffers < s->away_size || (uintptr_t)buffer - (uintptr_t)away->slots < slots;
}

uint8_t *sn_device_slot(const sn_stepper *s, int slot)
{
    const sn_away *const away = &s->options.away;
    return away->slots ? away->slots + (uint64_t)slot * away->stride : NULL;
}

uint64_t sn_hash_written(const sn_stepper *s, uint32_t i, uint8_t *const written[SN_BLOCKS])
{
    const sn_field *field = &s->fields[i];
    if (s->options.away.reports == NULL) return sn_hash_field(written[field->block] + field->offset, field->size, i);
    uint64_t sum = 0;
    for (int k = 0; k < SN_SUMS; k++) sum += s->options.away.sums[i * SN_SUMS + (uint32_t)k];
    return sum;
}

/* Leaves a span of what was done since an instant; returns now. Nothing where nobody traces. */
static int64_t sn_span_since(const sn_stepper *s, sn_work work, uint64_t number, int64_t since_ns)
{
    sn_trace *const trace = s->options.plan->trace;
    if (trace == NULL) return 0;
    const int64_t now_ns = sn_now_ns();
    sn_trace_put(trace, work, (uint32_t)number, since_ns, now_ns);
    return now_ns;
}

/* Commits a slot that the host filled. */
static void sn_commit(sn_stepper *s, int slot, uint64_t step)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < s->options.field_count; i++) hash += s->hashes[i];
    atomic_store_explicit(&s->step, step, memory_order_release);
    sn_ring_commit(s->options.ring, slot, step, (int64_t)(step * s->options.dt_ns), hash);
}

/* Runs the plan into a slot, which a GPU commits, too. */
static bool sn_fill_slot(sn_stepper *s, int slot, uint64_t step, uint8_t *const last[SN_BLOCKS])
{
    uint8_t *const other[SN_BLOCKS] = {s->scratch, sn_spare_buffer(s, 1), s->device_scratch};
    if (s->options.away.reports != NULL) sn_ring_describe(s->options.ring, slot, step, (int64_t)(step * s->options.dt_ns));
    s->filling = slot;
    sn_nvtx_push("plan");
    const bool ran = sn_run_substeps(s, last, other);
    sn_nvtx_pop();
    s->filling = -1;
    return ran;
}

/* Zeroes the buffers and writes a packed state into the current ones. */
static sn_result sn_place(sn_stepper *s, const uint8_t *state)
{
    const uint64_t published = sn_padded(s->options.block_size[SN_PUBLISHED]);
    const uint64_t size = published + sn_padded(s->options.block_size[SN_DEVICE]) +
                          SN_PRIVATE_BUFFERS * sn_padded(s->options.block_size[SN_PRIVATE]);
    const sn_reports *const reports = s->options.away.reports;
    sn_result result = 0;
    if (reports == NULL) memset(s->scratch, 0, size);
    else if (size) result = sn_gpu_fill(reports, s->scratch, 0, size);
    for (uint32_t i = 0; result == 0 && i < s->options.field_count; i++) {
        const sn_field *field = &s->fields[i];
        uint8_t *const to = s->current[field->block] + field->offset;
        const uint8_t *const from = state + field->packed;
        s->hashes[i] = sn_hash_field(from, field->size, i);
        if (!sn_is_away(s, to)) memcpy(to, from, field->size);
        else if (field->size) result = sn_gpu_write(reports, to, from, field->size);
        if (field->block == SN_DEVICE && field->copied != SN_NO_COPY)
            memcpy(s->current[SN_PUBLISHED] + field->copied, from, field->size);
    }
    return result;
}

sn_result sn_stepper_place(sn_stepper *s, const uint8_t *state, int *slot)
{
    *slot = sn_ring_next(s->options.ring);
    s->current[SN_PUBLISHED] = sn_ring_slot(s->options.ring, *slot);
    s->current[SN_PRIVATE] = s->private_buffers[0];
    s->current[SN_DEVICE] = sn_device_slot(s, *slot);
    const sn_away *const away = &s->options.away;
    const sn_result result = sn_place(s, state);
    return result == 0 && away->events ? sn_gpu_record(away->reports, away->events[*slot]) : result;
}

void sn_stepper_begin(sn_stepper *s, int slot, uint64_t step, const uint8_t *inputs)
{
    sn_forget_inputs(s);
    memcpy(s->held, inputs, s->options.input_size);
    sn_records_clear(&s->records);
    atomic_store(&s->waiting.full, false);
    sn_commit(s, slot, step);
}

static void sn_put_record(sn_stepper *s, uint64_t step)
{
    sn_record *record = sn_records_claim(&s->records);
    if (record == NULL) return;
    const uint32_t fields = s->options.field_count;
    memcpy(record->words, s->hashes, fields * sizeof *s->hashes);
    memcpy(record->words + fields, s->held, s->options.input_size);
    sn_records_put(&s->records, record, step, s->unanswered);
}

static void sn_put_keyframe(sn_stepper *s, uint64_t step)
{
    if (s->options.keyframe_every == 0 || step % s->options.keyframe_every) return;
    if (atomic_load_explicit(&s->waiting.full, memory_order_acquire)) {
        sn_account_count(&s->account, SN_KEYFRAMES_SKIPPED, 1);
        return;
    }
    s->waiting.step = step;
    if (sn_stepper_copy(s, s->waiting.state) != 0) return; /* the next tick tells of it */
    memcpy(s->waiting.inputs, s->held, s->options.input_size);
    atomic_store_explicit(&s->waiting.full, true, memory_order_release);
}

static void sn_put_times(sn_stepper *s, sn_due due, int64_t began_ns, int64_t committed_ns, int64_t ended_ns)
{
    sn_account_add(&s->account, SN_WAKE_TO_COMMIT, committed_ns - began_ns);
    sn_account_add(&s->account, SN_STEP_TIME, ended_ns - began_ns);
    if (due.due_ns) sn_account_add(&s->account, SN_LATENESS, began_ns - due.due_ns);
    const bool late = due.due_ns && began_ns - due.due_ns > due.period_ns;
    if (due.period_ns && (late || ended_ns - began_ns > due.period_ns)) sn_account_count(&s->account, SN_MISSES, 1);
    if (s->unanswered) sn_account_count(&s->account, SN_UNANSWERED, 1);
    sn_account_count(&s->account, SN_TICKS, 1);
}

static bool sn_tick_once(sn_stepper *s, sn_due due, int64_t began_ns)
{
    const uint64_t step = atomic_load_explicit(&s->step, memory_order_relaxed) + 1;
    memset(&s->error, 0, sizeof s->error);
    sn_latch_inputs(s, due, step, began_ns);
    int64_t since_ns = sn_span_since(s, SN_SPAN_INPUTS, 0, began_ns);
    const int slot = sn_ring_next(s->options.ring); /* the same again after a tick that failed */
    uint8_t *const last[SN_BLOCKS] = {sn_ring_slot(s->options.ring, slot), sn_spare_buffer(s, 0), sn_device_slot(s, slot)};
    const bool ran = sn_fill_slot(s, slot, step, last);
    since_ns = sn_span_since(s, SN_SPAN_PLAN, 0, since_ns);
    if (!ran) return false;
    memcpy(s->current, last, sizeof last);
    for (uint32_t i = 0; i < s->options.field_count; i++) s->hashes[i] = sn_hash_written(s, i, last);
    since_ns = sn_span_since(s, SN_SPAN_HASH, 0, since_ns);
    sn_nvtx_push("commit");
    if (s->options.away.reports == NULL) sn_commit(s, slot, step);
    else {
        atomic_store_explicit(&s->step, step, memory_order_release);
        sn_ring_settle(s->options.ring, slot, step);
    }
    sn_nvtx_pop();
    since_ns = sn_span_since(s, SN_SPAN_COMMIT, 0, since_ns);
    const int64_t committed_ns = sn_now_ns();
    if (!s->replaying) {
        sn_put_record(s, step);
        sn_put_keyframe(s, step);
    }
    sn_ring_heartbeat(s->options.ring, committed_ns);
    sn_span_since(s, SN_SPAN_RECORD, 0, since_ns);
    sn_span_since(s, SN_SPAN_TICK, step, began_ns);
    sn_put_times(s, due, began_ns, committed_ns, sn_now_ns());
    return true;
}

bool sn_stepper_tick(sn_stepper *s, sn_due due)
{
    sn_nvtx_push("tick");
    const int64_t began_ns = sn_now_ns();
    atomic_store_explicit(&s->began_ns, began_ns, memory_order_relaxed);
    const bool done = sn_tick_once(s, due, began_ns);
    atomic_store_explicit(&s->began_ns, 0, memory_order_relaxed);
    sn_nvtx_pop();
    return done;
}

bool sn_stepper_replay(sn_stepper *s, const uint8_t *inputs)
{
    memcpy(s->held, inputs, s->options.input_size);
    s->replaying = true;
    const bool done = sn_stepper_tick(s, (sn_due){0});
    s->replaying = false;
    return done;
}

sn_result sn_stepper_read(const sn_stepper *s, uint32_t i, uint8_t *to)
{
    const sn_field *field = &s->fields[i];
    const uint8_t *const from = s->current[field->block] + field->offset;
    if (field->size && sn_is_away(s, from)) return sn_gpu_read(s->options.away.reports, to, from, field->size);
    memcpy(to, from, field->size);
    return 0;
}

sn_result sn_stepper_copy(const sn_stepper *s, uint8_t *state)
{
    sn_result result = 0;
    for (uint32_t i = 0; result == 0 && i < s->options.field_count; i++)
        result = sn_stepper_read(s, i, state + s->fields[i].packed);
    return result;
}
