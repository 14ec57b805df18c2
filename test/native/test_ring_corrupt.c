/* Damaged and hostile segments: taking one up fails with a reason, or everything that follows stays inside the mapping,
 * on the side of a reader and of the producer. The pages before and after it cannot be touched, so that a step outside
 * ends the test.
 *
 *     test_ring_corrupt [ROUNDS [SEED]]
 */
#include <inttypes.h>
#include <stddef.h>

#include "check.h"

#define ROUNDS 50000
#define ROOM 65536

static const char layout[] = "{\"fields\":[{\"dtype\":\"vec3\",\"name\":\"position\",\"offset\":0,\"shape\":[4],\"unit\":\"m\"},"
                             "{\"dtype\":\"f32\",\"name\":\"load\",\"offset\":64,\"shape\":[20],\"unit\":\"N\"}],\"size\":192}";
static const char inputs[] = "{\"fields\":[{\"dtype\":\"f32\",\"name\":\"force\",\"offset\":0,\"shape\":[10],\"unit\":\"N\"},"
                             "{\"dtype\":\"i64\",\"name\":\"gear\",\"offset\":64,\"shape\":[5],\"unit\":\"\"}],\"size\":128}";

static const char device[] = "{\"fields\":[],\"slots\":4}";

static uint64_t state = 42;
static char *fence, *end; /* the room lies between them */
static unsigned char copy[ROOM];
uint64_t sum_seen; /* visible outside, so that no read is left away */

static uint64_t draw(void) /* SplitMix64 */
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void sum(const void *from, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) sum_seen += ((const unsigned char *)from)[i];
}

/* ---- the two sides ---- */

static void look_up(const sn_ring *r, const void *payload)
{
    static const char *const names[] = {"position", "load", "force", "gear", "", "x\",\"offset\":0"};
    static const char *const dtypes[] = {"vec3", "f32", "i64"};
    const char *name = names[draw() % 6], *dtype = dtypes[draw() % 3];
    uint64_t offset, bytes = draw() % 4 ? draw() % 256 : draw();
    uint32_t input;
    if (sn_ring_field(r, name, dtype, bytes, &offset) == NULL && payload != NULL) sum((const char *)payload + offset, bytes);
    bytes = 40;
    if (sn_ring_input(r, name, dtype, bytes, &input) == NULL) sum(sn_lane_half(r, input, (uint32_t)(draw() % SN_LANES), draw()), bytes);
}

/* Do all that a subscriber does; returns whether the ring was taken up. */
static int read_it(void *memory, uint64_t size)
{
    sn_ring r;
    sn_reader d;
    sn_tick t;
    if (sn_ring_attach(&r, memory, size) != NULL) return 0;
    sum((char *)memory + r.geometry.layout_at, r.geometry.layout_size);
    sum((char *)memory + r.geometry.inputs_at, r.geometry.inputs_size);
    sum((char *)memory + r.geometry.device_at, r.geometry.device_size);
    look_up(&r, NULL);
    CHECK(r.geometry.slot_size <= sizeof copy);
    sn_ring_copy(&r, copy, &t);
    sn_ring_ended(&r);
    if (sn_reader_open(&d, &r) < 0) return 1;
    sn_reader_wait(&d, 0, 0);
    if (sn_reader_take(&d, &t, 1) == SN_NEW) {
        sum(t.payload, r.geometry.slot_size);
        look_up(&r, t.payload);
        sn_reader_release(&d, &t);
    }
    for (uint32_t i = 0; i < r.geometry.inputs; i++)
        if (r.geometry.input_size[i] <= sizeof copy) sn_mailbox_put(&d, i, copy, SN_NONE, 0);
    sn_reader_close(&d);
    return 1;
}

/* Do all that a producer does in a segment that others write into. */
static void produce(sn_ring r, void *memory)
{
    r.control = (sn_control *)memory;
    r.last = (uint32_t)(draw() % (r.geometry.slots + SN_SPARES));
    for (int tick = 0; tick < 2; tick++) {
        int slot = sn_ring_next(&r);
        memset(sn_ring_slot(&r, slot), 0, r.geometry.slot_size);
        sn_ring_commit(&r, slot, draw(), 0, 0);
        for (uint32_t i = 0; i < r.geometry.inputs; i++) sn_mailbox_take(&r, i, copy, SN_NONE, sn_now_ns());
        r.beat_ns = 0;
        sn_ring_heartbeat(&r, sn_now_ns());
    }
}

/* ---- what they are given ---- */

/* Change one to three words of a valid segment, most of them where it says what lies where. */
static void change(char *memory, uint64_t size)
{
    for (uint64_t changes = 1 + draw() % 3; changes > 0; changes--) {
        size_t span = draw() % 4 ? offsetof(sn_control, readers) : size - 8;
        size_t at = draw() % span / 8 * 8;
        uint64_t old, values[] = {draw(), draw() % 4096, UINT64_MAX, 0, 1};
        memcpy(&old, memory + at, 8);
        uint64_t now = draw() % 2 ? values[draw() % 5] : old ^ (UINT64_C(1) << draw() % 64);
        memcpy(memory + at, &now, 8);
    }
}

