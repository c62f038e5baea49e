/*
** The dqlite wire protocol, version 1.
**
** A message is a header of 8 bytes and a body of 8-byte words, all little-endian. Received bytes are not trusted. Each function
** reads only bytes within the body, and its running time is bounded by the length of the body.
*/
#ifndef PERILUNE_WIRE_H
#define PERILUNE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include <perilune_cluster_values.h>

enum {
    PCL_HEADER_SIZE = 8,
    PCL_MOST_PARAMETERS = 255, /* a tuple stores the count in one byte */
};

/* The maximum length of a message, in bytes. */
#define PCL_MOST_BYTES ((size_t)64 << 20)

/* MARK: - Writing */

/* A buffer of messages to send, in order. An empty buffer consists of zeros. */
typedef struct {
    uint8_t *bytes; /* owned; see pcl_free_buffer */
    size_t length, capacity;
    size_t message; /* the start of the unfinished message */
    bool has_failed; /* memory was exhausted, or the message is too long */
} pcl_buffer;

void pcl_free_buffer(pcl_buffer *buffer);

/* Begins a message of the given type. */
void pcl_begin_message(pcl_buffer *buffer, uint8_t type);

void pcl_put_u32(pcl_buffer *buffer, uint32_t value);
void pcl_put_u64(pcl_buffer *buffer, uint64_t value);

/* Writes a text, which must not contain NULs, and a terminating NUL. */
void pcl_put_text(pcl_buffer *buffer, const char *text, size_t length);

/* Ends the message. If the message cannot be sent, removes it and returns false. */
bool pcl_end_message(pcl_buffer *buffer);

typedef enum {
    PCL_PARAMETERS_WRITTEN,
    PCL_TOO_MANY_PARAMETERS,
    PCL_NUL_IN_TEXT, /* the node would truncate the text at the NUL */
} pcl_parameters;

/* Writes the values of the parameters, if any. If a value cannot be sent, sets `position` to its position, which counts from 1. */
pcl_parameters pcl_put_parameters(pcl_buffer *buffer, int count, sqlite3_value **values, int *position);

/* MARK: - Reading */

/* Reads a message header. Sets the length of the body in bytes and the type of the message. Returns false, with both set, if the
** body is longer than `most` or the message has an unknown version. */
bool pcl_read_header(const uint8_t bytes[PCL_HEADER_SIZE], size_t most, size_t *body_length, uint8_t *type);

/* If the body is too short, each of these functions returns false and reads nothing. */
bool pcl_read_u32(pcl_reader *reader, uint32_t *value);
bool pcl_read_u64(pcl_reader *reader, uint64_t *value);

/* Reads a text that ends with a NUL. `text` points into the body. */
bool pcl_read_text(pcl_reader *reader, const char **text, size_t *length);

/* Reads bytes from a response to DUMP: first their length, then the bytes, without padding. */
bool pcl_read_file(pcl_reader *reader, const uint8_t **bytes, size_t *length);

/* MARK: - Rows */

/* Reads the number of columns at the start of a page, and skips their names. Returns false if the page is malformed. */
bool pcl_begin_page(pcl_reader *page, uint64_t *column_count);

/* Reads the next row, as pcl_read_row describes. Values of dqlite's additional types become integers or text. */
pcl_step pcl_next_row(pcl_reader *page, int column_count, pcl_value *values);

#endif
