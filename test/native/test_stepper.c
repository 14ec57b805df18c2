/* The tick against a plain loop: odd and even substeps, leases, failures, inputs, keyframes, and the probe. */
#include "fixture.h"

#include "hash.h"
#include "gpu.c"
#include "nvtx.c"
#include "stepper.c"
#include "stepper_away.c"
#include "stepper_inputs.c"
#include "stepper_probe.c"

static const sn_due NEVER_DUE = {0};

static void put_force(fixture *f, sn_reader *reader, const int64_t *force, uint64_t answers)
{
    CHECK(sn_mailbox_put(reader, 0, force, answers, sn_now_ns()) == 0);
    (void)f;
}

static void check_latest(const fixture *f, const model *m, uint64_t step)
{
    const uint64_t latest = f->ring.control->latest;
    const sn_slot *slot = sn_slot_at(&f->ring, (uint32_t)(latest & 255));
    const uint8_t *payload = (const uint8_t *)(slot + 1);
    CHECK(slot->step == step);
    CHECK(memcmp(payload, m->field[0], SIZE) == 0 && memcmp(payload + STRIDE, m->field[2], SIZE) == 0);
    uint64_t hash = 0;
    for (uint64_t i = 0; i < FIELDS; i++) hash += sn_hash_field(m->field[i], SIZE, i);
    CHECK(slot->hash == hash);
}

/* A reader that keeps up to four leases, taken and given back in a fixed irregular order, so that slots are skipped and
 * in stretches all of them are leased and the spares are used. */
static void check_trajectory(uint32_t substeps, uint64_t slots)
{
    fixture f;
    fixture_open(&f, substeps, slots, 16, 0);
    sn_reader reader;
    CHECK(sn_reader_open(&reader, &f.ring) == SN_OK);
    sn_tick leases[SN_LEASES];
    int held = 0;
    int64_t force[WIDTH] = {5, 4, 3, 2, 1};
    model m = fixture_start();
    fixture_load(&f, &m, force);
    uint32_t random = 12345;
    const uint64_t allocated = allocations;
    for (uint64_t tick = 1; tick <= 400; tick++) {
        random = random * 1664525u + 1013904223u;
        if (random >> 30 == 0) {
            force[tick % WIDTH] = (int64_t)(random >> 20);
            put_force(&f, &reader, force, tick - 1);
        }
        const uint64_t before = f.ring.control->dropped;
        CHECK(sn_stepper_tick(&f.stepper, NEVER_DUE));
        for (uint32_t k = 0; k < substeps; k++) model_step(&m, force);
        const model got = fixture_state(&f);
        CHECK(memcmp(&got, &m, sizeof m) == 0);
        if (f.ring.control->dropped == before) check_latest(&f, &m, tick);
        if (random >> 24 & 1) {
            if (held < (int)SN_LEASES && sn_reader_take(&reader, &leases[held], 1) == SN_NEW) held++;
        } else if (held > 0 && tick % 3 == 0) {
            sn_reader_release(&reader, &leases[--held]);
        }
    }
    CHECK(allocated > 0 && allocations == allocated);
    CHECK(f.ring.control->dropped > 0);
    CHECK(f.stepper.account.counters[SN_TICKS] == 400 && f.stepper.account.counters[SN_COPIES] == 0);
    CHECK(f.stepper.received[0].delay.counts[1] > 0 && f.stepper.received[0].delay.max == 1);
    fixture_close(&f);
}

