/* Reads messages from dqlite nodes. */
#include <string.h>

#include <perilune_wire.h>

static uint64_t load(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

bool pcl_read_header(const uint8_t bytes[PCL_HEADER_SIZE], size_t most, size_t *body_length, uint8_t *type) {
    uint64_t length = load(bytes, 4) * 8;
    *type = bytes[4];
    *body_length = (size_t)length;
    return length <= most && bytes[5] == 0;
}

static size_t left(const pcl_reader *reader) { return reader->length - reader->offset; }

/* Returns the next bytes and skips their padding to a full word. Returns NULL if fewer bytes are left. */
static const uint8_t *take(pcl_reader *reader, uint64_t length) {
    if (length > left(reader)) return NULL;
    size_t room = ((size_t)length + 7) & ~(size_t)7;
    if (room > left(reader)) return NULL;
    const uint8_t *bytes = reader->bytes + reader->offset;
    reader->offset += room;
    return bytes;
}

bool pcl_read_u32(pcl_reader *reader, uint32_t *value) {
    if (left(reader) < 4) return false;
    *value = (uint32_t)load(reader->bytes + reader->offset, 4);
    reader->offset += 4;
    return true;
}

bool pcl_read_u64(pcl_reader *reader, uint64_t *value) {
    if (left(reader) < 8) return false;
    *value = load(reader->bytes + reader->offset, 8);
    reader->offset += 8;
    return true;
}

bool pcl_read_text(pcl_reader *reader, const char **text, size_t *length) {
    const uint8_t *start = reader->bytes + reader->offset, *end = left(reader) > 0 ? memchr(start, 0, left(reader)) : NULL;
    if (end == NULL || take(reader, (uint64_t)(end - start) + 1) == NULL) return false;
    *text = (const char *)start;
    *length = (size_t)(end - start);
    return true;
}

bool pcl_read_file(pcl_reader *reader, const uint8_t **bytes, size_t *length) {
    pcl_reader ahead = *reader;
    uint64_t size;
    if (!pcl_read_u64(&ahead, &size) || size > left(&ahead)) return false;
    *bytes = ahead.bytes + ahead.offset;
    *length = (size_t)size;
    ahead.offset += (size_t)size;
    *reader = ahead;
    return true;
}

/* MARK: - Rows */

static const uint64_t end_of_page = 0xeeeeeeeeeeeeeeeeULL, end_of_rows = 0xffffffffffffffffULL;

bool pcl_begin_page(pcl_reader *page, uint64_t *column_count) {
    if (!pcl_read_u64(page, column_count)) return false;
    /* Each column name takes at least one word. */
    if (*column_count > left(page) / 8) return false;
    for (uint64_t i = 0; i < *column_count; i++) {
        const char *name;
        size_t length;
        if (!pcl_read_text(page, &name, &length)) return false;
    }
    return true;
}

static bool read_blob(pcl_reader *page, pcl_value *value) {
    uint64_t length;
    if (!pcl_read_u64(page, &length)) return false;
    value->bytes = take(page, length);
    value->length = (size_t)length;
    return value->bytes != NULL;
}

/* Types of the wire protocol that SQLite does not have. */
enum { UNIX_TIME = 9, ISO8601 = 10, BOOLEAN = 11 };

static bool read_value(pcl_reader *page, unsigned type, pcl_value *value) {
    uint64_t word;
    const char *text;
    value->type = (uint8_t)type;
    switch (type) {
        case PCL_INTEGER:
        case UNIX_TIME:
        case BOOLEAN:
            if (!pcl_read_u64(page, &word)) return false;
            value->type = PCL_INTEGER;
            value->integer = type == BOOLEAN ? word != 0 : (int64_t)word;
            return true;
        case PCL_FLOAT:
            if (!pcl_read_u64(page, &word)) return false;
            memcpy(&value->number, &word, sizeof word);
            return true;
        case PCL_TEXT:
        case ISO8601:
            if (!pcl_read_text(page, &text, &value->length)) return false;
            value->type = PCL_TEXT;
            value->bytes = (const uint8_t *)text;
            return true;
        case PCL_BLOB: return read_blob(page, value);
        case PCL_NULL: return pcl_read_u64(page, &word);
        default: return false;
    }
}

pcl_step pcl_next_row(pcl_reader *page, int column_count, pcl_value *values) {
    pcl_reader ahead = *page;
    uint64_t marker;
    if (!pcl_read_u64(&ahead, &marker)) return PCL_MALFORMED;
    if (marker == end_of_rows) return PCL_END_OF_ROWS;
    if (marker == end_of_page) return PCL_END_OF_PAGE;
    if (column_count <= 0) return PCL_MALFORMED;
    const uint8_t *types = take(page, ((uint64_t)column_count + 1) / 2);
    if (types == NULL) return PCL_MALFORMED;
    for (int i = 0; i < column_count; i++) {
        if (!read_value(page, (types[i / 2] >> (4 * (i % 2))) & 15, &values[i])) return PCL_MALFORMED;
    }
    return PCL_ROW;
}
