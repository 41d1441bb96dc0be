/* Dates and times as JSON has them: ISO 8601 with a year of four digits. */
#pragma once
#include "json_scan.h"

static inline int two(const uint8_t *at, int least, int most, int64_t *value) {
    if (!is_digit(at[0]) || !is_digit(at[1])) return 0;
    *value = (at[0] - '0') * 10 + (at[1] - '0');
    return *value >= least && *value <= most;
}

/* Days since the epoch of YYYY-MM-DD. */
static inline int date(const uint8_t *at, int64_t *days) {
    static const int64_t LENGTHS[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t century, year, month, day;
    if (!two(at, 10, 99, &century) || !two(at + 2, 0, 99, &year) || at[4] != '-' || at[7] != '-') return 0;
    if (!two(at + 5, 1, 12, &month) || !two(at + 8, 1, 31, &day) || day > LENGTHS[month - 1]) return 0;
    int is_leap = year ? year % 4 == 0 : century % 4 == 0;
    if (month == 2 && day == 29 && !is_leap) return 0;
    year += century * 100;
    int64_t shifted = month > 2 ? year : year - 1; /* years that begin in March end with the leap day */
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    *days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719468;
    return 1;
}

typedef struct { /* the date that was read last: documents of one time follow one another */
    uint64_t month; /* YYYY-MM- */
    uint8_t day[2];
    int64_t days;
} json_day;

static inline int day_of(json_day *last, const uint8_t *at, int64_t *days) {
    uint64_t month = word_at(at);
    if (month != last->month || at[8] != last->day[0] || at[9] != last->day[1]) {
        if (!date(at, &last->days)) return 0;
        last->month = month;
        memcpy(last->day, at + 8, sizeof last->day);
    }
    *days = last->days;
    return 1;
}

/* Seconds of HH:MM:SS. */
static inline int clock_of(const uint8_t *at, int64_t *seconds) {
    uint8_t part[WORD];
    const uint64_t word = word_at(at) ^ word_at((const uint8_t *)"00:00:00"); /* digits are 0 to 9 now, colons 0 */
    if (((word + word_at((const uint8_t *)"\x76\x76\x7f\x76\x76\x7f\x76\x76")) | word) & 0x8080808080808080ull) return 0;
    memcpy(part, &word, WORD);
    int64_t hours = part[0] * 10 + part[1], minutes = part[3] * 10 + part[4], rest = part[6] * 10 + part[7];
    *seconds = (hours * 60 + minutes) * 60 + rest;
    return hours < 24 && minutes < 60 && rest < 60;
}

/* Microseconds of the time in [at, end): of the instant, or on the clock if it names no zone. */
static inline int moment(json_day *last, const uint8_t *at, const uint8_t *end, int64_t *micros, int *has_zone) {
    static const int64_t UNITS[] = {0, 100000, 10000, 1000, 100, 10, 1};
    int64_t days, seconds, fraction = 0, offset_hours, offset_minutes;
    if (end - at < 19 || !day_of(last, at, &days) || (at[10] != 'T' && at[10] != ' ')) return 0;
    if (!clock_of(at + 11, &seconds)) return 0;
    at += 19;
    if (at < end && *at == '.') {
        const uint8_t *first = ++at;
        for (; at < end && is_digit(*at) && at - first <= 6; at++) fraction = fraction * 10 + (*at - '0');
        if (at == first || at - first > 6) return 0;
        fraction *= UNITS[at - first];
    }
    *micros = (days * 86400 + seconds) * 1000000 + fraction;
    *has_zone = at < end;
    if (at == end) return 1;
    if (*at == 'Z') return at + 1 == end;
    if (end - at != 6 || (*at != '+' && *at != '-') || at[3] != ':') return 0;
    if (!two(at + 1, 0, 17, &offset_hours) || !two(at + 4, 0, 59, &offset_minutes)) return 0;
    int64_t offset = (offset_hours * 60 + offset_minutes) * 60000000;
    *micros -= *at == '-' ? -offset : offset;
    return 1;
}
