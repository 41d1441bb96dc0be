/* Columns that are filled record by record, with nested ones, and from which a record that fails is removed.
 *
 * The values of a column lie in slots. Those of a STRUCT's fields have the slot of the STRUCT, those of an ARRAY's or
 * MAP's parts the next one of its domain; the domain of all others are the rows, which the first column stands for. A
 * column without buffers receives nothing, and so do all below it.
 */
#pragma once
#include <stdint.h>
#include <string.h>

enum { SPARE = 16 }; /* bytes behind the texts of a column, so that short ones are copied without asking how short */

typedef struct {
    int64_t domain;   /* the ARRAY or MAP whose parts it has; 0 = the rows */
    uint8_t *values;  /* of fixed width, or the bytes of texts */
    int32_t *offsets; /* of texts into values, of ARRAY and MAP into the slots of the parts */
    uint8_t *is_valid;
    int64_t room;    /* ARRAY, MAP: slots that their parts have; texts: their bytes without the spare ones */
    int64_t length;  /* ARRAY, MAP: how many are in use */
    int64_t begin;   /* the same before record `row` - 1 */
    int64_t row;
    int64_t is_full; /* a record needs more room */
    int64_t filled;  /* slots whose offsets are written; those of later ones are the last of these */
} column;

/* Where the part of a slot begins. */
static inline int32_t *offset_of(column *to, int64_t slot) {
    int32_t *offsets = to->offsets, last = offsets[to->filled];
    while (to->filled < slot) offsets[++to->filled] = last;
    return offsets + slot;
}

static inline void end_part(column *to, int64_t slot, int64_t offset) {
    to->offsets[slot + 1] = (int32_t)offset;
    to->filled = slot + 1;
}

/* Copy a text; `behind` is the end of what may be read. */
static inline void copy_text(uint8_t *to, const uint8_t *at, int64_t bytes, const uint8_t *behind) {
    if (bytes <= SPARE && behind - at >= SPARE) memcpy(to, at, SPARE);
    else memcpy(to, at, (size_t)bytes);
}

/* The slot of the next part of an ARRAY or MAP in record `row` - 1; -1 = there is no room. */
static inline int64_t next_slot(column *parent, int64_t row) {
    if (!parent->offsets) return 0;
    if (parent->row != row) {
        parent->row = row;
        parent->begin = parent->length;
    }
    parent->is_full = parent->length == parent->room;
    return parent->is_full ? -1 : parent->length++;
}

/* Let record `row` - 1 be the next one. */
static inline void begin_record(column *columns, int64_t row) {
    columns->row = row;
    columns->begin = row - 1;
    columns->length = row;
}

/* Remove all that record `row` - 1 has left in the columns; returns whether one of them is full. */
static inline int64_t take_back(column *columns, int64_t count, int64_t row) {
    int64_t is_full = 0;
    for (column *each = columns + 1; each < columns + count; each++) {
        const column *domain = columns + each->domain;
        int64_t begin = domain->row == row ? domain->begin : domain->length;
        if (each->is_valid) memset(each->is_valid + begin, 0, (size_t)(domain->length - begin));
        if (each->offsets && each->filled > begin) each->filled = begin;
        is_full |= each->is_full;
    }
    for (column *each = columns + 1; each < columns + count; each++)
        if (each->row == row) each->length = each->begin;
    return is_full;
}