static void check_failure(uint32_t substeps)
{
    fixture f;
    fixture_open(&f, substeps, 3, 16, 0);
    sn_reader reader;
    CHECK(sn_reader_open(&reader, &f.ring) == SN_OK);
    int64_t force[WIDTH] = {1}, wrong[WIDTH] = {-9};
    model m = fixture_start();
    fixture_load(&f, &m, force);
    for (int i = 0; i < 5; i++) {
        CHECK(sn_stepper_tick(&f.stepper, NEVER_DUE));
        for (uint32_t k = 0; k < substeps; k++) model_step(&m, force);
    }
    put_force(&f, &reader, wrong, 5);
    for (int i = 0; i < 3; i++) {
        CHECK(!sn_stepper_tick(&f.stepper, NEVER_DUE));
        CHECK(f.stepper.error.code == 1 && f.stepper.error.index == -9 && f.stepper.failed_launch == 0);
        const model got = fixture_state(&f);
        CHECK(memcmp(&got, &m, sizeof m) == 0 && f.stepper.step == 5);
        check_latest(&f, &m, 5);
    }
    put_force(&f, &reader, force, 5);
    CHECK(sn_stepper_tick(&f.stepper, NEVER_DUE));
    for (uint32_t k = 0; k < substeps; k++) model_step(&m, force);
    check_latest(&f, &m, 6);
    fixture_close(&f);
}

static void check_keyframes(void)
{
    fixture f;
    fixture_open(&f, 2, 3, 4, 3);
    const int64_t force[WIDTH] = {1, 2, 3, 4, 5};
    model m = fixture_start();
    fixture_load(&f, &m, force);
    for (int tick = 1; tick <= 7; tick++) CHECK(sn_stepper_tick(&f.stepper, NEVER_DUE));
    for (int k = 0; k < 6; k++) model_step(&m, force);
    CHECK(f.stepper.waiting.full && f.stepper.waiting.step == 3); /* that of tick 6 found it not taken */
    CHECK(f.stepper.account.counters[SN_KEYFRAMES_SKIPPED] == 1);
    for (int i = 0; i < FIELDS; i++) CHECK(memcmp(f.stepper.waiting.state + i * STRIDE, m.field[i], SIZE) == 0);
    CHECK(memcmp(f.stepper.waiting.inputs, force, SIZE) == 0);
    CHECK(sn_records_run(&f.stepper.records) == 4 && f.stepper.records.lost == 3);
    fixture_close(&f);
}

/* Leaves out the last element of one next, overwrites a value, or counts runs in memory of its own. */
static int sloppiness;
static int64_t runs;

static void sloppy(int64_t begin, int64_t end, const void *block, sn_error *error)
{
    const arguments *a = block;
    kernel(begin, sloppiness == SN_UNWRITTEN ? end - 1 : end, block, error);
    if (sloppiness == SN_CARRIED) a->next_count[0] += runs++;
    if (sloppiness == SN_OVERWRITTEN) a->phase[2]++, a->force[1]++;
}

static void check_probe(void)
{
    for (int fault = 0; fault <= SN_OVERWRITTEN; fault = fault ? fault * 2 : 1) {
        fixture f;
        fixture_open(&f, 1, 3, 4, 0);
        f.launch.kernel = sloppy;
        const int64_t force[WIDTH] = {1, 2, 3, 4, 5};
        const model m = fixture_start();
        fixture_load(&f, &m, force);
        sloppiness = fault;
        uint8_t faults[FIELDS + 1];
        CHECK(sn_stepper_probe(&f.stepper, faults));
        for (int i = 0; i < FIELDS && fault != SN_OVERWRITTEN; i++) {
            CHECK((faults[i] & SN_UNWRITTEN) == (fault == SN_UNWRITTEN || (fault == SN_CARRIED && i == 3)));
            CHECK((faults[i] & SN_CARRIED) == (fault == SN_CARRIED && i == 3 ? SN_CARRIED : 0));
        }
        CHECK(((faults[2] & SN_OVERWRITTEN) != 0) == (fault == SN_OVERWRITTEN));
        CHECK((faults[FIELDS] == SN_OVERWRITTEN) == (fault == SN_OVERWRITTEN));
        fixture_close(&f);
    }
}

int main(void)
{
    for (uint32_t substeps = 1; substeps <= 5; substeps++) {
        for (uint64_t slots = 2; slots <= 4; slots++) check_trajectory(substeps, slots);
        check_failure(substeps);
    }
    check_keyframes();
    check_probe();
    return 0;
}
