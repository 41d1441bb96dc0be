/* Protobuf's binary encoding to columns in one pass.
 *
 * A node is a field that a column receives, or that decides about one (datasources/formats/protobuf/linking/steps.py);
 * those of a message are side by side, by their numbers. All other fields are skipped by their wire types, unread.
 *
 * A record is done if it is valid, and if each field has its value when its last byte was read: a message that comes in
 * several pieces, a oneof of which several members came, a map with a key twice and a number that an enum does not have
 * are left to Python, as is every record that is wrong (slow_path.py, which reports why). Nothing of such a record
 * stays in the columns (columns.h).
 */
#include "column_values.h"
#include "columns.h"
#include "decimal_powers.h"
#include "utf8.h"

enum protobuf_form {
    BOOL, INT32, INT64, UINT32, UINT64, SINT32, SINT64, ENUM, FIXED32, SFIXED32, FLOAT, FIXED64, SFIXED64, DOUBLE,
    STRING, BYTES, MESSAGE, GROUP, MAP, TIMESTAMP, SKIPPED
};
enum protobuf_target { NOTHING, BITS, NUMBER32, NUMBER64, REAL32, REAL64, DECIMAL, TEXT };
enum protobuf_absent { IS_NULL, IS_DEFAULT, IS_BAD };
enum { VARINT, WORD64, SIZED, BEGIN_GROUP, END_GROUP, WORD32 };
enum { MAX_LEVELS = 100, MAX_SCANNED_KEYS = 256, MICROS = 1000000, NANOS = 1000000000 };

/* All are words; protobuf_rows.py documents them. */
typedef struct {
    int64_t form, target, column;
    int64_t list; /* the ARRAY or MAP that the column is a part of; only if is_repeated */
    int64_t is_repeated;
    int64_t first, count; /* MESSAGE, GROUP, MAP: children; ENUM: symbols */
    int64_t tag, packed_tag;
    int64_t absent, value; /* what the column receives if the field is absent */
    int64_t at, size;      /* the same of a text */
    int64_t oneof;         /* the node that stands for its oneof; -1 = it is in none */
    int64_t is_closed;     /* ENUM: other numbers do not count */
    int64_t scale;         /* DECIMAL: zeros that are appended */
    int64_t seen;          /* the last message that had it */
    int64_t chosen_in, chosen; /* of the node of a oneof: in which message a member came last, and which one */
} protobuf_node;

typedef struct {
    protobuf_node *nodes;
    column *columns;
    const int64_t *symbols; /* of enums, by number: the number, where its text is, and its bytes */
    const uint8_t *texts;   /* SPARE bytes follow the last one */
    const uint8_t *behind;  /* behind all records */
    int64_t row;            /* counted from 1 */
    int64_t messages;       /* how many were begun */
} protobuf_table;

static const uint8_t *value(protobuf_table *table, protobuf_node *node, const uint8_t *at, const uint8_t *end,
                            int64_t slot, int levels);

/* A number of at most ten bytes; bits beyond 64 are dropped, as Google's readers do. */
static const uint8_t *long_varint(const uint8_t *at, const uint8_t *end, uint64_t *found) {
    uint64_t bits = 0;
    for (int shift = 0; at < end && shift < 70; shift += 7) {
        uint64_t byte = *at++;
        bits |= (byte & 0x7F) << shift;
        if (byte < 0x80) {
            *found = bits;
            return at;
        }
    }
    return NULL;
}

static inline const uint8_t *varint(const uint8_t *at, const uint8_t *end, uint64_t *found) {
    if (at < end && *at < 0x80) {
        *found = *at;
        return at + 1;
    }
    return long_varint(at, end, found);
}

/* A number of at most five bytes and `most`. */
static inline const uint8_t *short_varint(const uint8_t *at, const uint8_t *end, uint64_t most, uint64_t *found) {
    const uint8_t *behind = varint(at, end, found);
    return behind && behind - at <= 5 && *found <= most ? behind : NULL;
}

static inline const uint8_t *read_tag(const uint8_t *at, const uint8_t *end, int64_t *tag) {
    uint64_t found;
    if (!(at = short_varint(at, end, UINT32_MAX, &found)) || found < 8) return NULL;
    *tag = (int64_t)found;
    return at;
}

/* The bytes that follow their length. */
static inline const uint8_t *sized(const uint8_t *at, const uint8_t *end, int64_t *bytes) {
    uint64_t found;
    if (!(at = short_varint(at, end, INT32_MAX, &found)) || (int64_t)found > end - at) return NULL;
    *bytes = (int64_t)found;
    return at;
}

