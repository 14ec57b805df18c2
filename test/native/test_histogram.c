/* Buckets: every value lies in its bucket, buckets join without gap, and none is wider than 1/64 of its floor. */
#include <stdio.h>
#include <stdlib.h>

#include "histogram.h"

static void check(int good, uint64_t value)
{
    if (good) return;
    fprintf(stderr, "wrong at %llu\n", (unsigned long long)value);
    exit(1);
}

int main(void)
{
    static sn_histogram histogram;
    for (uint32_t bucket = 0; bucket + 1 < SN_HISTOGRAM_BUCKETS; bucket++) {
        const uint64_t floor = sn_histogram_floor(bucket), next = sn_histogram_floor(bucket + 1);
        check(sn_histogram_bucket(floor) == bucket && sn_histogram_bucket(next - 1) == bucket && next > floor, floor);
        check(next - floor == 1 || (next - floor) * 64 <= floor, floor);
    }
    check(sn_histogram_bucket(UINT64_MAX) == SN_HISTOGRAM_BUCKETS - 1, UINT64_MAX);
    check(sn_histogram_floor(SN_HISTOGRAM_BUCKETS - 1) < UINT64_C(1) << SN_HISTOGRAM_TOP, 0);
    const uint64_t values[] = {0, 7, 7, 1000000, UINT64_C(1) << 50};
    uint64_t sum = 0;
    for (int i = 0; i < 5; i++) {
        sn_histogram_add(&histogram, values[i]);
        sum += values[i];
        check(histogram.sum == sum && histogram.max == values[i], values[i]);
    }
    check(histogram.counts[7] == 2 && histogram.counts[sn_histogram_bucket(1000000)] == 1, 7);
    sn_histogram_add(&histogram, 3);
    check(histogram.counts[3] == 1 && histogram.max == UINT64_C(1) << 50, 3);
    return 0;
}
