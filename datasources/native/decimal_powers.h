/* Powers of ten of up to 38 digits. */
#pragma once
#include <stdint.h>

typedef unsigned __int128 uint128_t;

enum { MOST_DIGITS = 19 }; /* of a 64-bit number */

/* 10^power, of at most 10^38. */
static inline uint128_t power_of_ten(int64_t power) {
    static const uint64_t TENS[] = {
        1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull, 10000000ull, 100000000ull,
        1000000000ull, 10000000000ull, 100000000000ull, 1000000000000ull, 10000000000000ull,
        100000000000000ull, 1000000000000000ull, 10000000000000000ull, 100000000000000000ull,
        1000000000000000000ull, 10000000000000000000ull};
    return power <= MOST_DIGITS ? TENS[power] : (uint128_t)TENS[MOST_DIGITS] * TENS[power - MOST_DIGITS];
}
