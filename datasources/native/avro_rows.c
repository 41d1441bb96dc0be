/* Avro's binary encoding to columns in one pass.
 *
 * A node says how a value is written and which column receives it (datasources/formats/avro/resolution/steps.py). The
 * nodes of a record's fields are side by side, and so are those of a union's branches; a type that contains itself is a
 * node that is below itself, and no column receives it. Column 0 has no buffers: its nodes only read.
 *
 * A record is done if it is exactly as long as its values are, and if all of them are valid and fit. Any other record
 * is left to Python, which reports why (slow_path.py); nothing of it stays in the columns (columns.h).
 */
#include "column_values.h"
#include "columns.h"
#include "decimal_powers.h"
#include "utf8.h"

enum avro_form {
    NOTHING, REFUSED, BOOLEAN, INTEGER, FLOAT, DOUBLE, BYTES, UUID, ENUM, DECIMAL, RECORD, ARRAY, MAP, UNION, DEFAULT
};
enum avro_number { INT32, INT64, FLOAT32, FLOAT64, ROUNDED };
enum { MOST_LEVELS = 200, MOST_EMPTY_VALUES = 1000, PREFIXED = -1, UUID_TEXT = 36 }; /* as in steps.py */

/* All are words; steps.py documents them. */
typedef struct {
    int64_t form, column;
    int64_t first, count; /* children; ENUM: symbols */
    int64_t size, number, factor, scale;
    int64_t at; /* DEFAULT: where its `size` bytes are in the texts */
} avro_node;

typedef struct {
    const avro_node *nodes;
    column *columns;
    const int64_t *symbols; /* where each is in the texts, and its bytes; -1 = the record is left */
    const uint8_t *texts;   /* SPARE bytes follow the last one */
    const uint8_t *behind;  /* behind all records, or all texts */
    int64_t row;            /* counted from 1 */
    int64_t empty_values;   /* items and records that took no bytes */
} avro_table;

static const uint8_t *value(avro_table *table, const avro_node *node, const uint8_t *at, const uint8_t *end,
                            int64_t slot, int levels);

static const uint8_t *long_number(const uint8_t *at, const uint8_t *end, int64_t *found) {
    uint64_t bits = 0;
    for (int shift = 0; at < end && shift < 64; shift += 7) {
        uint64_t byte = *at++;
        if (shift == 63 && byte > 1) return NULL;
        bits |= (byte & 0x7F) << shift;
        if (byte < 0x80) {
            *found = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
            return at;
        }
    }
    return NULL;
}

static inline const uint8_t *number(const uint8_t *at, const uint8_t *end, int64_t *found) {
    if (at < end && *at < 0x80) {
        *found = (*at >> 1) ^ -(*at & 1);
        return at + 1;
    }
    return long_number(at, end, found);
}

/* The bytes that follow their length, or `size` bytes. */
static inline const uint8_t *sized(const uint8_t *at, const uint8_t *end, int64_t size, int64_t *bytes) {
    *bytes = size;
    if (size == PREFIXED && !(at = number(at, end, bytes))) return NULL;
    return *bytes < 0 || *bytes > end - at ? NULL : at;
}

static inline const uint8_t *integer(const avro_node *node, column *to, const uint8_t *at, const uint8_t *end,
                                     int64_t slot) {
    int64_t found;
    if (!(at = number(at, end, &found)) || (node->size == 4 && found != (int32_t)found)) return NULL;
    if (node->factor != 1 && __builtin_mul_overflow(found, node->factor, &found)) return NULL;
    switch (node->number) {
    case INT32: keep_number(to, slot, &(int32_t){(int32_t)found}, 4); break;
    case INT64: keep_number(to, slot, &found, 8); break;
    case FLOAT32: keep_number(to, slot, &(float){(float)found}, 4); break;
    case FLOAT64: keep_number(to, slot, &(double){(double)found}, 8); break;
    case ROUNDED: keep_number(to, slot, &(double){(double)(float)found}, 8); break;
    default: return NULL;
    }
    return at;
}

