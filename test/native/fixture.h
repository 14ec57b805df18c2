/* A plant in C for the tests of the stepper: integers, so that a plain loop says what must come out.
 *
 * Fields: position (published), velocity (private), phase (published), count (private); an output sum (published).
 * The kernel stops itself when the first input is negative.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

/* The thread sanitizer does not model fences; it finds none missing. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic ignored "-Wtsan"
#endif

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

/* What follows allocates through here, and so is counted. */
static uint64_t allocations;
static inline void *counted(void *memory) { return allocations++, memory; }
#define malloc(size) counted(malloc(size))
#define calloc(count, size) counted(calloc(count, size))
#define aligned_alloc(alignment, size) counted(aligned_alloc(alignment, size))

#include "stepper.h"

enum { WIDTH = 5, FIELDS = 5, CELLS = 10, SIZE = WIDTH * 8, STRIDE = 64 };

typedef struct {
    int64_t field[FIELDS][WIDTH];
} model;

typedef struct {
    int64_t *position, *velocity, *phase, *count, *force;
    int64_t *next_position, *next_velocity, *next_phase, *next_count, *sum;
} arguments;

static inline void model_step(model *m, const int64_t *force)
{
    model old = *m;
    for (int i = 0; i < WIDTH; i++) {
        m->field[1][i] = old.field[1][i] * 3 - old.field[0][i] + force[i];
        m->field[0][i] = old.field[0][i] + m->field[1][i] % 1001;
        m->field[2][i] = old.field[2][i] ^ (old.field[0][i] + i);
        m->field[3][i] = old.field[3][i] + 1;
        m->field[4][i] = old.field[0][i] + old.field[3][i];
        m->field[1][i] %= 1 << 20;
    }
}

static inline void kernel(int64_t begin, int64_t end, const void *block, sn_error *error)
{
    const arguments *a = block;
    if (a->force[0] < 0) {
        *error = (sn_error){1, 7, 0, a->force[0], WIDTH, NULL, 0, 0, NULL};
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        const int64_t velocity = a->velocity[i] * 3 - a->position[i] + a->force[i];
        a->next_position[i] = a->position[i] + velocity % 1001;
        a->next_velocity[i] = velocity % (1 << 20);
        a->next_phase[i] = a->phase[i] ^ (a->position[i] + i);
        a->next_count[i] = a->count[i] + 1;
        a->sum[i] = a->position[i] + a->count[i];
    }
}

typedef struct {
    arguments block;
    sn_launch launch;
    sn_patch patches[CELLS];
    void *cells[SN_ROWS * CELLS];
    sn_plan plan;
    void *segment;
    sn_ring ring;
    sn_stepper stepper;
} fixture;

static inline void fixture_open(fixture *f, uint32_t substeps, uint64_t slots, uint64_t records, uint64_t keyframe_every)
{
    memset(f, 0, sizeof *f);
    void **words = (void **)(void *)&f->block;
    for (uint32_t i = 0; i < CELLS; i++) f->patches[i] = (sn_patch){words + i, i};
    f->launch = (sn_launch){kernel, &f->block, WIDTH, 0, 0, 0};
    f->plan = (sn_plan){.launches = &f->launch, .patches = f->patches, .cells = f->cells, .launch_count = 1, .patch_count = CELLS, .cell_count = CELLS,
                        .rounds = substeps};
    f->segment = make_ring(&f->ring, slots, 3 * STRIDE, 1, SIZE);
    const sn_field fields[FIELDS] = {
        {SN_PUBLISHED, 0, 0, SIZE, 0, 5, SN_NO_COPY},
        {SN_PRIVATE, 0, STRIDE, SIZE, 1, 6, SN_NO_COPY},
        {SN_PUBLISHED, STRIDE, 2 * STRIDE, SIZE, 2, 7, SN_NO_COPY},
        {SN_PRIVATE, STRIDE, 3 * STRIDE, SIZE, 3, 8, SN_NO_COPY},
        {SN_PUBLISHED, 2 * STRIDE, 4 * STRIDE, SIZE, SN_NO_CELL, 9, SN_NO_COPY},
    };
    const sn_input inputs[1] = {{0, SIZE, 4}};
    const sn_stepper_options options = {
        .plan = &f->plan, .ring = &f->ring, .fields = fields, .inputs = inputs, .field_count = FIELDS, .input_count = 1,
        .block_size = {3 * STRIDE, 2 * STRIDE}, .state_size = 5 * STRIDE, .input_size = STRIDE, .dt_ns = 1000000,
        .keyframe_every = keyframe_every, .record_capacity = records,
    };
    CHECK(sn_stepper_open(&f->stepper, &options) == 0);
}

static inline void fixture_close(fixture *f)
{
    sn_stepper_close(&f->stepper);
    munmap(f->segment, f->ring.geometry.size);
}

static inline void fixture_load(fixture *f, const model *m, const int64_t *force)
{
    uint8_t state[5 * STRIDE] = {0}, inputs[STRIDE] = {0};
    for (int i = 0; i < FIELDS; i++) memcpy(state + i * STRIDE, m->field[i], SIZE);
    memcpy(inputs, force, SIZE);
    int slot;
    CHECK(sn_stepper_place(&f->stepper, state, &slot) == 0);
    sn_stepper_begin(&f->stepper, slot, 0, inputs);
}

static inline model fixture_state(const fixture *f)
{
    model m;
    for (uint32_t i = 0; i < FIELDS; i++) CHECK(sn_stepper_read(&f->stepper, i, (uint8_t *)m.field[i]) == 0);
    return m;
}

static inline model fixture_start(void)
{
    model m;
    for (int i = 0; i < FIELDS; i++)
        for (int k = 0; k < WIDTH; k++) m.field[i][k] = i == 4 ? 0 : 10 * i + k;
    return m;
}

#endif
