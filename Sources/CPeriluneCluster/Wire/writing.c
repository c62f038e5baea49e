/* Writes messages to dqlite nodes. */
#include <stdlib.h>
#include <string.h>

#include <perilune_wire.h>

static size_t padded(size_t length) { return (length + 7) & ~(size_t)7; }

void pcl_free_buffer(pcl_buffer *buffer) {
    free(buffer->bytes);
    *buffer = (pcl_buffer){0};
}

/* Appends zeroed space to the message. Returns NULL if memory is exhausted or the message would be too long. */
static uint8_t *add(pcl_buffer *buffer, size_t length) {
    if (buffer->has_failed) return NULL;
    if (length > PCL_MOST_BYTES || buffer->length - buffer->message > PCL_MOST_BYTES - length) {
        buffer->has_failed = true;
        return NULL;
    }
    if (buffer->capacity - buffer->length < length) {
        size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity;
        while (capacity - buffer->length < length) capacity *= 2;
        uint8_t *bytes = realloc(buffer->bytes, capacity);
        if (bytes == NULL) {
            buffer->has_failed = true;
            return NULL;
        }
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
    uint8_t *start = buffer->bytes + buffer->length;
    memset(start, 0, length);
    buffer->length += length;
    return start;
}

static void store(uint8_t *bytes, uint64_t value, int count) {
    for (int i = 0; i < count; i++) bytes[i] = (uint8_t)(value >> (8 * i));
}

void pcl_begin_message(pcl_buffer *buffer, uint8_t type) {
    buffer->message = buffer->length;
    uint8_t *header = add(buffer, PCL_HEADER_SIZE);
    if (header) header[4] = type;
}

void pcl_put_u32(pcl_buffer *buffer, uint32_t value) {
    uint8_t *bytes = add(buffer, 4);
    if (bytes) store(bytes, value, 4);
}

void pcl_put_u64(pcl_buffer *buffer, uint64_t value) {
    uint8_t *bytes = add(buffer, 8);
    if (bytes) store(bytes, value, 8);
}

static void put_bytes(pcl_buffer *buffer, const void *source, size_t length, size_t room) {
    if (room < length) { /* the padded length has overflowed */
        buffer->has_failed = true;
        return;
    }
    uint8_t *bytes = add(buffer, room);
    if (bytes && length > 0) memcpy(bytes, source, length);
}

void pcl_put_text(pcl_buffer *buffer, const char *text, size_t length) { put_bytes(buffer, text, length, padded(length + 1)); }

bool pcl_end_message(pcl_buffer *buffer) {
    if (!buffer->has_failed) {
        size_t body = buffer->length - buffer->message - PCL_HEADER_SIZE, missing = padded(body) - body;
        if (missing > 0) add(buffer, missing);
    }
    if (buffer->has_failed) {
        buffer->has_failed = false;
        buffer->length = buffer->message;
        return false;
    }
    store(buffer->bytes + buffer->message, (buffer->length - buffer->message - PCL_HEADER_SIZE) / 8, 4);
    return true;
}

/* MARK: - Parameters */

static uint8_t type_of(sqlite3_value *value) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER: return PCL_INTEGER;
        case SQLITE_FLOAT: return PCL_FLOAT;
        case SQLITE_TEXT: return PCL_TEXT;
        case SQLITE_BLOB: return PCL_BLOB;
        default: return PCL_NULL;
    }
}

/* Writes a value. Returns false if the value is text that contains NUL. */
static bool put_value(pcl_buffer *buffer, sqlite3_value *value, uint8_t type) {
    switch (type) {
        case PCL_INTEGER: pcl_put_u64(buffer, (uint64_t)sqlite3_value_int64(value)); break;
        case PCL_FLOAT: {
            double number = sqlite3_value_double(value);
            uint64_t bits;
            memcpy(&bits, &number, sizeof bits);
            pcl_put_u64(buffer, bits);
            break;
        }
        case PCL_TEXT: {
            const char *text = (const char *)sqlite3_value_text(value);
            size_t length = (size_t)sqlite3_value_bytes(value);
            if (text == NULL) {
                buffer->has_failed = true;
                break;
            }
            if (memchr(text, 0, length)) return false;
            pcl_put_text(buffer, text, length);
            break;
        }
        case PCL_BLOB: {
            const void *bytes = sqlite3_value_blob(value);
            size_t length = (size_t)sqlite3_value_bytes(value);
            pcl_put_u64(buffer, length);
            put_bytes(buffer, bytes, bytes ? length : 0, padded(length));
            break;
        }
        default: pcl_put_u64(buffer, 0);
    }
    return true;
}

pcl_parameters pcl_put_parameters(pcl_buffer *buffer, int count, sqlite3_value **values, int *position) {
    if (count == 0) return PCL_PARAMETERS_WRITTEN;
    if (count < 0 || count > PCL_MOST_PARAMETERS) return PCL_TOO_MANY_PARAMETERS;
    uint8_t types[PCL_MOST_PARAMETERS + 1] = {(uint8_t)count};
    for (int i = 0; i < count; i++) types[i + 1] = type_of(values[i]);
    put_bytes(buffer, types, (size_t)count + 1, padded((size_t)count + 1));
    for (int i = 0; i < count; i++) {
        *position = i + 1;
        if (!put_value(buffer, values[i], types[i + 1])) return PCL_NUL_IN_TEXT;
    }
    return PCL_PARAMETERS_WRITTEN;
}
