/* Loops over bytes that numpy cannot do in one pass. Each has a twin in Python, which is read when this library was
 * not built, and the same tests hold for both. Nothing here knows Python: ctypes calls it without the interpreter's
 * lock, so buffers must outlive the call and nobody may change them meanwhile.
 *
 * Places are offsets into `data`; whoever calls has made sure that [at, end) lies inside it.
 */
#include <stdint.h>
#include <string.h>

enum { HEADER_BYTES = 4, WORD_BYTES = 8, MOST_DIGITS = 18 };
static const uint32_t LENGTH_MASK = 0xFFFFFF;

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are copied as little-endian machines have them; without this library everything works as well"
#endif

static uint64_t little(const uint8_t *from, int width) {
    uint64_t value = 0;
    memcpy(&value, from, (size_t)width);
    return value;
}

/* The same, where eight bytes may be read: shifts instead of a copy of unknown length. */
static inline uint64_t little_of_word(const uint8_t *from, int64_t width) {
    uint64_t value;
    memcpy(&value, from, WORD_BYTES);
    return width < WORD_BYTES ? value & ((1ull << (8 * width)) - 1) : value;
}

/* Walk packets of MySQL's protocol: 3 bytes of length, a sequence number, the content.
 *
 * Writes where each whole packet begins, and behind the last of them where the next one does: count + 1 places. Stops
 * before a packet that is not whole, and before one of 16 MB - 1 bytes, which the next one continues. */
int64_t tidemark_packets(const uint8_t *data, int64_t at, int64_t end, int64_t *begins, int64_t room) {
    int64_t count = 0;
    begins[0] = at;
    while (count + 1 < room && at + HEADER_BYTES <= end) {
        uint32_t length = (uint32_t)little(data + at, 3);
        if (length == LENGTH_MASK || at + HEADER_BYTES + (int64_t)length > end) break;
        at += HEADER_BYTES + (int64_t)length;
        begins[++count] = at;
    }
    return count;
}

/* Read the length before a value; returns it, or -1 if it is none. */
static int64_t length_at(const uint8_t *data, int64_t *place, int64_t end) {
    if (*place >= end) return -1;
    uint8_t first = data[(*place)++];
    int width = first == 0xFC ? 2 : first == 0xFD ? 3 : first == 0xFE ? 8 : 0;
    if (first == 0xFB || first == 0xFF || *place + width > end) return -1;
    int64_t length = width ? (int64_t)little(data + *place, width) : first;
    *place += width;
    return length < 0 || length > end - *place ? -1 : length;
}

/* Days since the epoch of a date of at least four bytes; 0 = it is no date of the calendar. */
static int is_date(const uint8_t *at, const int64_t *first_days, int64_t *days) {
    int64_t year = at[0] | at[1] << 8, month = at[2], day = at[3];
    if (year > 9999 || month < 1 || month > 12) return 0;
    const int64_t *first = first_days + year * 12 + month - 1;
    *days = first[0] + day - 1;
    return day >= 1 && day <= first[1] - first[0];
}

/* The text of a number with `scale` digits behind its point, without the point; 0 = it is no such text. */
static int is_number(const uint8_t *at, int64_t length, int64_t scale, int64_t *number) {
    int64_t digits = length - (scale > 0), sign = length && *at == '-', value = 0, most = 1;
    for (int i = 0; i < MOST_DIGITS; i++) most *= 10;
    if (digits - sign < 1 + scale || digits - sign > MOST_DIGITS + 1) return 0; /* one more: the 0 before a point */
    for (int64_t i = sign; i < length; i++) {
        if (scale && i == length - scale - 1) {
            if (at[i] != '.') return 0;
            continue;
        }
        uint8_t digit = (uint8_t)(at[i] - '0');
        if (digit > 9) return 0;
        if (value >= most / 10) return 0;
        value = value * 10 + digit;
    }
    *number = sign ? -value : value;
    return 1;
}

/* What becomes of a column's values. `values` and `more` have room for all rows; TEXT has it for all bytes and a word.
 *
 * PLACE: where each is and how long; NUMBER: of `width` bytes, in `detail` bytes, with its sign if `is_signed`; DAYS,
 * MICROS since the epoch; SCALED: texts with `detail` digits behind the point, as decimal128; TEXT: bytes, offsets. */
