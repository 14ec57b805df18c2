/* A controller in C for the quarter-car suspension: a skyhook damper that answers each tick.
 *
 *     cc -std=c11 -O2 -D_GNU_SOURCE -I"$(sim-node inspect include-dir)" controller.c -o controller
 *     ./controller /suspension
 *
 * It needs no ROS and no library. It is C++17 as well (c++ -x c++ -std=c++17).
 */
#include <inttypes.h>
#include <signal.h>

#include "sim_node/ring.h"

#define SKYHOOK -3000.0f /* N s/m */
#define MOST 64          /* corners */

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "controller: %s: %s\n", what, why);
    return 2;
}

/* Answer each tick until the plant closes the ring or ends. */
static void control(sn_reader *reader, uint64_t velocity_at, uint32_t force, uint32_t corners)
{
    sn_tick tick;
    uint64_t ticks = 0, missed = 0;
    while (!stopped) {
        int woken = sn_reader_wait(reader, INT64_C(100000000), 0);
        if (woken == SN_CLOSED || (woken == SN_NOTHING && sn_ring_ended(reader->ring))) break;
        if (woken != SN_NEW || sn_reader_take(reader, &tick, 0) != SN_NEW) continue;
        /* The state is read where the plant's kernels wrote it, and the command is written where the plant reads it. */
        const float *velocity = (const float *)(const void *)((const char *)tick.payload + velocity_at);
        float *command = (float *)sn_mailbox_buffer(reader, force);
        for (uint32_t i = 0; i < corners; i++) command[i] = SKYHOOK * velocity[i];
        sn_mailbox_send(reader, force, tick.step, sn_now_ns());
        ticks++;
        missed += tick.skipped;
        sn_reader_release(reader, &tick);
    }
    printf("%" PRIu64 " ticks answered, %" PRIu64 " missed\n", ticks, missed);
}

int main(int count, char **words)
{
    sn_ring ring;
    sn_reader reader;
    uint64_t velocity_at;
    uint32_t force, corners = 0;
    const char *wrong;
    if (count != 2) return fail("usage", "controller NODE");
    if ((wrong = sn_ring_open(&ring, words[1])) != NULL) return fail(words[1], wrong);
    do {
        wrong = sn_ring_input(&ring, "force", "f32", ++corners * sizeof(float), &force);
    } while (wrong != NULL && corners < MOST);
    if (wrong != NULL) return fail("input 'force'", wrong);
    wrong = sn_ring_field(&ring, "body_velocity", "f32", corners * sizeof(float), &velocity_at);
    if (wrong != NULL) return fail("field 'body_velocity'", wrong);
    int code = sn_reader_open(&reader, &ring);
    if (code != SN_OK) return fail(words[1], sn_code_text(code));
    sn_writer other;
    if ((code = sn_mailbox_claim(&reader, force, "skyhook", 0, 0, &other)) != SN_OK) {
        fprintf(stderr, "controller: '%s' (pid %" PRIu32 ") sends to it\n", other.name, other.pid);
        return fail("input 'force'", sn_code_text(code));
    }
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    puts("ready");
    fflush(stdout);
    control(&reader, velocity_at, force, corners);
    sn_reader_close(&reader);
    sn_ring_unmap(&ring);
    return 0;
}
