/*
** Prefetching into the processor's cache. When many records are written, most of the time is spent waiting for memory. These functions
** request memory early: first the table itself, and once that is cached, its fields. With prefetching, insert_all takes 0.59 times as long
** as a C program that binds the same values from its own memory; without it, 0.79 times (20,000 records, scripts/bench).
*/
#ifndef PERILUNE_PREFETCH_H
#define PERILUNE_PREFETCH_H

#include <perilune_records.h>
#include <string.h>

static inline void prec_prefetch_table(const void *table) { __builtin_prefetch(table); }

static inline void prec_prefetch_fields(const void *table) {
    enum { line = 64, most = 192 };
    if (table == NULL) return;
    const char *fields = prec_fields_of(table);
    for (int offset = 0; offset < most; offset += line) __builtin_prefetch(fields + offset);
    __builtin_prefetch(fields + most - 1);
}

#endif
