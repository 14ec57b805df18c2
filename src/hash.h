/* The hash of a field: position-mixed words added modulo 2^64, so that any partition in any order gives the same sum.
 *
 * Word i of field f is the i-th little-endian 64-bit word of its bytes, zero-padded, and counts as
 * mix(word + (f * 2^40 + i + 1) * phi), where mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast
 * Splittable Pseudorandom Number Generators"). The hash of a state is the sum of those of its fields.
 */
#ifndef SIM_NODE_HASH_H
#define SIM_NODE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "sim_node hashes memory as little-endian words; this host is big-endian"
#endif

#define SN_PHI UINT64_C(0x9E3779B97F4A7C15)

/* Words that are mixed side by side: two vectors of AVX-512, and a trip count that a vectoriser need not guess. */
enum { SN_HASH_LANES = 16 };

static inline uint64_t sn_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

#if defined(__GNUC__)
__attribute__((always_inline))
#endif
static inline uint64_t sn_hash_blocks(const uint8_t *bytes, uint64_t blocks, uint64_t position)
{
    uint64_t sums[SN_HASH_LANES] = {0}, offsets[SN_HASH_LANES], total = 0;
    for (int lane = 0; lane < SN_HASH_LANES; lane++) offsets[lane] = (position + (uint64_t)lane) * SN_PHI;
    for (uint64_t block = 0; block < blocks; block++) {
        uint64_t words[SN_HASH_LANES];
        memcpy(words, bytes + block * sizeof words, sizeof words);
        for (int lane = 0; lane < SN_HASH_LANES; lane++) {
            sums[lane] += sn_mix(words[lane] + offsets[lane]);
            offsets[lane] += SN_HASH_LANES * SN_PHI;
        }
    }
    for (int lane = 0; lane < SN_HASH_LANES; lane++) total += sums[lane];
    return total;
}

/* Only AVX-512 multiplies 64-bit lanes in one instruction; the choice is made by the processor that runs, not by the
 * one that compiled. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f,avx512dq,prefer-vector-width=512")))
static inline uint64_t sn_hash_blocks_avx512(const uint8_t *bytes, uint64_t blocks, uint64_t position)
{
    return sn_hash_blocks(bytes, blocks, position);
}

static inline uint64_t sn_hash_body(const uint8_t *bytes, uint64_t blocks, uint64_t position)
{
    if (__builtin_cpu_supports("avx512dq")) return sn_hash_blocks_avx512(bytes, blocks, position);
    return sn_hash_blocks(bytes, blocks, position);
}
#else
static inline uint64_t sn_hash_body(const uint8_t *bytes, uint64_t blocks, uint64_t position)
{
    return sn_hash_blocks(bytes, blocks, position);
}
#endif

/* The hash of `size` bytes as field number `field` of a state. */
static inline uint64_t sn_hash_field(const void *memory, uint64_t size, uint64_t field)
{
    const uint8_t *bytes = memory;
    const uint64_t start = (field << 40) + 1, words = size / 8, blocks = words / SN_HASH_LANES;
    uint64_t total = blocks ? sn_hash_body(bytes, blocks, start) : 0;
    for (uint64_t i = blocks * SN_HASH_LANES; i * 8 < size; i++) {
        uint64_t word = 0;
        memcpy(&word, bytes + i * 8, size - i * 8 < 8 ? size - i * 8 : 8);
        total += sn_mix(word + (start + i) * SN_PHI);
    }
    return total;
}

#endif
