/* JSON objects to columns in one pass, nested ones included.
 *
 * A schema is a tree of nodes: the root stands for the documents, the children of a STRUCT for its members; an ARRAY has
 * one child, its elements, a MAP two, its names and its values. A document is done if it is an object and if each
 * node's value has a text that every reader of JSON takes for the same value. Any other document is left to Python,
 * which has all the rules (slow_path.py): this file accepts less and never says why, and nothing of a document that is
 * left stays in the columns.
 *
 * A node without buffers is judged and not kept, and so are all below it (columns.h).
 */
#include "columns.h"
#include "json_numbers.h"
#include "json_scan.h"
#include "json_times.h"

enum json_form { BOOLEAN, INTEGER, DOUBLE, STRING, DATE, LOCAL, INSTANT, FLOAT, DECIMAL, BINARY, STRUCT, ARRAY, MAP };
enum { NULL_VALUE, VALUE, LOCAL_VALUE }; /* is_valid; LOCAL_VALUE: an INSTANT's time on the clock of an unnamed zone */
enum { ZONE_NEEDED, ZONE_IS_UTC, ZONE_IS_KNOWN };

/* All are words, and zero where not said. */
typedef struct {
    int64_t name_at, name_bytes; /* in `names`; -1 = JSON has it with an escape, or it is longer than MOST_NAME */
    int64_t form, is_nullable;
    int64_t detail; /* INTEGER: bytes of a value; INSTANT: what a text without a zone means; DECIMAL: precision */
    int64_t scale;
    int64_t first, count; /* its children */
    int64_t required;     /* how many of them must not be null */
    column *column;       /* what receives its values */
    int64_t seen;         /* the number of the last object that has this member */
} json_node;

typedef struct {
    json_node *nodes;
    const uint8_t *names, *behind; /* behind all documents */
    int64_t row;                   /* counted from 1 */
    int64_t objects;               /* the number of the last one */
    json_day last_day;
} json_table;

static const uint8_t *value(json_table *table, json_node *node, const uint8_t *at, const uint8_t *end, int64_t slot,
                            int depth);

static inline void keep_text(const json_table *table, json_node *node, int64_t slot, const uint8_t *at, int64_t bytes) {
    if (!node->column->values) return;
    int32_t offset = *offset_of(node->column, slot);
    uint8_t *to = node->column->values + offset;
    copy_text(to, at, bytes, table->behind);
    end_part(node->column, slot, offset + bytes);
}

/* A text that is not kept, or whose first escape is at `first`. */
static const uint8_t *long_string(json_node *node, const uint8_t *at, const uint8_t *first, const uint8_t *end,
                                  int64_t slot) {
    const uint8_t *last;
    if (!node->column->values) return (last = string_end(at, end)) ? last + 1 : NULL;
    uint8_t *to = node->column->values + *offset_of(node->column, slot);
    if (!(last = unescaped(at, first, end, &to))) return NULL;
    end_part(node->column, slot, to - node->column->values);
    return last + 1;
}

/* A string behind its opening quote, as a text. */
static inline const uint8_t *string(const json_table *table, json_node *node, const uint8_t *at, const uint8_t *end,
                                    int64_t slot) {
    const uint8_t *last = special(at, end);
    if (!last) return NULL;
    if (*last != '"' || !node->column->values) return long_string(node, at, last, end, slot);
    keep_text(table, node, slot, at, last - at);
    return last + 1;
}

static inline int sextet(uint8_t byte) {
    uint8_t upper = (uint8_t)(byte - 'A'), lower = (uint8_t)(byte - 'a');
    if (upper < 26) return upper;
    if (lower < 26) return lower + 26;
    return is_digit(byte) ? byte - '0' + 52 : byte == '+' ? 62 : byte == '/' ? 63 : -1;
}

/* Bytes as base64, padded at the end only. */
static int base64(json_node *node, const uint8_t *at, const uint8_t *end, int64_t slot) {
    if ((end - at) % 4) return 0;
    uint8_t *to = node->column->values ? node->column->values + *offset_of(node->column, slot) : NULL;
    for (; at < end; at += 4) {
        int padding = end - at > 4 || at[3] != '=' ? 0 : at[2] != '=' ? 1 : 2;
        int one = sextet(at[0]), two = sextet(at[1]);
        int three = padding < 2 ? sextet(at[2]) : 0, four = padding < 1 ? sextet(at[3]) : 0;
        if (one < 0 || two < 0 || three < 0 || four < 0) return 0;
        int bits = one << 18 | two << 12 | three << 6 | four;
        for (int i = 0; to && i < 3 - padding; i++) *to++ = (uint8_t)(bits >> (16 - 8 * i));
    }
    if (to) end_part(node->column, slot, to - node->column->values);
    return 1;
}