/* A field that nobody needs, behind its tag. */
static const uint8_t *skipped(const uint8_t *at, const uint8_t *end, int64_t tag, int levels) {
    uint64_t ignored;
    int64_t bytes, inner;
    switch (tag & 7) {
    case VARINT: return varint(at, end, &ignored);
    case WORD64: return end - at >= 8 ? at + 8 : NULL;
    case WORD32: return end - at >= 4 ? at + 4 : NULL;
    case SIZED: return (at = sized(at, end, &bytes)) ? at + bytes : NULL;
    case BEGIN_GROUP:
        if (!levels) return NULL;
        while ((at = read_tag(at, end, &inner)) && (inner & 7) != END_GROUP)
            if (!(at = skipped(at, end, inner, levels - 1))) return NULL;
        return at && inner >> 3 == tag >> 3 ? at : NULL;
    default: return NULL;
    }
}

/* The bits of a number. */
static inline const uint8_t *word(int64_t form, const uint8_t *at, const uint8_t *end, int64_t *found) {
    uint64_t bits = 0;
    uint32_t low;
    switch (form) {
    case FIXED32:
    case SFIXED32:
    case FLOAT:
        if (end - at < 4) return NULL;
        memcpy(&low, at, 4);
        *found = form == SFIXED32 ? (int32_t)low : (int64_t)low;
        return at + 4;
    case FIXED64:
    case SFIXED64:
    case DOUBLE:
        if (end - at < 8) return NULL;
        memcpy(found, at, 8);
        return at + 8;
    default:
        if (!(at = varint(at, end, &bits))) return NULL;
    }
    low = (uint32_t)bits;
    switch (form) {
    case BOOL: *found = bits != 0; break;
    case INT32:
    case ENUM: *found = (int32_t)low; break;
    case UINT32: *found = low; break;
    case SINT32: *found = (int32_t)((low >> 1) ^ (0 - (low & 1))); break;
    case SINT64: *found = (int64_t)((bits >> 1) ^ (0 - (bits & 1))); break;
    default: *found = (int64_t)bits;
    }
    return at;
}

static inline void keep_real(const protobuf_node *node, column *to, int64_t slot, int64_t bits) {
    double found;
    float single;
    memcpy(&single, &bits, 4);
    if (node->form == FLOAT) found = single;
    else memcpy(&found, &bits, 8);
    if (node->target == REAL32) keep_number(to, slot, &bits, 4);
    else keep_number(to, slot, &found, 8);
}

static inline void keep_word(const protobuf_node *node, column *to, int64_t slot, int64_t bits) {
    __int128 wide;
    switch (node->target) {
    case BITS: keep_number(to, slot, &bits, 1); break;
    case NUMBER32: keep_number(to, slot, &bits, 4); break;
    case NUMBER64: keep_number(to, slot, &bits, 8); break;
    case REAL32:
    case REAL64: keep_real(node, to, slot, bits); break;
    case DECIMAL:
        wide = node->form == UINT64 || node->form == FIXED64 ? (__int128)(uint64_t)bits : (__int128)bits;
        wide *= (__int128)power_of_ten(node->scale);
        keep_number(to, slot, &wide, sizeof wide);
        break;
    }
}

/* Where a number of an enum is among its symbols; NULL = the record is left. */
static const int64_t *symbol(const protobuf_table *table, const protobuf_node *node, int64_t number) {
    const int64_t *first = table->symbols + 3 * node->first;
    int64_t low = 0, high = node->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (first[3 * middle] < number) low = middle + 1;
        else high = middle;
    }
    return low < node->count && first[3 * low] == number ? first + 3 * low : NULL;
}

/* Whether an enum's value was received. */
static inline int keep_symbol(const protobuf_table *table, const protobuf_node *node, column *to, int64_t slot,
                              int64_t number) {
    const int64_t *found = node->is_closed || node->target == TEXT ? symbol(table, node, number) : NULL;
    if (!found && (node->is_closed || node->target == TEXT)) return 0;
    if (node->target != TEXT) {
        keep_word(node, to, slot, number);
        return 1;
    }
    const uint8_t *text = table->texts + found[1];
    return keep_text(to, slot, text, found[2], text + found[2] + SPARE);
}

/* Whether the column of an absent field has what it should. */
static int keep_absent(const protobuf_table *table, const protobuf_node *node, int64_t slot) {
    column *to = table->columns + node->column;
    if (node->absent != IS_DEFAULT) return node->absent == IS_NULL;
    if (node->form == ENUM) {
        if (!keep_symbol(table, node, to, slot, node->value)) return 0;
    } else if (node->target == TEXT) {
        const uint8_t *text = table->texts + node->at;
        if (!keep_text(to, slot, text, node->size, text + node->size + SPARE)) return 0;
    } else {
        keep_word(node, to, slot, node->value);
    }
    set_valid(to, slot);
    return 1;
}

