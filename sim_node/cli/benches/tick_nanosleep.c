/* The plainest clock there is: clock_nanosleep to absolute instants, and nothing done there. Prints how late it woke.
 *
 *     tick_nanosleep PERIOD_NS TICKS
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "sim_node/ring/clock.h"

int main(int count, char **words)
{
    if (count != 3) return 2;
    const int64_t period_ns = atoll(words[1]);
    const long ticks = atol(words[2]);
    int64_t *late_ns = malloc(sizeof *late_ns * (size_t)ticks);
    if (late_ns == NULL) return 2;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* as the native clock has it */
    int64_t due_ns = sn_now_ns();
    for (long i = 0; i < ticks; i++) {
        due_ns += period_ns;
        const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {
        }
        late_ns[i] = sn_now_ns() - due_ns;
    }
    for (long i = 0; i < ticks; i++) printf("%lld\n", (long long)late_ns[i]);
    free(late_ns);
    return 0;
}
