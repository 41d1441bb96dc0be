/* Single values into columns; a column without buffers receives nothing. */
#pragma once
#include "columns.h"

static inline void set_valid(column *to, int64_t slot) {
    if (to->is_valid) to->is_valid[slot] = 1;
}

/* Whether there was room for a text; `behind` is the end of what may be read. */
static inline int keep_text(column *to, int64_t slot, const uint8_t *at, int64_t bytes, const uint8_t *behind) {
    if (!to->values) return 1;
    int32_t offset = *offset_of(to, slot);
    if ((to->is_full = bytes > to->room - offset)) return 0;
    copy_text(to->values + offset, at, bytes, behind);
    end_part(to, slot, offset + bytes);
    return 1;
}

static inline int keep_number(const column *to, int64_t slot, const void *found, int64_t bytes) {
    if (!to->values) return 1;
    if (bytes == 8) memcpy(to->values + slot * 8, found, 8);
    else if (bytes == 4) memcpy(to->values + slot * 4, found, 4);
    else memcpy(to->values + slot * bytes, found, (size_t)bytes);
    return 1;
}