/* What a message's columns have once all its fields were read. */
static inline int complete(const protobuf_table *table, protobuf_node *first, int64_t count, int64_t slot,
                           int64_t message) {
    for (const protobuf_node *node = first; node < first + count; node++) {
        if (node->is_repeated) {
            column *list = table->columns + node->list;
            if (list->offsets) {
                offset_of(list, slot);
                end_part(list, slot, list->length);
            }
            set_valid(list, slot);
        } else if (node->seen != message && !keep_absent(table, node, slot)) {
            return 0;
        }
    }
    return 1;
}

/* The node of a tag, most likely `next`; NULL = nobody needs the field. */
static inline protobuf_node *node_of(protobuf_node *first, int64_t count, protobuf_node *next, int64_t tag) {
    for (int64_t step = 0; step < count; step++) {
        if (next->tag == tag || next->packed_tag == tag) return next;
        next = next + 1 < first + count ? next + 1 : first;
    }
    return NULL;
}

/* Whether the last key of a map is another one than those before it. */
static int is_new_key(const protobuf_table *table, const protobuf_node *key, const column *list, int64_t slot,
                      int64_t part) {
    static const int64_t WIDTHS[] = {[BITS] = 1, [NUMBER32] = 4, [NUMBER64] = 8, [DECIMAL] = 16, [TEXT] = 0};
    const column *of = table->columns + key->column;
    if (!of->values) return 1;
    int64_t begin = slot <= list->filled ? list->offsets[slot] : list->offsets[list->filled];
    int64_t width = WIDTHS[key->target];
    if (part - begin >= MAX_SCANNED_KEYS) return 0;
    for (int64_t each = begin; each < part; each++) {
        if (width) {
            if (!memcmp(of->values + each * width, of->values + part * width, (size_t)width)) return 0;
            continue;
        }
        int64_t bytes = of->offsets[part + 1] - of->offsets[part];
        if (of->offsets[each + 1] - of->offsets[each] == bytes &&
            !memcmp(of->values + of->offsets[each], of->values + of->offsets[part], (size_t)bytes))
            return 0;
    }
    return 1;
}

static const uint8_t *fields(protobuf_table *table, const protobuf_node *parent, const uint8_t *at, const uint8_t *end,
                             int64_t slot, int levels, int64_t group);

/* One element of an ARRAY, or entry of a MAP. */
static inline const uint8_t *element(protobuf_table *table, protobuf_node *node, const uint8_t *at, const uint8_t *end,
                                     int64_t slot, int levels) {
    column *list = table->columns + node->list;
    int64_t part = next_slot(list, table->row), bytes;
    if (part < 0) return NULL;
    if (node->form != MAP) return value(table, node, at, end, part, levels);
    if (!levels || !(at = sized(at, end, &bytes))) return NULL;
    if (fields(table, node, at, at + bytes, part, levels - 1, 0) != at + bytes) return NULL;
    return is_new_key(table, table->nodes + node->first, list, slot, part) ? at + bytes : NULL;
}

/* A field of a message, behind its tag. */
static inline const uint8_t *field(protobuf_table *table, protobuf_node *node, int64_t tag, const uint8_t *at,
                                   const uint8_t *end, int64_t slot, int levels, int64_t message) {
    int64_t bytes, is_again = node->seen == message;
    node->seen = message;
    if (node->is_repeated && tag == node->packed_tag) {
        if (!(at = sized(at, end, &bytes))) return NULL;
        end = at + bytes;
        while (at < end)
            if (!(at = element(table, node, at, end, slot, levels))) return NULL;
        return at;
    }
    if (node->is_repeated) return element(table, node, at, end, slot, levels);
    if (is_again && (node->form == MESSAGE || node->form == GROUP || node->form == TIMESTAMP)) return NULL;
    if (node->oneof >= 0) {
        protobuf_node *oneof = table->nodes + node->oneof;
        if (oneof->chosen_in == message && oneof->chosen != node - table->nodes) return NULL;
        oneof->chosen_in = message;
        oneof->chosen = node - table->nodes;
    }
    return value(table, node, at, end, slot, levels);
}

