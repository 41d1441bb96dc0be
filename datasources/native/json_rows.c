/* JSON objects to columns in one pass: for the documents that most producers write, flat, with plain values.
 *
 * A document is done if it is an object whose members are strings without escapes, numbers, true, false and null, and
 * if each column's value has a text that every reader of JSON takes for the same value. Any other document is left: to
 * DuckDB, or to Python, where the rules are told (value_patterns.py, json_values.py). So this file accepts less than they
 * do and never says why; nothing of a document that is left stays in the columns.
 *
 * Texts are valid UTF-8. Rows of column c lie at values[c] (NULL: the column is judged and not kept); a STRING's bytes
 * lie there one after the other, and its offsets at offsets[c].
 */
#include <stdint.h>
#include <string.h>

enum json_form { BOOLEAN, INTEGER, DOUBLE, STRING, DATE, LOCAL, INSTANT };
enum { MOST_DIGITS = 18, EXACT_DIGITS = 15, EXACT_POWER = 22, WORD = 8 };
enum { MOST_NAME = 1000, MOST_TEXT = 1 << 20 }; /* bytes; readers of JSON refuse very long ones */
enum { SPARE = 16 }; /* bytes behind the texts of a column, so that short ones are copied without asking how short */

typedef struct {
    int64_t name_at, name_bytes; /* in `names`; -1 = JSON has it with an escape, or it is longer than MOST_NAME */
    int64_t form;
    int64_t is_nullable;
    int64_t detail; /* INTEGER: bytes of a value; INSTANT: whether a text without a zone means UTC */
} json_column;

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline uint64_t word_at(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, WORD);
    return word;
}

