/* The reader in C of the bridge bench, as the Python one beside it:
 *
 *     bridge_reader NAME SPIN_US LAST
 *
 * It takes ticks until number LAST, then prints their ages in ns as JSON: since the commit, and since the producer's call. */
#include <inttypes.h>

#include <sim_node/ring.h>

static int fail(const char *why)
{
    fprintf(stderr, "bridge_reader: %s\n", why);
    return 1;
}

static void list(const char *name, const int64_t *values, uint64_t count, const char *end)
{
    printf("\"%s\":[", name);
    for (uint64_t i = 0; i < count; i++) printf("%s%" PRId64, i > 0 ? "," : "", values[i]);
    printf("]%s", end);
}

int main(int words, char **word)
{
    sn_ring ring;
    sn_reader reader;
    sn_tick tick;
    uint64_t state_at, count = 0;
    if (words != 4) return fail("three words: NAME SPIN_US LAST");
    const int64_t spin_ns = 1000 * strtoll(word[2], NULL, 10);
    const uint64_t last = strtoull(word[3], NULL, 10);
    const char *wrong = sn_ring_open(&ring, word[1]);
    if (wrong == NULL) wrong = sn_ring_field(&ring, "state", "f32", 2 * sizeof(float), &state_at);
    if (wrong != NULL) return fail(wrong);
    const int code = sn_reader_open(&reader, &ring);
    if (code != SN_OK) return fail(sn_code_text(code));
    int64_t *wake = (int64_t *)calloc(2 * last, sizeof *wake), *call = wake + last;
    if (wake == NULL) return fail("no memory");
    for (uint64_t i = 0; i < ring.geometry.slots; i++) *(volatile const char *)sn_ring_slot(&ring, (int)i);
    if (sn_reader_take(&reader, &tick, 1) == SN_NEW) sn_reader_release(&reader, &tick); /* of before this reader */
    puts("ready");
    fflush(stdout);
    while (count < last) {
        if (sn_reader_wait(&reader, INT64_C(2000000000), spin_ns) != SN_NEW) break;
        if (sn_reader_take(&reader, &tick, 0) != SN_NEW) continue;
        const float *state = (const float *)((const char *)tick.payload + state_at);
        const int64_t now = sn_now_ns();
        int64_t called;
        memcpy(&called, state, sizeof called);
        wake[count] = now - tick.sent_ns;
        call[count++] = now - called;
        sn_reader_release(&reader, &tick);
        if (tick.step >= last) break;
    }
    sn_reader_close(&reader);
    sn_ring_unmap(&ring);
    printf("{");
    list("wake", wake, count, ",");
    list("call", call, count, "}\n");
    free(wake);
    return 0;
}
