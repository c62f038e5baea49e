/*
** The dqlite wire protocol, version 1.
**
** A message is a header of 8 bytes and a body of 8-byte words, all little-endian. Received bytes are not trusted: each function
** reads only the bytes that it is given and takes no more steps than there are bytes.
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

/* The longest message that is sent or accepted, in bytes. */
#define PCL_MOST_BYTES ((size_t)64 << 20)

/* MARK: - Writing */

/* Messages to send, in order. All zeros is an empty buffer. */
typedef struct {
    uint8_t *bytes; /* owned; see pcl_free_buffer */
    size_t length, capacity;
    size_t message; /* the start of the unfinished message */
    bool has_failed; /* memory was exhausted, or the message is too long */
} pcl_buffer;

void pcl_free_buffer(pcl_buffer *buffer);

/* Begins a message of a type. */
void pcl_begin_message(pcl_buffer *buffer, uint8_t type);

void pcl_put_u32(pcl_buffer *buffer, uint32_t value);
void pcl_put_u64(pcl_buffer *buffer, uint64_t value);

/* Writes a text without NULs, followed by a NUL. */
void pcl_put_text(pcl_buffer *buffer, const char *text, size_t length);

/* Ends the message. Returns false and removes the message if it cannot be sent. */
bool pcl_end_message(pcl_buffer *buffer);

typedef enum {
    PCL_PARAMETERS_WRITTEN,
    PCL_TOO_MANY_PARAMETERS,
    PCL_NUL_IN_TEXT, /* the node would cut the text there */
} pcl_parameters;

/* Writes the values of parameters, if any. Sets `position`, counted from 1, to a value that cannot be sent. */
pcl_parameters pcl_put_parameters(pcl_buffer *buffer, int count, sqlite3_value **values, int *position);

/* MARK: - Reading */

/* Reads a header: the length of the body in bytes and the type. Returns false, with both set, if the body is longer than
** `most` or the message has another version. */
bool pcl_read_header(const uint8_t bytes[PCL_HEADER_SIZE], size_t most, size_t *body_length, uint8_t *type);

/* Each function returns false and reads nothing if the body is too short. */
bool pcl_read_u32(pcl_reader *reader, uint32_t *value);
bool pcl_read_u64(pcl_reader *reader, uint64_t *value);

/* Reads a text that ends with a NUL. The text stays in the body. */
bool pcl_read_text(pcl_reader *reader, const char **text, size_t *length);

/* Reads bytes preceded by their length, as in the response to DUMP, which does not pad them. */
bool pcl_read_file(pcl_reader *reader, const uint8_t **bytes, size_t *length);

/* MARK: - Rows */

/* Reads the number of columns of a page and skips their names. Returns false if the page is malformed. */
bool pcl_begin_page(pcl_reader *page, uint64_t *column_count);

/* Reads the next row like pcl_read_row. Types that only dqlite has become integers or texts. */
pcl_step pcl_next_row(pcl_reader *page, int column_count, pcl_value *values);

#endif
