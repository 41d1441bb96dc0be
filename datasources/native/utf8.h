/* Whether bytes are UTF-8, as Python has it: no surrogates, no overlong forms, nothing behind U+10FFFF. */
#pragma once
#include <stdint.h>
#include <string.h>

static int is_wide_utf8(const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        uint8_t first = *at++;
        if (first < 0x80) continue;
        int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
        if (first < 0xC2 || first > 0xF4 || end - at < more) return 0;
        uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF; /* surrogates; the last character */
        if (*at < low || *at > high) return 0;
        for (at++; --more; at++)
            if ((*at & 0xC0) != 0x80) return 0;
    }
    return 1;
}

static inline int is_utf8(const uint8_t *at, int64_t bytes) {
    const uint8_t *end = at + bytes;
    uint64_t word;
    for (; end - at >= 8; at += 8) {
        memcpy(&word, at, 8);
        if (word & 0x8080808080808080ull) return is_wide_utf8(at, end);
    }
    return is_wide_utf8(at, end);
}
