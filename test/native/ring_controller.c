/* A controller in C: opens the ring of the name given, answers each tick until the ring is closed, prints what it took. */
#include "check.h"

int main(int count, char **words)
{
    sn_ring r;
    sn_reader d;
    sn_tick t;
    int waited;
    CHECK(count == 2);
    const char *wrong = sn_ring_open(&r, words[1]);
    if (wrong != NULL) {
        puts(wrong);
        return 2;
    }
    CHECK(sn_reader_open(&d, &r) == SN_OK);
    puts("ready");
    fflush(stdout);
    while ((waited = sn_reader_wait(&d, INT64_C(60000000000), 0)) == SN_NEW) {
        if (sn_reader_take(&d, &t, 0) != SN_NEW) continue;
        double command = 2 * *(const double *)t.payload;
        printf("%llu %g\n", (unsigned long long)t.step, command);
        fflush(stdout);
        CHECK(sn_mailbox_put(&d, 0, &command, t.step, sn_now_ns()) == 0);
        sn_reader_release(&d, &t);
    }
    CHECK(waited == SN_CLOSED);
    sn_reader_close(&d);
    sn_ring_unmap(&r);
    return 0;
}
