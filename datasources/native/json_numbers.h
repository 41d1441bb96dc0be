/* Numbers of JSON as integers, doubles, floats and decimals, each by whole numbers or one exact operation. */
#pragma once
#include "decimal_powers.h"
#include "json_scan.h"

enum { EXACT_DIGITS = 15, EXACT_POWER = 22, MOST_POWER = 27, MOST_PRECISION = 38 };
enum { DOUBLE_BITS = 53, FLOAT_BITS = 24, FLOAT_END = 128 };

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* An integer without leading zeros and not -0, of at most `most` (one more if it is negative); its digits in `value`. */
static inline const uint8_t *whole(const uint8_t *at, const uint8_t *end, int64_t most, int64_t *value) {
    int is_negative = at < end && *at == '-';
    const uint8_t *first = at + is_negative;
    if (first >= end || !is_digit(*first)) return NULL;
    if (*first == '0') {
        *value = 0;
        return is_negative ? NULL : first + 1;
    }
    uint64_t found = 0;
    const uint8_t *last = first;
    for (; last < end && is_digit(*last); last++) {
        if (last - first >= MOST_DIGITS) return NULL;
        found = found * 10 + (uint64_t)(*last - '0');
    }
    if (found > (uint64_t)most + (uint64_t)is_negative) return NULL;
    *value = (int64_t)(is_negative ? 0 - found : found);
    return last;
}

typedef struct { /* digits * 10^power */
    uint64_t digits;
    int64_t count, power;
    int is_negative, is_whole; /* is_whole: without point and exponent */
} json_number;

/* The parts of a number of at most MOST_DIGITS digits, zeros before the first other one not counted. */
static inline const uint8_t *number(const uint8_t *at, const uint8_t *end, json_number *found) {
    int64_t count = 0, places = 0, power = 0;
    uint64_t digits = 0;
    found->is_negative = at < end && *at == '-';
    at += found->is_negative;
    if (at >= end || !is_digit(*at) || (*at == '0' && at + 1 < end && is_digit(at[1]))) return NULL;
    for (; at < end && is_digit(*at); at++) {
        count += count || *at != '0';
        if (count > MOST_DIGITS) return NULL;
        digits = digits * 10 + (uint64_t)(*at - '0');
    }
    found->is_whole = at >= end || (*at != '.' && *at != 'e' && *at != 'E');
    if (at < end && *at == '.') {
        for (at++; at < end && is_digit(*at); at++, places++) {
            count += count || *at != '0';
            if (count > MOST_DIGITS || places > MOST_POWER) return NULL;
            digits = digits * 10 + (uint64_t)(*at - '0');
        }
        if (!places) return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        int falls = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        const uint8_t *first = at;
        for (; at < end && is_digit(*at); at++) {
            if (at - first >= 2) return NULL;
            power = power * 10 + (*at - '0');
        }
        if (at == first) return NULL;
        power = falls ? -power : power;
    }
    found->digits = digits;
    found->count = count;
    found->power = power - places;
    return at;
}

/* digits * 10^power, which are not 0, as the nearest double whose significand has `bits` bits; of two the even one.
 *
 * 10^power = 5^power * 2^power, and 5^27 has 63 bits: the product is exact in 128 bits, and the quotient has more than
 * 64 bits, of which those that are dropped decide together with whether the division has a rest. */
static double nearest(uint64_t digits, int64_t power, int bits) {
    uint64_t fives = 1;
    for (int64_t i = power < 0 ? -power : power; i > 0; i--) fives *= 5;
    int64_t zeros = __builtin_clzll(digits), exponent = power;
    uint128_t exact = (uint128_t)digits * fives;
    int is_more = 0;
    if (power < 0) {
        uint128_t dividend = (uint128_t)(digits << zeros) << 64;
        exact = dividend / fives;
        is_more = exact * fives != dividend;
        exponent = power - zeros - 64;
    }
    uint64_t high = (uint64_t)(exact >> 64);
    int64_t dropped = (high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)exact)) - bits;
    if (dropped > 0) {
        uint128_t half = (uint128_t)1 << (dropped - 1), rest = exact & ((half << 1) - 1);
        exact >>= dropped;
        exact += rest > half || (rest == half && (is_more || (exact & 1)));
        exponent += dropped;
    }
    uint64_t scale = (uint64_t)(exponent + 1023) << 52;
    double power_of_two;
    memcpy(&power_of_two, &scale, sizeof scale);
    return (double)(uint64_t)exact * power_of_two;
}

