/* The nearest f16: every f16 from itself, and from the doubles half way to its neighbour and just beside that. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "half.h"

static double value_of(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return half & 0x8000 ? -size : size;
}

int main(void)
{
    for (uint32_t sign = 0; sign < 2; sign++)
        for (uint32_t bits = 0; bits < 0x7C00; bits++) {
            const uint16_t half = (uint16_t)(bits | sign << 15), next = (uint16_t)(half + 1);
            const double value = value_of(half), middle = (value + (bits == 0x7BFF ? copysign(65536, value) : value_of(next))) / 2;
            CHECK(sn_half(value) == half);
            CHECK(sn_half(middle) == (bits & 1 ? next : half));
            CHECK(sn_half(nextafter(middle, 0)) == half);
            CHECK(sn_half(nextafter(middle, copysign(INFINITY, middle))) == next);
        }
    CHECK(sn_half(INFINITY) == 0x7C00 && sn_half(-1e300) == 0xFC00 && sn_half(NAN) == 0x7E00 && sn_half(-NAN) == 0xFE00);
    CHECK(sn_half(5e-324) == 0 && sn_half(-5e-324) == 0x8000);
    return 0;
}
