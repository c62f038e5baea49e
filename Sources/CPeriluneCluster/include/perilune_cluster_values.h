/*
** Values and rows from a remote database, independent of the wire protocol.
*/
#ifndef PERILUNE_CLUSTER_VALUES_H
#define PERILUNE_CLUSTER_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reader of received bytes. It does not own the bytes. */
typedef struct {
    const uint8_t *bytes;
    size_t length, offset;
} pcl_reader;

/* Storage classes, numbered as in SQLite. */
enum {
    PCL_INTEGER = 1,
    PCL_FLOAT = 2,
    PCL_TEXT = 3,
    PCL_BLOB = 4,
    PCL_NULL = 5,
};

/* A value in a row. Its pointers refer to the bytes of the page. */
typedef struct {
    uint8_t type;
    int64_t integer;      /* PCL_INTEGER */
    double number;        /* PCL_FLOAT */
    const uint8_t *bytes; /* PCL_TEXT, followed by a NUL; PCL_BLOB */
    size_t length;
} pcl_value;

typedef enum {
    PCL_ROW,
    PCL_END_OF_PAGE, /* another page with rows follows */
    PCL_END_OF_ROWS,
    PCL_MALFORMED,
} pcl_step;

/* Reads the next row or the end of a page. `values` must have room for all columns. */
typedef pcl_step pcl_read_row(pcl_reader *page, int column_count, pcl_value *values);

#endif
