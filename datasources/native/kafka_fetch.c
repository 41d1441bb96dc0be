/* Records of one Kafka partition into the buffers of Arrow columns, through librdkafka and without its headers: whoever
 * calls hands over the functions, found in the library that confluent-kafka has loaded, and the queue to read. What is
 * relied on is librdkafka's public interface of versions 1 and 2: the functions, and the layout of a message.
 *
 * Nothing here allocates memory and nothing knows Python: ctypes calls it without the interpreter's lock. A feed and a
 * batch belong to one caller at a time. The structures have twins in kafka_fetch.py.
 */
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

enum { HELD = 512, TEXT_BYTES = 512 };
enum { DRY = 0, ENOUGH = 1, AT_END = 2, NOTICE = 3, NO_ROOM = 4, FAILED = 5 };

typedef struct { /* rd_kafka_message_t */
    int error;
    void *topic;
    int32_t partition;
    const uint8_t *value;
    size_t value_bytes;
    const uint8_t *key;
    size_t key_bytes;
    int64_t offset;
    void *owned;
} message_t;

typedef struct {
    void *queue;
    ssize_t (*consume_batch)(void *queue, int timeout_ms, message_t **messages, size_t most);
    void (*destroy)(message_t *message);
    int64_t (*timestamp)(const message_t *message, int *kind);
    int (*headers)(const message_t *message, void **headers);
    int (*header)(const void *headers, size_t index, const char **name, const void **content, size_t *bytes);
    int32_t (*leader_epoch)(const message_t *message);
    const char *(*text)(const message_t *message);
    int64_t next, end; /* of what is held: received, and not yet given */
    message_t *held[HELD];
} feed_t;

typedef struct { /* a column of bytes; no ends = nobody wants it */
    int64_t room, bytes, most, count, nulls;
    int32_t *ends;
    uint8_t *data, *is_valid;
} bytes_t;

typedef struct {
    int64_t count;
    int64_t *offsets, *timestamps; /* a pointer that is null: nobody wants it */
    int8_t *kinds;
    int32_t *epochs, *header_ends;
    uint8_t *has_headers;
    bytes_t values, keys, names, contents;
    int64_t error, error_offset;
    char text[TEXT_BYTES];
} batch_t;

/* The sizes of both structures, which kafka_fetch.py compares with those of its twins. */
int64_t tidemark_kafka_layout(void) { return (int64_t)(sizeof(feed_t) << 32 | sizeof(batch_t)); }

static int fits(const bytes_t *column, int64_t entries, int64_t bytes) {
    return !column->ends || (column->count + entries <= column->most && column->bytes + bytes <= column->room);
}

static void add(bytes_t *column, const void *from, size_t bytes) {
    if (!column->ends) return;
    if (bytes) memcpy(column->data + column->bytes, from, bytes);
    column->bytes += (int64_t)bytes;
    column->nulls += !from;
    column->is_valid[column->count++] = from != 0;
    column->ends[column->count] = (int32_t)column->bytes;
}

/* Add a record's headers; 0 = there is no room for them, and none was added. */
static int add_headers(const feed_t *feed, batch_t *batch, const message_t *message) {
    void *headers = 0;
    const char *name;
    const void *content;
    size_t bytes, count = 0;
    int64_t name_bytes = 0, content_bytes = 0;
    int has = feed->headers(message, &headers) == 0;
    for (; has && feed->header(headers, count, &name, &content, &bytes) == 0; count++) {
        name_bytes += (int64_t)strlen(name);
        content_bytes += (int64_t)bytes;
    }
    if (!fits(&batch->names, (int64_t)count, name_bytes) || !fits(&batch->contents, (int64_t)count, content_bytes))
        return 0;
    for (size_t i = 0; i < count && feed->header(headers, i, &name, &content, &bytes) == 0; i++) {
        add(&batch->names, name, strlen(name));
        add(&batch->contents, content, bytes);
    }
    batch->has_headers[batch->count] = (uint8_t)has;
    batch->header_ends[batch->count + 1] = (int32_t)batch->names.count;
    return 1;
}

/* Add a record; 0 = there is no room for it, and nothing was added. */
static int add_record(const feed_t *feed, batch_t *batch, const message_t *message) {
    if (!fits(&batch->values, 1, (int64_t)message->value_bytes) || !fits(&batch->keys, 1, (int64_t)message->key_bytes))
        return 0;
    if (batch->header_ends && !add_headers(feed, batch, message)) return 0;
    add(&batch->values, message->value, message->value_bytes);
    add(&batch->keys, message->key, message->key_bytes);
    if (batch->timestamps) {
        int kind;
        int64_t at = feed->timestamp(message, &kind);
        batch->timestamps[batch->count] = kind ? at : -1;
        batch->kinds[batch->count] = (int8_t)kind;
    }
    if (batch->epochs) batch->epochs[batch->count] = feed->leader_epoch(message);
    batch->offsets[batch->count++] = message->offset;
    return 1;
}

static void note(const feed_t *feed, batch_t *batch, const message_t *message) {
    const char *text = feed->text(message);
    batch->error = message->error;
    batch->error_offset = message->offset;
    strncpy(batch->text, text ? text : "", TEXT_BYTES - 1);
    batch->text[TEXT_BYTES - 1] = 0;
}

/* Add the records before `end` that are there, `most` at most; if there is none, wait for one.
 *
 * Returns why it stopped: nothing came in time; enough came; no record before `end` follows; the client said something
 * that is no record, behind those given; the next record has no room, and stays held; the client failed. */
int64_t tidemark_kafka_fetch(feed_t *feed, batch_t *batch, int64_t most, int64_t end, int64_t wait_ms) {
    while (batch->count < most) {
        if (feed->next == feed->end) {
            int64_t wanted = most - batch->count < HELD ? most - batch->count : HELD;
            ssize_t came = feed->consume_batch(feed->queue, 0, feed->held, (size_t)wanted);
            if (came == 0) came = feed->consume_batch(feed->queue, (int)wait_ms, feed->held, 1);
            if (came <= 0) return came < 0 ? FAILED : DRY;
            feed->next = 0;
            feed->end = came;
        }
        message_t *message = feed->held[feed->next];
        int is_notice = message->error != 0, is_last = !is_notice && message->offset + 1 >= end;
        if (is_notice) {
            note(feed, batch, message);
        } else {
            if (message->offset >= end) return AT_END;
            if (!add_record(feed, batch, message)) return NO_ROOM;
        }
        feed->next++;
        feed->destroy(message);
        if (is_notice) return NOTICE;
        if (is_last) return AT_END;
    }
    return ENOUGH;
}

/* Give up what is held. */
void tidemark_kafka_drop(feed_t *feed) {
    while (feed->next < feed->end) feed->destroy(feed->held[feed->next++]);
}
