/* Sets of columns. */
#ifndef PERILUNE_MASK_H
#define PERILUNE_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { prec_most_columns = 32768 };

/* A set of columns of a table, with one bit per column. */
typedef struct {
    unsigned char bits[prec_most_columns / 8];
    size_t size; /* in bytes */
    int count;
} prec_mask;

static inline void prec_begin_mask(prec_mask *mask, int column_count) {
    mask->size = ((size_t)column_count + 7) / 8;
    mask->count = 0;
    memset(mask->bits, 0, 8);
    if (mask->size > 8) memset(mask->bits + 8, 0, mask->size - 8);
}

static inline void prec_add_to_mask(prec_mask *mask, int column) {
    mask->bits[column / 8] |= (unsigned char)(1 << column % 8);
    mask->count++;
}

static inline bool prec_is_in_mask(const prec_mask *mask, int column) { return mask->bits[column / 8] >> column % 8 & 1; }

#endif
