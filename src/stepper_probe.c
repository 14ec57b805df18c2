/* The probe: a tick's run into buffers of different contents, which finds what a plan leaves out or must not touch. */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "stepper_parts.h"

/* Fills the fields that a run of the plan writes. */
static sn_result sn_fill(const sn_stepper *s, uint8_t *const to[SN_BLOCKS], unsigned char filling)
{
    sn_result result = 0;
    for (uint32_t i = 0; result == 0 && i < s->options.field_count; i++) {
        const sn_field *field = &s->fields[i];
        uint8_t *const at = to[field->block] + field->offset;
        if (!sn_is_away(s, at)) memset(at, filling, field->size);
        else if (field->size) result = sn_gpu_fill(s->options.away.reports, at, filling, field->size);
    }
    return result;
}

/* A tick's run of the plan into buffers filled with `filling`; its hashes go to `hashes`. */
static bool sn_probe_run(sn_stepper *s, uint8_t *const last[SN_BLOCKS], uint8_t *const other[SN_BLOCKS],
                         unsigned char filling, uint64_t *hashes)
{
    sn_result result = sn_fill(s, last, filling);
    if (result == 0) result = sn_fill(s, other, filling);
    if (result != 0) sn_error_lost(&s->error, result);
    else if (sn_run_substeps(s, last, other))
        for (uint32_t i = 0; i < s->options.field_count; i++) hashes[i] = sn_hash_written(s, i, last);
    return s->error.code == 0;
}

/* The hashes of the state and then of the inputs, as they are now; `bytes` is for a copy of either. */
static sn_result sn_probe_look(const sn_stepper *s, uint8_t *bytes, uint64_t *hashes)
{
    const sn_stepper_options *const o = &s->options;
    sn_result result = sn_stepper_copy(s, bytes);
    for (uint32_t i = 0; i < o->field_count; i++) hashes[i] = sn_hash_field(bytes + s->fields[i].packed, s->fields[i].size, i);
    if (result == 0 && o->away.reports != NULL && o->input_size)
        result = sn_gpu_read(o->away.reports, bytes, s->seen, o->input_size);
    else memcpy(bytes, s->seen, o->input_size);
    for (uint32_t i = 0; i < o->input_count; i++)
        hashes[o->field_count + i] = sn_hash_field(bytes + s->inputs[i].offset, s->inputs[i].size, i);
    return result;
}

bool sn_stepper_probe(sn_stepper *s, uint8_t *faults)
{
    const sn_stepper_options *const o = &s->options;
    const uint32_t fields = o->field_count, inputs = o->input_count, all = fields + inputs;
    uint64_t *const hashes = calloc(3 * (uint64_t)fields + 2 * (uint64_t)all + 1, sizeof *hashes);
    uint8_t *const bytes = malloc(o->state_size + o->input_size + 1);
    uint64_t *const runs = hashes, *const before = hashes + 3 * fields, *const after = before + all;
    const int slot = sn_ring_next(o->ring);
    uint8_t *const last[SN_BLOCKS] = {sn_ring_slot(o->ring, slot), sn_spare_buffer(s, 0), sn_device_slot(s, slot)};
    uint8_t *const other[SN_BLOCKS] = {s->scratch, sn_spare_buffer(s, 1), s->device_scratch};
    memset(&s->error, 0, sizeof s->error);
    bool ran = hashes != NULL && bytes != NULL;
    if (ran) {
        memcpy(before, s->hashes, fields * sizeof *before);
        for (uint32_t i = 0; i < inputs; i++)
            before[fields + i] = sn_hash_field(s->held + s->inputs[i].offset, s->inputs[i].size, i);
        ran = sn_probe_run(s, last, other, 0x55, runs) && sn_probe_run(s, last, other, 0xAA, runs + fields) &&
              sn_probe_run(s, last, other, 0xAA, runs + 2 * fields);
    }
    if (ran) {
        const sn_result result = sn_probe_look(s, bytes, after);
        if (result != 0) sn_error_lost(&s->error, result);
        ran = result == 0;
    }
    for (uint32_t i = 0; ran && i < all; i++) {
        faults[i] = (uint8_t)((before[i] != after[i]) * SN_OVERWRITTEN);
        if (i < fields) faults[i] |= (uint8_t)((runs[i] != runs[fields + i]) * SN_UNWRITTEN |
                                               (runs[fields + i] != runs[2 * fields + i]) * SN_CARRIED);
    }
    sn_fill(s, last, 0);
    sn_fill(s, other, 0);
    if (o->plan->prints != NULL) sn_prints_forget(o->plan->prints); /* these runs are nobody's */
    free(hashes);
    free(bytes);
    return ran;
}