enum { PLACE, NUMBER, DAYS, MICROS, SCALED, TEXT };
typedef struct { int64_t form, width, detail, is_signed; } column_form;

static inline int one_value(const uint8_t *data, int64_t at, int64_t length, const column_form *column, int64_t row,
                     const int64_t *first_days, void *values, void *more) {
    const uint8_t *from = data + at;
    int64_t number = 0;
    switch (column->form) {
    case PLACE:
        ((int64_t *)values)[row] = at;
        ((int64_t *)more)[row] = length;
        return 1;
    case NUMBER:
        number = (int64_t)little_of_word(from, length);
        if (column->is_signed && length && length < WORD_BYTES)
            number = (int64_t)((uint64_t)number << (64 - 8 * length)) >> (64 - 8 * length);
        if (column->detail == 4) ((int32_t *)values)[row] = (int32_t)number;
        else if (column->detail == 8) ((int64_t *)values)[row] = number;
        else if (column->detail == 2) ((int16_t *)values)[row] = (int16_t)number;
        else ((int8_t *)values)[row] = (int8_t)number;
        return 1;
    case DAYS:
        if (length && (length < 4 || !is_date(from, first_days, &number))) return 0;
        ((int32_t *)values)[row] = (int32_t)number;
        return 1;
    case MICROS:
        if (length && (length < 4 || !is_date(from, first_days, &number))) return 0;
        number *= 86400;
        if (length >= 7) number += from[4] * 3600 + from[5] * 60 + from[6];
        ((int64_t *)values)[row] = number * 1000000 + (length >= 11 ? (int64_t)little_of_word(from + 7, 4) : 0);
        return 1;
    case SCALED:
        if (length && !is_number(from, length, column->detail, &number)) return 0;
        ((int64_t *)values)[2 * row] = number;
        ((int64_t *)values)[2 * row + 1] = number >> 63;
        return 1;
    default:
        for (int64_t i = 0; i < length; i += WORD_BYTES) /* the spare bytes are written over by the next text */
            memcpy((uint8_t *)values + ((int32_t *)more)[row] + i, from + i, WORD_BYTES);
        ((int32_t *)more)[row + 1] = ((int32_t *)more)[row] + (int32_t)length;
        return 1;
    }
}

/* Read binary result rows, column by column as `forms` says.
 *
 * A row: a byte 0, a bit per column for NULL (from the third bit on), then the values of the others: of `width` bytes,
 * or where that is 0 a length and so many. `nulls` holds columns x rows. Returns how many rows were as they must be:
 * each ends where its packet does, and no value is one that only Python judges (dates of no calendar, odd numbers).
 * A word of `data` may be read behind the last row. */
int64_t tidemark_values(const uint8_t *data, const int64_t *begins, const int64_t *ends, int64_t rows, int64_t columns,
                        const column_form *forms, const int64_t *first_days, void **values, void **more,
                        uint8_t *nulls) {
    for (int64_t row = 0; row < rows; row++) {
        const uint8_t *bitmap = data + begins[row] + 1;
        int64_t place = begins[row] + 1 + (columns + 2 + 7) / 8, end = ends[row];
        for (int64_t column = 0; column < columns; column++) {
            uint8_t is_null = bitmap[(column + 2) / 8] >> ((column + 2) % 8) & 1;
            if (place > end) return row;
            int64_t length = is_null ? 0 : forms[column].width ? forms[column].width : length_at(data, &place, end);
            if (length < 0 || length > end - place) return row;
            if (!is_null && !length && forms[column].form != PLACE && forms[column].form != TEXT) return row;
            nulls[column * rows + row] = is_null;
            if (!one_value(data, place, length, &forms[column], row, first_days, values[column], more[column])) return row;
            place += length;
        }
        if (place != end) return row;
    }
    return rows;
}

static uint32_t crc_tables[WORD_BYTES][256];

/* Fill the tables of CRC32 (IEEE 802.3): called once, before any check. */
void tidemark_prepare(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        crc_tables[0][i] = crc;
    }
    for (int t = 1; t < WORD_BYTES; t++)
        for (int i = 0; i < 256; i++)
            crc_tables[t][i] = crc_tables[t - 1][i] >> 8 ^ crc_tables[0][crc_tables[t - 1][i] & 0xFF];
}

