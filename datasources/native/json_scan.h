/* Reading JSON texts: blanks, words, strings and their escapes, and values of which only the syntax matters.
 *
 * [at, end) lies inside a document of valid UTF-8. Functions return what is behind that which they read; NULL = the
 * document is left: it is malformed, or only Python knows what it means (single quotes, halves of surrogate pairs).
 */
#pragma once
#include <stdint.h>
#include <string.h>

enum { WORD = 8 };
enum { MOST_NAME = 1000, MOST_TEXT = 1 << 20, MOST_NUMBER = 500 }; /* bytes; readers of JSON refuse very long ones */
enum { MOST_DEPTH = 64 }; /* objects and arrays that are open at once; Python knows deeper ones */

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

static inline const uint8_t *word_end(const uint8_t *at, const uint8_t *end, const char *word, int64_t bytes) {
    return end - at >= bytes && memcmp(at, word, (size_t)bytes) == 0 ? at + bytes : NULL;
}

/* The highest bit of the first of eight bytes that is a quote, a backslash or a control character; bits behind it may be
 * set as well. 0 = there is none. */
static inline uint64_t specials(uint64_t word) {
    const uint64_t low = 0x0101010101010101ull, high = 0x8080808080808080ull;
    uint64_t quote = word ^ (low * '"'), slash = word ^ (low * '\\');
    return (((quote - low) & ~quote) | ((slash - low) & ~slash) | ((word - low * 0x20) & ~word)) & high;
}

/* The first quote, backslash or control character from `at` on; NULL if there is none in a text of sensible length. */
static inline const uint8_t *special(const uint8_t *at, const uint8_t *end) {
    if (end - at > MOST_TEXT) end = at + MOST_TEXT;
    for (uint64_t found; end - at >= WORD; at += WORD)
        if ((found = specials(word_at(at)))) return at + __builtin_ctzll(found) / 8;
    while (at < end && *at >= 0x20 && *at != '"' && *at != '\\') at++;
    return at < end ? at : NULL;
}

static inline int hex(uint8_t byte) {
    uint8_t letter = (uint8_t)((byte | 0x20) - 'a');
    return is_digit(byte) ? byte - '0' : letter < 6 ? letter + 10 : -1;
}

/* The UTF-16 unit of an escape whose backslash is before `at`. */
static inline const uint8_t *escape(const uint8_t *at, const uint8_t *end, uint32_t *unit) {
    static const char LETTERS[] = "\"\\/bfnrt", MEANINGS[] = "\"\\/\b\f\n\r\t";
    if (at >= end) return NULL;
    const char *letter = *at ? strchr(LETTERS, *at) : NULL;
    if (letter) {
        *unit = (uint8_t)MEANINGS[letter - LETTERS];
        return at + 1;
    }
    if (*at != 'u' || end - at < 5) return NULL;
    *unit = 0;
    for (int i = 1; i <= 4; i++) {
        if (hex(at[i]) < 0) return NULL;
        *unit = *unit << 4 | (uint32_t)hex(at[i]);
    }
    return at + 5;
}

/* The character of one escape, or of two that make a pair. */
static inline const uint8_t *escaped(const uint8_t *at, const uint8_t *end, uint32_t *code) {
    uint32_t second;
    if (!(at = escape(at, end, code)) || *code < 0xD800 || *code > 0xDFFF) return at;
    if (*code > 0xDBFF || end - at < 6 || *at != '\\' || !(at = escape(at + 1, end, &second))) return NULL;
    if (second < 0xDC00 || second > 0xDFFF) return NULL;
    *code = 0x10000 + ((*code - 0xD800) << 10) + (second - 0xDC00);
    return at;
}