static inline void keep_integer(const json_node *node, int64_t slot, int64_t found) {
    if (!node->column->values) return;
    if (node->detail == 8) memcpy(node->column->values + slot * 8, &found, 8);
    else if (node->detail == 4) memcpy(node->column->values + slot * 4, &found, 4);
    else if (node->detail == 2) memcpy(node->column->values + slot * 2, &found, 2);
    else node->column->values[slot] = (uint8_t)found;
}

static inline void keep_word(const json_node *node, int64_t slot, const void *found) {
    if (node->column->values) memcpy(node->column->values + slot * WORD, found, WORD);
}

static inline const uint8_t *keep_decimal(const json_node *node, const uint8_t *at, const uint8_t *end, int64_t slot) {
    __int128 found;
    if ((at = decimal(at, end, node->detail, node->scale, &found)) && node->column->values)
        memcpy(node->column->values + slot * (int64_t)sizeof found, &found, sizeof found);
    return at;
}

/* A string behind its opening quote. */
static inline const uint8_t *quoted_value(json_table *table, json_node *node, const uint8_t *at, const uint8_t *end,
                                          int64_t slot, uint8_t *valid) {
    if (node->form == STRING) return string(table, node, at, end, slot);
    const uint8_t *last = special(at, end);
    int64_t found;
    int has_zone;
    if (!last || *last != '"') return NULL;
    switch (node->form) {
    case LOCAL:
    case INSTANT:
        if (!moment(&table->last_day, at, last, &found, &has_zone)) return NULL;
        if (node->form == LOCAL ? has_zone : !has_zone && node->detail == ZONE_NEEDED) return NULL;
        if (node->form == INSTANT && !has_zone && node->detail == ZONE_IS_KNOWN) *valid = LOCAL_VALUE;
        keep_word(node, slot, &found);
        break;
    case DATE:
        if (last - at != 10 || !day_of(&table->last_day, at, &found)) return NULL;
        if (node->column->values) memcpy(node->column->values + slot * 4, &(int32_t){(int32_t)found}, 4);
        break;
    case DECIMAL:
        if (keep_decimal(node, at, last, slot) != last) return NULL;
        break;
    case BINARY:
        if (!base64(node, at, last, slot)) return NULL;
        break;
    default: return NULL;
    }
    return last + 1;
}

/* A number, true or false. */
static inline const uint8_t *plain_value(const json_table *table, json_node *node, const uint8_t *at,
                                         const uint8_t *end, int64_t slot) {
    static const int64_t MOST[] = {0, INT8_MAX, INT16_MAX, 0, INT32_MAX, 0, 0, 0, INT64_MAX};
    const uint8_t *behind = NULL;
    int64_t found;
    double number;
    switch (node->form) {
    case INTEGER:
        if ((behind = whole(at, end, MOST[node->detail], &found))) keep_integer(node, slot, found);
        break;
    case DOUBLE:
        if ((behind = real(at, end, DOUBLE_BITS, &number))) keep_word(node, slot, &number);
        break;
    case FLOAT:
        if ((behind = real(at, end, FLOAT_BITS, &number)) && node->column->values)
            memcpy(node->column->values + slot * 4, &(float){(float)number}, 4);
        break;
    case DECIMAL: behind = keep_decimal(node, at, end, slot); break;
    case INSTANT: /* seconds */
        if ((behind = whole(at, end, INT64_MAX / 1000000 - 1, &found))) keep_word(node, slot, &(int64_t){found * 1000000});
        break;
    case BOOLEAN:
    case STRING:
        behind = *at == 't' ? word_end(at, end, "true", 4) : word_end(at, end, "false", 5);
        if (!behind && node->form == STRING) behind = whole(at, end, INT64_MAX, &found);
        if (behind && node->form == STRING) keep_text(table, node, slot, at, behind - at);
        else if (behind && node->column->values) node->column->values[slot] = *at == 't';
        break;
    }
    return behind;
}

/* The quote that ends the name at `name`, and its member of a STRUCT, most likely `next`, or NULL. */
static inline const uint8_t *name_end(const json_table *table, const json_node *parent, const uint8_t *name,
                                      const uint8_t *end, int64_t next, json_node **member) {
    json_node *first = table->nodes + parent->first, *likely = first + next;
    int64_t bytes = parent->count ? likely->name_bytes : -1;
    if (bytes >= 0 && end - name > bytes && name[bytes] == '"' && is_same(table->names + likely->name_at, name, bytes)) {
        *member = likely;
        return name + bytes;
    }
    const uint8_t *last = special(name, end);
    if (!last || *last != '"' || last - name > MOST_NAME) return NULL;
    bytes = last - name;
    *member = NULL;
    for (int64_t step = 0; step < parent->count && !*member; step++) {
        json_node *node = first + (next + step < parent->count ? next + step : next + step - parent->count);
        if (node->name_bytes == bytes && is_same(table->names + node->name_at, name, bytes)) *member = node;
    }
    return last;
}