/* The fields of a message up to `end`, or to the end of a group of this number. */
static const uint8_t *fields(protobuf_table *table, const protobuf_node *parent, const uint8_t *at, const uint8_t *end,
                             int64_t slot, int levels, int64_t group) {
    protobuf_node *first = table->nodes + parent->first, *next = first;
    int64_t message = ++table->messages, tag = 0;
    while (at < end) {
        if (!(at = read_tag(at, end, &tag))) return NULL;
        if ((tag & 7) == END_GROUP) {
            if (!group || tag >> 3 != group) return NULL;
            return complete(table, first, parent->count, slot, message) ? at : NULL;
        }
        protobuf_node *node = node_of(first, parent->count, next, tag);
        if (node) {
            next = node->is_repeated || node + 1 == first + parent->count ? node : node + 1;
            at = field(table, node, tag, at, end, slot, levels, message);
        } else {
            at = skipped(at, end, tag, levels);
        }
        if (!at) return NULL;
    }
    return !group && complete(table, first, parent->count, slot, message) ? at : NULL;
}

/* google.protobuf.Timestamp: seconds and nanoseconds, of which the last three digits are cut off. */
static const uint8_t *timestamp(column *to, const uint8_t *at, const uint8_t *end, int64_t slot, int levels) {
    int64_t tag, found, seconds = 0, nanos = 0;
    while (at < end) {
        if (!(at = read_tag(at, end, &tag))) return NULL;
        if (tag == (1 << 3 | VARINT)) at = word(INT64, at, end, &seconds);
        else if (tag == (2 << 3 | VARINT)) at = word(INT32, at, end, &nanos);
        else at = skipped(at, end, tag, levels);
        if (!at) return NULL;
    }
    if (nanos < 0 || nanos >= NANOS || __builtin_mul_overflow(seconds, MICROS, &found)) return NULL;
    if (__builtin_add_overflow(found, nanos / 1000, &found)) return NULL;
    keep_number(to, slot, &found, 8);
    return at;
}

static inline const uint8_t *text(const protobuf_table *table, const protobuf_node *node, column *to, const uint8_t *at,
                                  const uint8_t *end, int64_t slot) {
    int64_t bytes;
    if (!(at = sized(at, end, &bytes)) || (node->form == STRING && !is_utf8(at, bytes))) return NULL;
    return keep_text(to, slot, at, bytes, table->behind) ? at + bytes : NULL;
}

/* A value behind its tag; `levels`: how many messages may still be opened. */
static const uint8_t *value(protobuf_table *table, protobuf_node *node, const uint8_t *at, const uint8_t *end,
                            int64_t slot, int levels) {
    column *to = table->columns + node->column;
    int64_t found;
    switch (node->form) {
    case STRING:
    case BYTES: at = text(table, node, to, at, end, slot); break;
    case SKIPPED: return skipped(at, end, node->tag, levels);
    case MESSAGE:
    case TIMESTAMP:
        if (!levels || !(at = sized(at, end, &found))) return NULL;
        end = at + found;
        if (node->form == TIMESTAMP) at = timestamp(to, at, end, slot, levels - 1);
        else at = fields(table, node, at, end, slot, levels - 1, 0);
        break;
    case GROUP: at = levels ? fields(table, node, at, end, slot, levels - 1, node->tag >> 3) : NULL; break;
    case ENUM: at = (at = word(ENUM, at, end, &found)) && keep_symbol(table, node, to, slot, found) ? at : NULL; break;
    default:
        if ((at = word(node->form, at, end, &found))) keep_word(node, to, slot, found);
    }
    if (at) set_valid(to, slot);
    return at;
}

/* Decode records from one on.
 *
 * starts: where each begins in `data`, and behind the last one. is_given: whether there is one. nodes: the record's
 * first; they are changed. columns: all of is_valid and the first of offsets must be zero; SPARE bytes follow the room
 * of texts. symbols, texts: of the nodes. is_done: whether a record is decoded; those that are not have no value
 * anywhere.
 *
 * Returns `rows`, or the record for which a column that is full has no room: to be called again from there, with larger
 * buffers of the same contents. */
int64_t tidemark_protobuf(const uint8_t *data, const int32_t *starts, const uint8_t *is_given, int64_t from,
                          int64_t rows, protobuf_node *nodes, column *columns, int64_t count, const int64_t *symbols,
                          const uint8_t *texts, uint8_t *is_done) {
    protobuf_table table = {nodes, columns, symbols, texts, data + starts[rows], 0, nodes->seen};
    int64_t row = from, is_full = 0;
    for (; row < rows && !is_full; row++) {
        const uint8_t *at = data + starts[row], *end = data + starts[row + 1];
        table.row = row + 1;
        begin_record(columns, table.row);
        is_done[row] = is_given[row] && fields(&table, nodes, at, end, row, MAX_LEVELS, 0) == end;
        if (!is_done[row] && is_given[row]) is_full = take_back(columns, count, table.row);
    }
    nodes->seen = table.messages;
    return row - is_full;
}
