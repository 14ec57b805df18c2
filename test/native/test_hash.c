/* The hash against its definition word by word, whichever way the processor takes, and at every length. */
#include <stdio.h>
#include <stdlib.h>

#include "hash.h"

static uint64_t by_definition(const uint8_t *bytes, uint64_t size, uint64_t field)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i * 8 < size; i++) {
        uint64_t word = 0;
        for (uint64_t k = 0; k < 8 && i * 8 + k < size; k++) word |= (uint64_t)bytes[i * 8 + k] << (8 * k);
        uint64_t z = word + ((field << 40) + i + 1) * SN_PHI;
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
        sum += z ^ (z >> 31);
    }
    return sum;
}

int main(void)
{
    uint8_t bytes[1100];
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
    for (uint64_t size = 0; size <= 1024; size++)
        for (uint64_t field = 0; field < 3; field++) {
            const uint8_t *at = bytes + size % 60; /* any alignment */
            const uint64_t wanted = by_definition(at, size, field);
            const uint64_t portable = sn_hash_blocks(at, size / 128, (field << 40) + 1);
            if (sn_hash_field(at, size, field) != wanted || (size % 128 == 0 && portable != wanted)) {
                fprintf(stderr, "size %llu field %llu\n", (unsigned long long)size, (unsigned long long)field);
                return 1;
            }
        }
    return 0;
}