/* An object whose members are nodes. */
static const uint8_t *members(json_table *table, json_node *parent, const uint8_t *at, const uint8_t *end, int64_t slot,
                              int depth) {
    json_node *first = table->nodes + parent->first, *node;
    int64_t object = ++table->objects, next = 0, required = 0;
    int more = first_part(&at, end, '}');
    while (more > 0) {
        if (at >= end || *at != '"' || !(at = name_end(table, parent, at + 1, end, next, &node))) return NULL;
        if (!(at = colon(at + 1, end))) return NULL;
        if (node) {
            if (node->seen == object) return NULL;
            node->seen = object;
            required += !node->is_nullable;
            next = node + 1 - first < parent->count ? node + 1 - first : 0;
            at = value(table, node, at, end, slot, depth);
        } else {
            at = any_value(at, end, depth);
        }
        if (!at) return NULL;
        more = next_part(&at, end, '}');
    }
    return more || required != parent->required ? NULL : at;
}

/* A name that is a value, and the colon behind it. */
static inline const uint8_t *map_name(const json_table *table, json_node *node, const uint8_t *at, const uint8_t *end,
                                      int64_t slot) {
    if (at >= end || *at != '"') return NULL;
    const uint8_t *last = string(table, node, at + 1, end, slot);
    if (!last || last - at - 2 > MOST_NAME) return NULL;
    if (node->column->is_valid) node->column->is_valid[slot] = VALUE;
    return colon(last, end);
}

/* An array, or an object whose names are values. */
static const uint8_t *parts(json_table *table, json_node *parent, const uint8_t *at, const uint8_t *end, int64_t slot,
                            int depth) {
    json_node *first = table->nodes + parent->first;
    uint8_t closing = parent->form == MAP ? '}' : ']';
    if (parent->column->offsets) offset_of(parent->column, slot);
    int more = first_part(&at, end, closing);
    while (more > 0) {
        int64_t part = next_slot(parent->column, table->row);
        if (part < 0) return NULL;
        if (parent->form == MAP && !(at = map_name(table, first, at, end, part))) return NULL;
        if (!(at = value(table, first + (parent->form == MAP), at, end, part, depth))) return NULL;
        more = next_part(&at, end, closing);
    }
    if (more) return NULL;
    if (parent->column->offsets) end_part(parent->column, slot, parent->column->length);
    return at;
}

/* A value of a node; `depth`: how many objects and arrays may still be opened. */
static const uint8_t *value(json_table *table, json_node *node, const uint8_t *at, const uint8_t *end, int64_t slot,
                            int depth) {
    uint8_t valid = VALUE;
    if (at >= end) return NULL;
    switch (*at) {
    case 'n': return node->is_nullable ? word_end(at, end, "null", 4) : NULL;
    case '"': at = quoted_value(table, node, at + 1, end, slot, &valid); break;
    case '{':
        if (!depth || (node->form != STRUCT && node->form != MAP)) return NULL;
        at = node->form == MAP ? parts(table, node, at, end, slot, depth - 1)
                               : members(table, node, at, end, slot, depth - 1);
        break;
    case '[': at = depth && node->form == ARRAY ? parts(table, node, at, end, slot, depth - 1) : NULL; break;
    default: at = plain_value(table, node, at, end, slot);
    }
    if (at && node->column->is_valid) node->column->is_valid[slot] = valid;
    return at;
}

static int document(json_table *table, const uint8_t *at, const uint8_t *end, int64_t row) {
    at = space(at, end);
    if (at >= end || *at != '{') return 0;
    at = members(table, table->nodes, at, end, row, MOST_DEPTH - 1);
    return at && space(at, end) == end;
}

/* Decode documents from one on.
 *
 * starts: where each begins in `data`, and behind the last one. is_given: whether there is one. nodes: the root, then
 * the others, those of one parent side by side; columns: one for each; texts have as many bytes as the documents, and
 * SPARE more; all of is_valid and the first of offsets must be zero. is_done: whether a document is decoded; those that
 * are not have no value anywhere.
 *
 * Returns `rows`, or the document for which an ARRAY or MAP that is_full has no room: to be called again from there,
 * with larger buffers of the same contents. */
int64_t tidemark_json(const uint8_t *data, const int32_t *starts, const uint8_t *is_given, int64_t from, int64_t rows,
                      json_node *nodes, column *columns, int64_t count, const uint8_t *names, uint8_t *is_done) {
    json_table table = {nodes, names, data + starts[rows], 0, nodes->seen, {0}};
    int64_t row = from, is_full = 0;
    for (int64_t node = 0; node < count; node++) nodes[node].column = columns + node;
    for (; row < rows && !is_full; row++) {
        table.row = row + 1;
        begin_record(columns, table.row);
        is_done[row] = is_given[row] && document(&table, data + starts[row], data + starts[row + 1], row);
        if (!is_done[row] && is_given[row]) is_full = take_back(columns, count, table.row);
    }
    nodes->seen = table.objects;
    return row - is_full;
}