/* Write a character; returns what is behind it. */
static inline uint8_t *as_utf8(uint8_t *to, uint32_t code) {
    if (code < 0x80) {
        *to++ = (uint8_t)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t FIRST[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (uint8_t)(FIRST[more] | code >> (6 * more));
    while (more--) *to++ = (uint8_t)(0x80 | (code >> (6 * more) & 0x3F));
    return to;
}

/* Write the text from `at` to its quote without escapes, whose first is at `first`: never more bytes than it has, but a
 * word behind them may be overwritten. Returns the quote; `to` moves behind the text. */
static inline const uint8_t *unescaped(const uint8_t *at, const uint8_t *first, const uint8_t *end, uint8_t **to) {
    uint32_t code;
    const uint8_t *limit = end - at > MOST_TEXT ? at + MOST_TEXT : end;
    for (;; at = first, first = special(at, limit)) {
        if (!first) return NULL;
        for (; first - at >= WORD; at += WORD, *to += WORD) memcpy(*to, at, WORD);
        while (at < first) *(*to)++ = *at++;
        if (*at == '"') return at;
        if (*at != '\\' || !(first = escaped(at + 1, limit, &code))) return NULL;
        *to = as_utf8(*to, code);
    }
}

/* The quote that ends a string which begins at `at`, whatever its escapes mean. */
static inline const uint8_t *string_end(const uint8_t *at, const uint8_t *end) {
    uint32_t unit;
    if (end - at > MOST_TEXT) end = at + MOST_TEXT;
    while ((at = special(at, end)) && *at == '\\')
        if (!(at = escape(at + 1, end, &unit))) return NULL;
    return at && *at == '"' ? at : NULL;
}

static inline const uint8_t *digits_end(const uint8_t *at, const uint8_t *end) {
    const uint8_t *first = at;
    while (at < end && is_digit(*at)) at++;
    return at > first && at - first <= MOST_NUMBER ? at : NULL;
}

/* A number of any size. */
static inline const uint8_t *any_number(const uint8_t *at, const uint8_t *end) {
    if (at < end && *at == '-') at++;
    if (end - at > 1 && *at == '0' && is_digit(at[1])) return NULL;
    if (!(at = digits_end(at, end))) return NULL;
    if (at < end && *at == '.' && !(at = digits_end(at + 1, end))) return NULL;
    if (at >= end || (*at != 'e' && *at != 'E')) return at;
    at++;
    if (at < end && (*at == '-' || *at == '+')) at++;
    return digits_end(at, end);
}

/* The colon behind a name, and what is between it and the value. */
static inline const uint8_t *colon(const uint8_t *at, const uint8_t *end) {
    at = space(at, end);
    return at < end && *at == ':' ? space(at + 1, end) : NULL;
}

/* A name and its colon. */
static inline const uint8_t *any_name(const uint8_t *at, const uint8_t *end) {
    if (at >= end || *at != '"') return NULL;
    const uint8_t *last = string_end(at + 1, end);
    return last && last - at - 1 <= MOST_NAME ? colon(last + 1, end) : NULL;
}

static const uint8_t *any_parts(const uint8_t *at, const uint8_t *end, int depth);

/* A value that belongs to no column; `depth`: how many objects and arrays may still be opened. */
static inline const uint8_t *any_value(const uint8_t *at, const uint8_t *end, int depth) {
    const uint8_t *last;
    if (at >= end) return NULL;
    switch (*at) {
    case '"': return (last = string_end(at + 1, end)) ? last + 1 : NULL;
    case '{':
    case '[': return depth ? any_parts(at, end, depth - 1) : NULL;
    case 't': return word_end(at, end, "true", 4);
    case 'f': return word_end(at, end, "false", 5);
    case 'n': return word_end(at, end, "null", 4);
    default: return any_number(at, end);
    }
}

/* The next part of an object or array that ends with `closing`: 1 = `at` is where it begins, 0 = `at` is behind the
 * end, -1 = neither comes. */
static inline int next_part(const uint8_t **at, const uint8_t *end, uint8_t closing) {
    const uint8_t *found = space(*at, end);
    if (found >= end || (*found != ',' && *found != closing)) return -1;
    int is_more = *found == ',';
    *at = is_more ? space(found + 1, end) : found + 1;
    return is_more;
}

/* The same behind the opening bracket, which is at `at`. */
static inline int first_part(const uint8_t **at, const uint8_t *end, uint8_t closing) {
    *at = space(*at + 1, end);
    int is_empty = *at < end && **at == closing;
    *at += is_empty;
    return !is_empty;
}

static const uint8_t *any_parts(const uint8_t *at, const uint8_t *end, int depth) {
    uint8_t closing = *at == '{' ? '}' : ']';
    int more = first_part(&at, end, closing);
    while (more > 0) {
        if (closing == '}' && !(at = any_name(at, end))) return NULL;
        if (!(at = any_value(at, end, depth))) return NULL;
        more = next_part(&at, end, closing);
    }
    return more ? NULL : at;
}
