/* Loops over bytes that numpy cannot do in one pass. Each has a twin in Python, which is read when this library was
 * not built, and the same tests hold for both. Nothing here knows Python: ctypes calls it without the interpreter's
 * lock, so buffers must outlive the call and nobody may change them meanwhile.
 *
 * Places are offsets into `data`; whoever calls has made sure that [at, end) lies inside it.
 */
#include <stdint.h>
#include <string.h>

enum { HEADER_BYTES = 4, WORD_BYTES = 8 };
static const uint32_t LENGTH_MASK = 0xFFFFFF;

static uint64_t little(const uint8_t *from, int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; i++) value |= (uint64_t)from[i] << (8 * i);
    return value;
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

/* Note where the values of binary result rows are, column by column.
 *
 * A row: a byte 0, a bit per column for NULL (from the third bit on), then the values of the others: of `widths[c]`
 * bytes, or where that is 0 a length and so many. `at`, `lengths` and `nulls` hold columns x rows. Returns how many rows
 * were as they must be: each ends where its packet does. */
int64_t tidemark_cells(const uint8_t *data, const int64_t *begins, const int64_t *ends, int64_t rows, int64_t columns,
                       const int64_t *widths, int64_t *at, int64_t *lengths, uint8_t *nulls) {
    for (int64_t row = 0; row < rows; row++) {
        const uint8_t *bitmap = data + begins[row] + 1;
        int64_t place = begins[row] + 1 + (columns + 2 + 7) / 8, end = ends[row];
        for (int64_t column = 0; column < columns; column++) {
            int64_t cell = column * rows + row, length = widths[column];
            uint8_t is_null = bitmap[(column + 2) / 8] >> ((column + 2) % 8) & 1;
            if (place > end) return row;
            nulls[cell] = is_null;
            if (is_null) {
                length = 0;
            } else if (length == 0) {
                uint8_t first = data[place++];
                int width = first == 0xFC ? 2 : first == 0xFD ? 3 : first == 0xFE ? 8 : 0;
                if (first == 0xFB || first == 0xFF || place + width > end) return row;
                length = width ? (int64_t)little(data + place, width) : first;
                place += width;
                if (length < 0 || length > end - place) return row;
            }
            at[cell] = place;
            lengths[cell] = length;
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
