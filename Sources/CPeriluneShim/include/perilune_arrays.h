/* Growing arrays, independent of Lua. */
#ifndef PERILUNE_ARRAYS_H
#define PERILUNE_ARRAYS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
** Reserves space for a number of elements of a given size in a heap array; `array` points to the array's pointer, and NULL is an empty
** array. The capacity at least doubles, so that the amortized cost of adding an element is constant. Returns false and leaves the array
** unchanged if memory runs out.
*/
static inline bool plua_make_room(void *array, size_t needed, size_t *capacity, size_t size) {
    if (needed <= *capacity) return true;
    size_t grown = *capacity ? *capacity * 2 : 16;
    if (grown < needed) grown = needed;
    void *block;
    memcpy(&block, array, sizeof block); /* a pointer of any type */
    block = realloc(block, grown * size);
    if (block == NULL) return false;
    memcpy(array, &block, sizeof block);
    *capacity = grown;
    return true;
}

/* Reserves space for one more element: PLUA_ADD_ROOM(list, count, capacity). */
#define PLUA_ADD_ROOM(array, count, capacity) plua_make_room(&(array), (count) + 1, &(capacity), sizeof *(array))

#endif