/* Change bytes of the two texts. */
static void garble(char *memory, const sn_geometry *g)
{
    for (uint64_t changes = 1 + draw() % 8; changes > 0; changes--) {
        static const char signs[] = "\"\\{}[]:,0189e-.\0f";
        char *text = memory + g->layout_at + draw() % (g->layout_size + g->inputs_size);
        *text = draw() % 2 ? signs[draw() % sizeof signs] : (char)draw();
    }
}

static void scatter(char *memory, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += 8) {
        uint64_t word = draw() % 4 ? draw() : draw() % 8;
        memcpy(memory + at, &word, 8);
    }
}

/* Random bytes up to the fence, under a head that passes for a ring's; returns how many. Half of them lie as the sizes in
 * them say, so that all the rest of them is believed. */
static uint64_t make_up(char **memory)
{
    sn_geometry g;
    memset(&g, 0, sizeof g);
    g.slots = 2 + draw() % 8;
    g.slot_size = draw() % 64 * 8;
    g.inputs = draw() % 5;
    for (uint64_t i = 0; i < g.inputs; i++) g.input_size[i] = draw() % 200;
    g.layout_size = draw() % 400;
    g.inputs_size = draw() % 400;
    g.device_size = draw() % 400;
    CHECK(sn_geometry_place(&g) == NULL && g.size <= ROOM);
    uint64_t size = draw() % 2 ? g.size : draw() % ROOM;
    *memory = end - (size + SN_LINE - 1) / SN_LINE * SN_LINE;
    scatter(*memory, size / 8 * 8);
    if (size < sizeof(sn_control)) return size;
    sn_control *c = (sn_control *)(void *)*memory;
    c->magic = SN_MAGIC;
    c->version = SN_VERSION;
    c->control_size = sizeof *c;
    if (draw() % 8) c->pid_namespace = sn_pid_namespace();
    if (draw() % 2) c->geometry = g;
    return size;
}

int main(int words, char **word)
{
    const uint64_t rounds = words > 1 ? strtoull(word[1], NULL, 10) : ROUNDS;
    if (words > 2) state = strtoull(word[2], NULL, 10);
    sn_ring made;
    sn_geometry g;
    memset(&g, 0, sizeof g);
    g.slots = 4;
    g.slot_size = 192;
    g.inputs = 2;
    g.input_size[0] = g.input_size[1] = 40;
    g.layout_size = sizeof layout - 1;
    g.inputs_size = sizeof inputs - 1;
    g.device_size = sizeof device - 1;
    CHECK(sn_geometry_place(&g) == NULL);
    size_t size = (size_t)g.size;
    char *good = (char *)aligned_alloc(SN_LINE, (size + SN_LINE - 1) / SN_LINE * SN_LINE);
    CHECK(good != NULL);
    memset(good, 0, size);
    sn_ring_format(&made, good, &g, 7, "0123456789abcdef0123456789abcdef", layout, inputs, device);
    for (uint64_t step = 0; step < 9; step++) publish(&made, step);
    fence = (char *)mmap(NULL, ROOM + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fence != MAP_FAILED && mprotect(fence + 4096, ROOM, PROT_READ | PROT_WRITE) == 0);
    end = fence + 4096 + ROOM;
    char *memory = end - (size + SN_LINE - 1) / SN_LINE * SN_LINE; /* its end lies at the fence */
    memcpy(memory, good, size);
    CHECK(read_it(memory, size));
    uint64_t changed[2] = {0}, made_up[2] = {0};
    for (uint64_t round = 0; round < rounds; round++) {
        if (draw() % 4 == 0) {
            char *random;
            uint64_t length = make_up(&random);
            made_up[read_it(random, length)]++;
            continue;
        }
        memcpy(memory, good, size);
        if (draw() % 3 == 0) garble(memory, &g);
        else change(memory, size);
        if (draw() % 4 == 0) produce(made, memory);
        changed[read_it(memory, size)]++;
    }
    printf("{\"rounds\": %" PRIu64 ", \"changed\": {\"refused\": %" PRIu64 ", \"taken\": %" PRIu64 "}, "
           "\"random\": {\"refused\": %" PRIu64 ", \"taken\": %" PRIu64 "}}\n",
           rounds, changed[0], changed[1], made_up[0], made_up[1]);
    CHECK(changed[0] > rounds / 8 && changed[1] > rounds / 8 && made_up[0] > rounds / 16 && made_up[1] > rounds / 32);
    for (size_t cut = 0; cut < size; cut += 64) { /* truncated: the fence begins where the memory ends */
        char *start = end - cut;
        memcpy(start, good, cut);
        CHECK(!read_it(start, cut));
    }
    free(good);
    return 0;
}
