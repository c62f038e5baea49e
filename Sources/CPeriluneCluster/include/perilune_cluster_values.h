/*
** Rows that come from elsewhere, whatever the protocol.
*/
#ifndef PERILUNE_CLUSTER_VALUES_H
#define PERILUNE_CLUSTER_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that have come, and how far they are read. The bytes are not owned. */
typedef struct {
    const uint8_t *bytes;
    size_t length, offset;
} pcl_reader;

/* The classes of values, as SQLite numbers them. */
enum {
    PCL_INTEGER = 1,
    PCL_FLOAT = 2,
    PCL_TEXT = 3,
    PCL_BLOB = 4,
    PCL_NULL = 5,
};

/* One value of a row. What it points to are bytes of the page. */
typedef struct {
    uint8_t type;
    int64_t integer;      /* PCL_INTEGER */
    double number;        /* PCL_FLOAT */
    const uint8_t *bytes; /* PCL_TEXT, with a NUL behind it; PCL_BLOB */
    size_t length;
} pcl_value;

typedef enum {
    PCL_ROW,
    PCL_END_OF_PAGE, /* another page with rows follows */
    PCL_END_OF_ROWS,
    PCL_MALFORMED,
} pcl_step;

/* Reads the next row of a page, whose values must have room for all columns, or what ends the page. */
typedef pcl_step pcl_read_row(pcl_reader *page, int column_count, pcl_value *values);

#endif