/* A double (53 bits) or a float (24 bits). */
static inline const uint8_t *real(const uint8_t *at, const uint8_t *end, int bits, double *value) {
    json_number found;
    if (!(at = number(at, end, &found))) return NULL;
    int64_t power = found.power;
    if (!found.digits) *value = 0;
    else if (bits == DOUBLE_BITS && found.count <= EXACT_DIGITS && power <= EXACT_POWER && power >= -EXACT_POWER)
        *value = power < 0 ? (double)found.digits / POWERS[-power] : (double)found.digits * POWERS[power];
    else if (power <= MOST_POWER && power >= -MOST_POWER) *value = nearest(found.digits, power, bits);
    else return NULL;
    if (bits == FLOAT_BITS && *value >= 0x1p128) return NULL;
    if (found.is_negative && (found.digits || !found.is_whole)) *value = -*value; /* the integer -0 has no sign */
    return at;
}

typedef struct { /* twice MOST_DIGITS digits at most; count: without the zeros before them */
    uint64_t high, low;
    int64_t in_low, count;
} json_digits;

static inline int64_t add_digit(json_digits *digits, uint8_t byte) {
    digits->count += digits->count || byte != '0';
    if (digits->in_low == MOST_DIGITS) {
        digits->high = digits->low;
        digits->low = 0;
        digits->in_low = 0;
    }
    digits->low = digits->low * 10 + (uint64_t)(byte - '0');
    digits->in_low += digits->count > 0;
    return digits->count;
}

/* A number without exponent in units of its `scale`th place; half a unit is rounded away from zero. */
static const uint8_t *long_decimal(const uint8_t *at, const uint8_t *end, int64_t precision, int64_t scale,
                                   __int128 *value) {
    const uint8_t *behind = any_number(at, end);
    if (!behind) return NULL;
    json_digits digits = {0, 0, 0, 0};
    int64_t missing = scale, rises = 0;
    int is_negative = *at == '-';
    for (at += is_negative; at < behind && is_digit(*at); at++)
        if (add_digit(&digits, *at) > precision) return NULL;
    if (at < behind && *at == '.') {
        for (at++; missing && at < behind && is_digit(*at); at++, missing--)
            if (add_digit(&digits, *at) > precision) return NULL;
        rises = at < behind && *at >= '5';
        while (at < behind && is_digit(*at)) at++;
    }
    if (at < behind || (digits.count && digits.count + missing > precision)) return NULL;
    uint128_t found = digits.high * power_of_ten(digits.in_low) + digits.low;
    found = found * power_of_ten(missing) + (uint128_t)rises;
    if (found >= power_of_ten(precision)) return NULL;
    *value = is_negative ? -(__int128)found : (__int128)found;
    return behind;
}

/* The same, with the usual digits on the shortest way. */
static inline const uint8_t *decimal(const uint8_t *at, const uint8_t *end, int64_t precision, int64_t scale,
                                     __int128 *value) {
    const uint8_t *begin = at, *point = NULL;
    int is_negative = at < end && *at == '-';
    uint64_t digits = 0;
    at += is_negative;
    const uint8_t *first = at;
    for (; at < end && at - first < MOST_DIGITS; at++) {
        if (is_digit(*at)) digits = digits * 10 + (uint64_t)(*at - '0');
        else if (*at == '.' && !point) point = at;
        else break;
    }
    int64_t places = point ? at - point - 1 : 0, whole_digits = (point ? point : at) - first;
    int is_usual = at - first < MOST_DIGITS && places <= scale && whole_digits + scale < MOST_DIGITS &&
                   whole_digits + scale <= precision && whole_digits && (!point || places) &&
                   (*first != '0' || whole_digits == 1) && (at >= end || (*at != 'e' && *at != 'E' && *at != '.'));
    if (!is_usual) return long_decimal(begin, end, precision, scale, value);
    int64_t found = (int64_t)(digits * (uint64_t)power_of_ten(scale - places));
    *value = is_negative ? -found : found;
    return at;
}