static inline const uint8_t *single(const avro_node *node, column *to, const uint8_t *at, const uint8_t *end,
                                    int64_t slot) {
    float found;
    if (end - at < 4) return NULL;
    if (node->number == FLOAT32) keep_number(to, slot, at, 4);
    else {
        memcpy(&found, at, 4);
        keep_number(to, slot, &(double){(double)found}, 8);
    }
    return at + 4;
}

static const uint8_t *uuid(column *to, const uint8_t *at, const uint8_t *end, int64_t slot) {
    uint8_t text[UUID_TEXT], *next = text;
    if (end - at < 16) return NULL;
    for (int byte = 0; byte < 16; byte++) {
        if (byte == 4 || byte == 6 || byte == 8 || byte == 10) *next++ = '-';
        *next++ = (uint8_t)"0123456789abcdef"[at[byte] >> 4];
        *next++ = (uint8_t)"0123456789abcdef"[at[byte] & 15];
    }
    return keep_text(to, slot, text, UUID_TEXT, next) ? at + 16 : NULL;
}

/* A number in the most significant byte first, of any length that has no more digits than declared. */
static const uint8_t *decimal(const avro_node *node, column *to, const uint8_t *at, const uint8_t *end, int64_t slot) {
    int64_t bytes;
    if (!(at = sized(at, end, node->size, &bytes)) || !bytes) return NULL;
    int is_negative = *at >> 7;
    uint8_t filler = is_negative ? 0xFF : 0;
    for (; bytes > 16; bytes--)
        if (*at++ != filler) return NULL;
    if (*at >> 7 != is_negative) return NULL;
    uint128_t found = is_negative ? ~(uint128_t)0 : 0;
    for (; bytes; bytes--) found = found << 8 | *at++;
    if ((is_negative ? -found : found) >= power_of_ten(node->factor)) return NULL;
    found *= power_of_ten(node->scale);
    keep_number(to, slot, &found, sizeof found);
    return at;
}

static inline const uint8_t *symbol(const avro_table *table, const avro_node *node, column *to, const uint8_t *at,
                                    const uint8_t *end, int64_t slot) {
    int64_t index;
    if (!(at = number(at, end, &index)) || index < 0 || index >= node->count) return NULL;
    const int64_t *found = table->symbols + 2 * (node->first + index);
    if (found[1] < 0) return NULL;
    const uint8_t *text = table->texts + found[0];
    return keep_text(to, slot, text, found[1], text + found[1] + SPARE) ? at : NULL;
}

/* Count a value without bytes. */
static inline const uint8_t *empty(avro_table *table, const uint8_t *at) {
    return ++table->empty_values > MOST_EMPTY_VALUES ? NULL : at;
}

/* One item of an array or map. */
static inline const uint8_t *item(avro_table *table, const avro_node *node, column *to, const uint8_t *at,
                                  const uint8_t *end, int levels) {
    const avro_node *first = table->nodes + node->first;
    const uint8_t *begin = at;
    int64_t part = next_slot(to, table->row);
    if (part < 0) return NULL;
    if (node->form == MAP && !(at = value(table, first++, at, end, part, levels))) return NULL;
    if (!(at = value(table, first, at, end, part, levels))) return NULL;
    return at == begin ? empty(table, at) : at;
}

/* Blocks of items, each behind their number; a negative one is followed by the bytes that they take. */
static const uint8_t *items(avro_table *table, const avro_node *node, column *to, const uint8_t *at,
                            const uint8_t *end, int64_t slot, int levels) {
    if (to->offsets) offset_of(to, slot);
    for (;;) {
        int64_t count, bytes = -1;
        if (!(at = number(at, end, &count))) return NULL;
        if (!count) break;
        if (count < 0) {
            if (count == INT64_MIN || !(at = sized(at, end, PREFIXED, &bytes))) return NULL;
            count = -count;
        }
        const uint8_t *begin = at;
        for (; count; count--)
            if (!(at = item(table, node, to, at, end, levels))) return NULL;
        if (bytes >= 0 && at - begin != bytes) return NULL;
    }
    if (to->offsets) end_part(to, slot, to->length);
    return at;
}