static uint32_t crc32_of(const uint8_t *from, int64_t length) {
    uint32_t crc = 0xFFFFFFFFu;
    for (; length >= WORD_BYTES; length -= WORD_BYTES, from += WORD_BYTES) {
        uint64_t word = little(from, WORD_BYTES) ^ crc;
        crc = 0;
        for (int i = 0; i < WORD_BYTES; i++) crc ^= crc_tables[WORD_BYTES - 1 - i][word >> (8 * i) & 0xFF];
    }
    for (; length > 0; length--, from++) crc = crc >> 8 ^ crc_tables[0][(crc ^ *from) & 0xFF];
    return ~crc;
}

/* Return the index of the first stretch whose CRC32 is not the four bytes behind it; `count` = all are right. */
int64_t tidemark_crc32(const uint8_t *data, const int64_t *begins, const int64_t *ends, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (crc32_of(data + begins[i], ends[i] - begins[i]) != (uint32_t)little(data + ends[i], 4)) return i;
    return count;
}

/* The polynomial of each text: (byte + 1) times the factor to the power of its position, from 1 on, modulo 2^64.
 *
 * Text number i lies between `offsets[i]` and `offsets[i + 1]`. Returns how many there are. */
int64_t tidemark_byte_hashes(const uint8_t *data, const int32_t *offsets, int64_t count, int64_t factor,
                             uint64_t *hashes) {
    for (int64_t i = 0; i < count; i++) {
        uint64_t hash = 0, power = (uint64_t)factor;
        for (int32_t at = offsets[i]; at < offsets[i + 1]; at++, power *= (uint64_t)factor)
            hash += ((uint64_t)data[at] + 1) * power;
        hashes[i] = hash;
    }
    return count;
}

static const uint64_t PRIME_1 = 0x9E3779B185EBCA87ull, PRIME_2 = 0xC2B2AE3D27D4EB4Full, PRIME_3 = 0x165667B19E3779F9ull,
                      PRIME_4 = 0x85EBCA77C2B2AE63ull, PRIME_5 = 0x27D4EB2F165667C5ull;

static inline uint64_t turned(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

static inline uint64_t xx_round(uint64_t lane, uint64_t word) { return turned(lane + word * PRIME_2, 31) * PRIME_1; }

/* XXH64 of bytes, as its specification has it. */
static uint64_t xxhash64_of(const uint8_t *at, int64_t length, uint64_t seed) {
    const uint8_t *end = at + length;
    uint64_t hash = seed + PRIME_5;
    if (length >= 4 * WORD_BYTES) {
        uint64_t lanes[4] = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1};
        for (; end - at >= 4 * WORD_BYTES; at += 4 * WORD_BYTES)
            for (int i = 0; i < 4; i++) lanes[i] = xx_round(lanes[i], little(at + i * WORD_BYTES, WORD_BYTES));
        hash = turned(lanes[0], 1) + turned(lanes[1], 7) + turned(lanes[2], 12) + turned(lanes[3], 18);
        for (int i = 0; i < 4; i++) hash = (hash ^ xx_round(0, lanes[i])) * PRIME_1 + PRIME_4;
    }
    hash += (uint64_t)length;
    for (; end - at >= WORD_BYTES; at += WORD_BYTES)
        hash = turned(hash ^ xx_round(0, little(at, WORD_BYTES)), 27) * PRIME_1 + PRIME_4;
    if (end - at >= 4) {
        hash = turned(hash ^ little(at, 4) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        at += 4;
    }
    for (; at < end; at++) hash = turned(hash ^ *at * PRIME_5, 11) * PRIME_1;
    hash = (hash ^ hash >> 33) * PRIME_2;
    hash = (hash ^ hash >> 29) * PRIME_3;
    return hash ^ hash >> 32;
}

/* XXH64 of each text, with a seed each. Text number i lies between `offsets[i]` and `offsets[i + 1]`. */
int64_t tidemark_xxhash64(const uint8_t *data, const int32_t *offsets, const uint64_t *seeds, int64_t count,
                          uint64_t *hashes) {
    for (int64_t i = 0; i < count; i++)
        hashes[i] = xxhash64_of(data + offsets[i], offsets[i + 1] - offsets[i], seeds[i]);
    return count;
}
