/* A damaged or hostile segment: taking it up fails with a reason, or everything that follows stays inside the mapping.
 * The pages before and after it cannot be touched, so that a step outside ends the test. */
#include <stddef.h>

#include "check.h"

#define ROUNDS 6000

static uint64_t state = 42;
uint64_t sum_seen; /* visible outside, so that no read is left away */

static uint64_t draw(void) /* SplitMix64 */
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t sum(const void *from, uint64_t size)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < size; i++) total += ((const unsigned char *)from)[i];
    return total;
}

/* Do all that a subscriber does; returns whether the ring was taken up. */
static int use(void *memory, uint64_t size)
{
    sn_ring r;
    sn_reader d;
    sn_tick t;
    unsigned char copy[256] = {0};
    if (sn_ring_attach(&r, memory, size) != NULL) return 0;
    sum_seen += sum((char *)memory + r.geometry.layout_at, r.geometry.layout_size);
    sum_seen += sum((char *)memory + r.geometry.inputs_at, r.geometry.inputs_size);
    CHECK(r.geometry.slot_size <= sizeof copy);
    sn_ring_copy(&r, copy, &t);
    sn_ring_ended(&r);
    if (sn_reader_open(&d, &r) < 0) return 1;
    sn_reader_wait(&d, 0, 0);
    if (sn_reader_take(&d, &t, 1) == SN_NEW) {
        sum_seen += sum(t.payload, r.geometry.slot_size);
        sn_reader_release(&d, &t);
    }
    for (uint32_t i = 0; i < r.geometry.inputs; i++)
        if (r.geometry.input_size[i] <= sizeof copy) sn_mailbox_put(&d, i, copy, SN_NONE, 0);
    sn_reader_close(&d);
    return 1;
}

int main(void)
{
    sn_ring r;
    void *good = make_ring(&r, 4, 192, 3, 40);
    for (uint64_t step = 0; step < 9; step++) publish(&r, step);
    size_t size = (size_t)r.geometry.size, room = (size + 4095) / 4096 * 4096;
    char *fence = (char *)mmap(NULL, room + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fence != MAP_FAILED && mprotect(fence + 4096, room, PROT_READ | PROT_WRITE) == 0);
    char *memory = fence + 4096 + (room - size) / SN_LINE * SN_LINE; /* its end lies at the fence */
    memcpy(memory, good, size);
    CHECK(use(memory, size));
    int refused = 0, taken = 0;
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(memory, good, size);
        for (uint64_t changes = 1 + draw() % 3; changes > 0; changes--) {
            /* Most of them in the part that says where things lie. */
            size_t span = draw() % 4 ? offsetof(sn_control, readers) : size - 8;
            size_t at = draw() % span / 8 * 8;
            uint64_t old, values[] = {draw(), draw() % 4096, UINT64_MAX, 0, 1};
            memcpy(&old, memory + at, 8);
            uint64_t now = draw() % 2 ? values[draw() % 5] : old ^ (UINT64_C(1) << draw() % 64);
            memcpy(memory + at, &now, 8);
        }
        int is = use(memory, size);
        taken += is;
        refused += !is;
    }
    CHECK(refused > ROUNDS / 4 && taken > ROUNDS / 8);
    for (size_t cut = 0; cut < size; cut += 64) { /* truncated: the fence begins where the memory ends */
        char *start = fence + 4096 + room - cut;
        memcpy(start, good, cut);
        CHECK(!use(start, cut));
    }
    return 0;
}
