/* Growing arrays in memory from SQLite's allocator, which counts toward the run's limit. Free them with sqlite3_free. */
#ifndef PERILUNE_SQLITE_ARRAYS_H
#define PERILUNE_SQLITE_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <sqlite3.h>

/*
** Reserves space for one more element in an array; `array` points to its pointer, and NULL is an empty array. The capacity doubles when the
** array is full. Returns false and changes nothing if memory runs out.
*/
static inline bool psql_add_room(void *array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return true;
    size_t grown = *capacity ? *capacity * 2 : 16;
    void *block;
    memcpy(&block, array, sizeof block); /* a pointer of any type */
    block = sqlite3_realloc64(block, grown * size);
    if (block == NULL) return false;
    memcpy(array, &block, sizeof block);
    *capacity = grown;
    return true;
}

/* Reserves space for one more element: PSQL_ADD_ROOM(list, count, capacity). */
#define PSQL_ADD_ROOM(array, count, capacity) psql_add_room(&(array), count, &(capacity), sizeof *(array))

#endif
