/* Half precision on processors and compilers that have none: the nearest f16 of a double, ties to even. */
#ifndef SIM_NODE_HALF_H
#define SIM_NODE_HALF_H

#include <math.h>
#include <stdint.h>

static inline uint16_t sn_half(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    if (isnan(value)) return sign | 0x7E00;
    if (size >= 65520.0) return sign | 0x7C00;
    if (size < 0x1p-14) return sign | (uint16_t)rint(size * 0x1p24); /* subnormal, or rounded up to the least normal */
    int exponent;
    const double fraction = frexp(size, &exponent); /* 0.5 ≤ fraction < 1 */
    /* The integer 1024 … 2048; a carry into 2048 is the next exponent's least, as it should be. */
    return sign | (uint16_t)(((uint32_t)(exponent + 13) << 10) + (uint32_t)rint(fraction * 0x1p11));
}

#endif
