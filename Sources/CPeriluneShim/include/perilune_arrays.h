/* Arrays that grow. Knows no Lua. */
#ifndef PERILUNE_ARRAYS_H
#define PERILUNE_ARRAYS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
** Makes room for a number of elements of a size in an array of the heap, to whose pointer `array` points; NULL is an empty one. It at least
** doubles, so that adding an element costs the same on average. Returns false, and does not change the array, without memory.
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

/* The same for one more element: PLUA_ADD_ROOM(list, count, capacity). */
#define PLUA_ADD_ROOM(array, count, capacity) plua_make_room(&(array), (count) + 1, &(capacity), sizeof *(array))

#endif