static const uint8_t *fields(avro_table *table, const avro_node *node, const uint8_t *at, const uint8_t *end,
                             int64_t slot, int levels) {
    const avro_node *child = table->nodes + node->first, *last = child + node->count;
    const uint8_t *begin = at;
    while (child < last && at) at = value(table, child++, at, end, slot, levels);
    return at == begin ? empty(table, at) : at;
}

static const uint8_t *constant(avro_table *table, const avro_node *node, const uint8_t *at, int64_t slot, int levels) {
    const uint8_t *content = table->texts + node->at, *behind = table->behind;
    int64_t empty_values = table->empty_values;
    table->behind = content + node->size + SPARE;
    table->empty_values = INT64_MIN;
    const uint8_t *last = value(table, table->nodes + node->first, content, content + node->size, slot, levels);
    table->behind = behind;
    table->empty_values = empty_values;
    return last == content + node->size ? at : NULL;
}

/* A value of a node; `levels`: how many records, arrays and maps may still be opened. */
static const uint8_t *value(avro_table *table, const avro_node *node, const uint8_t *at, const uint8_t *end,
                            int64_t slot, int levels) {
    column *to = table->columns + node->column;
    int64_t bytes;
    switch (node->form) {
    case NOTHING: return at;
    case BOOLEAN:
        if (at >= end || *at > 1) return NULL;
        keep_number(to, slot, at++, 1);
        break;
    case INTEGER: at = integer(node, to, at, end, slot); break;
    case FLOAT: at = single(node, to, at, end, slot); break;
    case DOUBLE: at = end - at >= 8 && keep_number(to, slot, at, 8) ? at + 8 : NULL; break;
    case BYTES:
        if (!(at = sized(at, end, node->size, &bytes)) || (node->factor && !is_utf8(at, bytes))) return NULL;
        at = keep_text(to, slot, at, bytes, table->behind) ? at + bytes : NULL;
        break;
    case UUID: at = uuid(to, at, end, slot); break;
    case ENUM: at = symbol(table, node, to, at, end, slot); break;
    case DECIMAL: at = decimal(node, to, at, end, slot); break;
    case RECORD: at = levels ? fields(table, node, at, end, slot, levels - 1) : NULL; break;
    case ARRAY:
    case MAP: at = levels ? items(table, node, to, at, end, slot, levels - 1) : NULL; break;
    case UNION:
        if (!(at = number(at, end, &bytes)) || bytes < 0 || bytes >= node->count) return NULL;
        return value(table, table->nodes + node->first + bytes, at, end, slot, levels);
    case DEFAULT: return constant(table, node, at, slot, levels);
    default: return NULL;
    }
    if (at) set_valid(to, slot);
    return at;
}

/* Decode records from one on.
 *
 * starts: where each begins in `data`, and behind the last one. is_given: whether there is one. skip: bytes at the head
 * of each that are not its values; a shorter record is left. nodes: the record's first. columns: all of is_valid and the first of offsets must be zero; SPARE bytes follow the room of texts. symbols,
 * texts: of the nodes. is_done: whether a record is decoded; those that are not have no value anywhere.
 *
 * Returns `rows`, or the record for which a column that is_full has no room: to be called again from there, with larger
 * buffers of the same contents. */
int64_t tidemark_avro(const uint8_t *data, const int32_t *starts, const uint8_t *is_given, int64_t from, int64_t rows,
                      int64_t skip, const avro_node *nodes, column *columns, int64_t count, const int64_t *symbols,
                      const uint8_t *texts, uint8_t *is_done) {
    avro_table table = {nodes, columns, symbols, texts, data + starts[rows], 0, 0};
    int64_t row = from, is_full = 0;
    for (; row < rows && !is_full; row++) {
        const uint8_t *at = data + starts[row], *end = data + starts[row + 1];
        table.row = row + 1;
        table.empty_values = 0;
        begin_record(columns, table.row);
        is_done[row] =
            is_given[row] && end - at >= skip && value(&table, nodes, at + skip, end, row, MOST_LEVELS) == end;
        if (!is_done[row] && is_given[row]) is_full = take_back(columns, count, table.row);
    }
    return row - is_full;
}
