/* Counting of work, to cancel SQL functions during a long call. */
#ifndef PERILUNE_WORK_H
#define PERILUNE_WORK_H

#include <string.h>

#include <perilune_long_functions.h>

/* The work of one function call, counted in bytes that are compared or copied. `left` is the work until the next check. */
typedef struct {
    psql_is_cancelled *is_cancelled;
    size_t left;
    bool has_ended;
} psql_work;

enum { psql_work_per_look = 1 << 18 };

static inline psql_work psql_begin_work(psql_is_cancelled *is_cancelled) {
    return (psql_work){.is_cancelled = is_cancelled, .left = psql_work_per_look};
}

/* Counts work. Returns false if the run is cancelled. */
static inline bool psql_spend(psql_work *work, size_t bytes) {
    if (bytes < work->left) {
        work->left -= bytes;
        return true;
    }
    work->left = psql_work_per_look;
    if (work->is_cancelled()) work->has_ended = true;
    return !work->has_ended;
}

/* A growing text, to be freed with sqlite3_free. */
typedef struct {
    char *bytes;
    size_t length, capacity;
    size_t most; /* the longest value that SQLite allows, in bytes */
    int failure; /* an SQLite result code */
} psql_buffer;

/* Returns the longest value that SQLite allows, in bytes. */
static inline size_t psql_longest_value(sqlite3_context *context) {
    return (size_t)sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
}

/* Appends bytes. Returns false and sets `failure` if the text becomes too long or memory runs out. */
static inline bool psql_append(psql_buffer *buffer, const void *bytes, size_t length) {
    size_t needed = buffer->length + length;
    if (needed > buffer->most) {
        buffer->failure = SQLITE_TOOBIG;
        return false;
    }
    if (needed >= buffer->capacity) {
        size_t capacity = needed + needed / 2 + 16;
        char *grown = sqlite3_realloc64(buffer->bytes, capacity);
        if (grown == NULL) {
            buffer->failure = SQLITE_NOMEM;
            return false;
        }
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length = needed;
    return true;
}

/* Replaces SQLite's zeroblob on a connection. Returns an SQLite result code. */
int psql_bound_zeroblob(sqlite3 *handle, int flags, psql_is_hooked *is_hooked);

/* Replaces FTS5's highlight and snippet on a connection. Returns an SQLite result code. */
int psql_bound_full_text(sqlite3 *handle, psql_is_cancelled *is_cancelled);

#endif
