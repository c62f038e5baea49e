/*
** The wire protocol of dqlite, version 1: messages as bytes.
**
** A message is a header of 8 bytes and a body in words of 8 bytes, all little-endian. What is read comes from others and is trusted in nothing:
** each function looks at the bytes that it is given and at no others, and takes no more steps than there are bytes.
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
    PCL_MOST_PARAMETERS = 255, /* a tuple counts them in one byte */
};

/* The longest message that is sent or accepted, in bytes. */
#define PCL_MOST_BYTES ((size_t)64 << 20)

/* MARK: - Writing */

/* Messages to be sent, one after the other. All zeros: empty. */
typedef struct {
    uint8_t *bytes; /* owned; see pcl_free_buffer */
    size_t length, capacity;
    size_t message; /* where the message begins that is being written */
    bool has_failed; /* there was no memory, or the message is too long */
} pcl_buffer;

void pcl_free_buffer(pcl_buffer *buffer);

/* Begins a message of a type. */
void pcl_begin_message(pcl_buffer *buffer, uint8_t type);

void pcl_put_u32(pcl_buffer *buffer, uint32_t value);
void pcl_put_u64(pcl_buffer *buffer, uint64_t value);

/* Writes a text, which must contain no NUL: its end is marked by one. */
void pcl_put_text(pcl_buffer *buffer, const char *text, size_t length);

/* Ends the message. Returns false, and takes it back, if it cannot be sent. */
bool pcl_end_message(pcl_buffer *buffer);

typedef enum {
    PCL_PARAMETERS_WRITTEN,
    PCL_TOO_MANY_PARAMETERS,
    PCL_NUL_IN_TEXT, /* it would be cut there */
} pcl_parameters;

/* Writes the values of parameters; nothing if there are none. `position` is set to that of a value which cannot be sent, from 1 on. */
pcl_parameters pcl_put_parameters(pcl_buffer *buffer, int count, sqlite3_value **values, int *position);

/* MARK: - Reading */

/* Reads a header: the length of the body in bytes, and the type. Returns false, with both set, if the body is longer than `most`, or the message is of another
** version. */
bool pcl_read_header(const uint8_t bytes[PCL_HEADER_SIZE], size_t most, size_t *body_length, uint8_t *type);

/* Each returns false, and reads nothing, if the body ends before. */
bool pcl_read_u32(pcl_reader *reader, uint32_t *value);
bool pcl_read_u64(pcl_reader *reader, uint64_t *value);

/* Reads a text, which ends with a NUL and stays where it is. */
bool pcl_read_text(pcl_reader *reader, const char **text, size_t *length);

/* Reads bytes that follow their length, as in the answer to DUMP: they are not padded there. */
bool pcl_read_file(pcl_reader *reader, const uint8_t **bytes, size_t *length);

/* MARK: - Rows */

/* Reads how many columns a page has, and passes over their names. Returns false if it is malformed. */
bool pcl_begin_page(pcl_reader *page, uint64_t *column_count);

/* Reads the next row as pcl_read_row does. What dqlite tells apart from integers and texts becomes an integer or a text. */
pcl_step pcl_next_row(pcl_reader *page, int column_count, pcl_value *values);

#endif