static inline const uint8_t *space(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at <= ' ' && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

/* Whether two short texts are equal. */
static inline int is_same(const uint8_t *one, const uint8_t *other, int64_t bytes) {
    for (; bytes >= WORD; one += WORD, other += WORD, bytes -= WORD)
        if (word_at(one) != word_at(other)) return 0;
    while (bytes > 0 && *one == *other) one++, other++, bytes--;
    return bytes == 0;
}

static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') <= 9; }

/* The highest bit of the first of eight bytes that is a quote, a backslash or a control character; bits behind it may be
 * set as well. 0 = there is none. */
static inline uint64_t specials(uint64_t word) {
    const uint64_t low = 0x0101010101010101ull, high = 0x8080808080808080ull;
    uint64_t quote = word ^ (low * '"'), slash = word ^ (low * '\\');
    return (((quote - low) & ~quote) | ((slash - low) & ~slash) | ((word - low * 0x20) & ~word)) & high;
}

/* The quote that ends a string which begins at `at`; NULL if it holds an escape or a control character, or no end. */
static inline const uint8_t *string_end(const uint8_t *at, const uint8_t *end) {
    if (end - at > MOST_TEXT) end = at + MOST_TEXT;
    for (uint64_t found; end - at >= WORD; at += WORD) {
        if (!(found = specials(word_at(at)))) continue;
        at += __builtin_ctzll(found) / 8;
        return *at == '"' ? at : NULL;
    }
    while (at < end && *at >= 0x20 && *at != '"' && *at != '\\') at++;
    return at < end && *at == '"' ? at : NULL;
}

static inline const uint8_t *word_end(const uint8_t *at, const uint8_t *end, const char *word, int64_t bytes) {
    return end - at >= bytes && memcmp(at, word, (size_t)bytes) == 0 ? at + bytes : NULL;
}

/* An integer without leading zeros and not -0, of at most `digits` digits; returns what is behind it. */
static inline const uint8_t *whole(const uint8_t *at, const uint8_t *end, int64_t digits, int64_t *value) {
    int is_negative = at < end && *at == '-';
    const uint8_t *first = at + is_negative;
    if (first >= end || !is_digit(*first)) return NULL;
    if (*first == '0') {
        *value = 0;
        return is_negative ? NULL : first + 1;
    }
    int64_t found = 0;
    const uint8_t *last = first;
    for (; last < end && is_digit(*last); last++) {
        if (last - first >= digits) return NULL;
        found = found * 10 + (*last - '0');
    }
    *value = is_negative ? -found : found;
    return last;
}

/* A number whose double follows from two exact ones by one operation; `value` may be NULL: then any number's text. */
static const uint8_t *number(const uint8_t *at, const uint8_t *end, double *value) {
    int is_negative = at < end && *at == '-';
    at += is_negative;
    if (at >= end || !is_digit(*at) || (*at == '0' && at + 1 < end && is_digit(at[1]))) return NULL;
    uint64_t digits = 0;
    int64_t count = 0, power = 0, places = 0;
    for (; at < end && is_digit(*at); at++) {
        digits = digits * 10 + (uint64_t)(*at - '0');
        count += count || *at != '0';
        if (count > MOST_DIGITS) return NULL;
    }
    if (at < end && *at == '.') {
        for (at++; at < end && is_digit(*at); at++, places++) {
            digits = digits * 10 + (uint64_t)(*at - '0');
            count += count || *at != '0';
            if (count > MOST_DIGITS || places >= EXACT_POWER) return NULL;
        }
        if (!places) return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        int falls = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        const uint8_t *first = at;
        for (; at < end && is_digit(*at); at++) power = power * 10 + (*at - '0');
        if (at == first || at - first > 2) return NULL;
        power = falls ? -power : power;
    }
    if (!value) return at;
    power -= places;
    if (count > EXACT_DIGITS || power > EXACT_POWER || power < -EXACT_POWER || (is_negative && !digits)) return NULL;
    double found = power < 0 ? (double)digits / POWERS[-power] : (double)digits * POWERS[power];
    *value = is_negative ? -found : found;
    return at;
}

static inline int two(const uint8_t *at, int least, int most, int64_t *value) {
    if (!is_digit(at[0]) || !is_digit(at[1])) return 0;
    *value = (at[0] - '0') * 10 + (at[1] - '0');
    return *value >= least && *value <= most;
}

/* Days since the epoch of YYYY-MM-DD; the 29th of February is left, for not every year has it. */
static int date(const uint8_t *at, int64_t *days) {
    static const int64_t LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t century, year, month, day;
    if (!two(at, 10, 99, &century) || !two(at + 2, 0, 99, &year) || at[4] != '-' || at[7] != '-') return 0;
    if (!two(at + 5, 1, 12, &month) || !two(at + 8, 1, 31, &day) || day > LENGTHS[month - 1]) return 0;
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

/* Microseconds of the text of a time in [at, end); `zone`: 0 = it has none, 1 = it must have one, 2 = it may. */
static int moment(json_day *last, const uint8_t *at, const uint8_t *end, int zone, int64_t *micros) {
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
    if (at == end) return zone != 1;
    if (zone == 0) return 0;
    if (*at == 'Z') return at + 1 == end;
    if (end - at != 6 || (*at != '+' && *at != '-') || at[3] != ':') return 0;
    if (!two(at + 1, 0, 17, &offset_hours) || !two(at + 4, 0, 59, &offset_minutes)) return 0;
    int64_t offset = (offset_hours * 60 + offset_minutes) * 60000000;
    *micros -= *at == '-' ? -offset : offset;
    return 1;
}

static inline void keep(uint8_t *values, int64_t row, const void *value, int64_t bytes) {
    if (!values) return;
    if (bytes == WORD) memcpy(values + row * WORD, value, WORD);
    else memcpy(values + row * bytes, value, (size_t)bytes);
}

typedef struct {
    const json_column *columns;
    const uint8_t *names, *behind; /* behind all documents */
    int64_t count, rows;
    uint8_t **values;
    int32_t **offsets;
    uint8_t *is_valid; /* one byte per column and row, column by column */
    int64_t *seen;     /* per column: one more than the last row whose document has it */
    json_day last_day;
} json_table;

static inline void keep_text(const json_table *table, uint8_t *values, int32_t *offsets, int64_t row, const uint8_t *at,
                             int64_t bytes) {
    if (!values) return;
    uint8_t *to = values + offsets[row];
    if (bytes <= SPARE && table->behind - at >= SPARE) memcpy(to, at, SPARE);
    else memcpy(to, at, (size_t)bytes);
    offsets[row + 1] = offsets[row] + (int32_t)bytes;
}

/* What stands in quotes in [at, end), for a column. */
static int text_value(json_table *table, const json_column *column, const uint8_t *at, const uint8_t *end, int64_t row,
                      uint8_t *values, int32_t *offsets) {
    int64_t found;
    if (column->form == STRING) {
        keep_text(table, values, offsets, row, at, end - at);
        return 1;
    }
    if (column->form == DATE) {
        if (end - at != 10 || !date(at, &found)) return 0;
        int32_t days = (int32_t)found;
        keep(values, row, &days, sizeof days);
        return 1;
    }
    if (column->form != LOCAL && column->form != INSTANT) return 0;
    if (!moment(&table->last_day, at, end, column->form == LOCAL ? 0 : column->detail ? 2 : 1, &found)) return 0;
    keep(values, row, &found, sizeof found);
    return 1;
}

/* What stands without quotes at `at`, for a column; returns what is behind it. */
static const uint8_t *plain_value(const json_table *table, const json_column *column, const uint8_t *at,
                                  const uint8_t *end, int64_t row, uint8_t *values, int32_t *offsets) {
    static const int64_t DIGITS[] = {0, 2, 4, 0, 9, 0, 0, 0, MOST_DIGITS};
    const uint8_t *behind;
    int64_t found;
    double real;
    if (column->form == DOUBLE) {
        if ((behind = number(at, end, &real))) keep(values, row, &real, sizeof real);
    } else if (column->form == INTEGER) {
        if ((behind = whole(at, end, DIGITS[column->detail], &found))) keep(values, row, &found, column->detail);
    } else if (column->form == INSTANT) { /* seconds */
        if ((behind = whole(at, end, 12, &found))) keep(values, row, &(int64_t){found * 1000000}, sizeof found);
    } else if (column->form == BOOLEAN || column->form == STRING) {
        uint8_t is_true = *at == 't';
        behind = is_true ? word_end(at, end, "true", 4) : word_end(at, end, "false", 5);
        if (!behind && column->form == STRING) behind = whole(at, end, MOST_DIGITS, &found);
        if (behind && column->form == BOOLEAN) keep(values, row, &is_true, 1);
        if (behind && column->form == STRING) keep_text(table, values, offsets, row, at, behind - at);
    } else {
        return NULL;
    }
    return behind;
}

/* A value that belongs to no column; returns what is behind it. */
static const uint8_t *any_value(const uint8_t *at, const uint8_t *end) {
    const uint8_t *behind;
    switch (*at) {
    case '"': return (behind = string_end(at + 1, end)) ? behind + 1 : NULL;
    case 't': return word_end(at, end, "true", 4);
    case 'f': return word_end(at, end, "false", 5);
    case 'n': return word_end(at, end, "null", 4);
    default: return number(at, end, NULL);
    }
}

/* The column of a name, looked for from `next` on; -1 = none. */
static inline int64_t column_of(const json_table *table, const uint8_t *name, int64_t bytes, int64_t next) {
    for (int64_t step = 0; step < table->count; step++) {
        int64_t at = next + step < table->count ? next + step : next + step - table->count;
        const json_column *column = table->columns + at;
        if (column->name_bytes == bytes && is_same(table->names + column->name_at, name, bytes)) return at;
    }
    return -1;
}

/* The quote that ends the name at `name`, and its column, most likely `next`; NULL if it is no plain name. */
static inline const uint8_t *name_end(const json_table *table, const uint8_t *name, const uint8_t *end, int64_t next,
                                      int64_t *column) {
    const json_column *likely = table->columns + next;
    int64_t bytes = likely->name_bytes;
    if (bytes >= 0 && end - name > bytes && name[bytes] == '"' && is_same(table->names + likely->name_at, name, bytes)) {
        *column = next;
        return name + bytes;
    }
    const uint8_t *last = string_end(name, end);
    if (!last || last - name > MOST_NAME) return NULL;
    *column = column_of(table, name, last - name, next);
    return last;
}

/* One member's value; returns what is behind it. */
static const uint8_t *member(json_table *table, int64_t at_column, const uint8_t *at, const uint8_t *end, int64_t row) {
    if (at_column < 0) return any_value(at, end);
    const json_column *column = table->columns + at_column;
    if (table->seen[at_column] == row + 1) return NULL;
    table->seen[at_column] = row + 1;
    if (*at == 'n') return column->is_nullable ? word_end(at, end, "null", 4) : NULL;
    uint8_t *values = table->values[at_column];
    int32_t *offsets = table->offsets[at_column];
    if (*at == '"') {
        const uint8_t *last = string_end(at + 1, end);
        if (!last || !text_value(table, column, at + 1, last, row, values, offsets)) return NULL;
        at = last + 1;
    } else if (!(at = plain_value(table, column, at, end, row, values, offsets))) {
        return NULL;
    }
    table->is_valid[at_column * table->rows + row] = 1;
    return at;
}

static int document(json_table *table, const uint8_t *at, const uint8_t *end, int64_t row) {
    at = space(at, end);
    if (at >= end || *at++ != '{') return 0;
    at = space(at, end);
    int64_t next = 0, column;
    int is_more = at < end && *at != '}';
    while (is_more) {
        if (at >= end || *at != '"') return 0;
        if (!(at = name_end(table, at + 1, end, next, &column))) return 0;
        at = space(at + 1, end);
        if (at >= end || *at != ':') return 0;
        at = space(at + 1, end);
        if (at >= end || !(at = member(table, column, at, end, row))) return 0;
        if (column >= 0) next = column + 1 < table->count ? column + 1 : 0;
        at = space(at, end);
        is_more = at < end && *at == ',';
        if (is_more) at = space(at + 1, end);
    }
    if (at >= end || *at != '}' || space(at + 1, end) != end) return 0;
    for (column = 0; column < table->count; column++)
        if (table->seen[column] != row + 1 && !table->columns[column].is_nullable) return 0;
    return 1;
}

/* Decode documents.
 *
 * starts: where each begins in `data`, and behind the last one. is_given: whether there is one. count: at least 1. values:
 * texts have as many bytes as the documents, and SPARE more. is_valid and seen must be zero.
 * is_done: whether a document is decoded; those that are not have no value anywhere. Returns how many are. */
int64_t tidemark_json(const uint8_t *data, const int32_t *starts, const uint8_t *is_given, int64_t rows,
                      const json_column *columns, const uint8_t *names, int64_t count, uint8_t **values,
                      int32_t **offsets, uint8_t *is_valid, int64_t *seen, uint8_t *is_done) {
    json_table table = {columns, names, data + starts[rows], count, rows, values, offsets, is_valid, seen, {0}};
    int64_t done = 0;
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t column = 0; column < count; column++)
            if (offsets[column]) offsets[column][row + 1] = offsets[column][row];
        is_done[row] = is_given[row] && document(&table, data + starts[row], data + starts[row + 1], row);
        done += is_done[row];
        for (int64_t column = 0; column < count && !is_done[row]; column++) {
            is_valid[column * rows + row] = 0;
            if (offsets[column]) offsets[column][row + 1] = offsets[column][row];
        }
    }
    return done;
}
