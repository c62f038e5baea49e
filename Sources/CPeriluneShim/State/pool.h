/*
** The blocks of one Lua state, by size.
**
** Most of what Lua allocates is small and lives in one state, on one thread: a list of free blocks for each size is faster
** than a general allocator, and needs no header, because Lua passes the size of what it frees. (Measured: a loop that builds
** rows takes 10 % less time than with malloc on the main thread, 25 % less on other threads.)
**
** Each size has pages of its own, so that neither the blocks of other sizes nor SQLite's come between its blocks. Pages without a
** block in use are given back by plua_pool_trim. Blocks that are too large for pages come from malloc, or from the system if the pool
** is bounded: what a bounded pool holds is known exactly, whatever order blocks are made and freed in.
*/
#ifndef PERILUNE_POOL_H
#define PERILUNE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    plua_pool_step = 16,
    plua_pool_small = 512,         /* up to this size, classes are plua_pool_step apart; beyond, eight to each doubling */
    plua_pool_largest = 32 * 1024, /* larger blocks do not come from pages */
    plua_pool_small_classes = plua_pool_small / plua_pool_step,
    plua_pool_classes = plua_pool_small_classes + 6 * 8,
    plua_pool_tiers = 3, /* of page sizes */
};

typedef struct plua_pool_block {
    struct plua_pool_block *next;
} plua_pool_block;

typedef struct plua_pool_page plua_pool_page;
typedef struct plua_pool_chunk plua_pool_chunk;

typedef struct {
    plua_pool_block *free[plua_pool_classes];
    char *top[plua_pool_classes], *end[plua_pool_classes]; /* the rest of the newest page, not handed out yet */
    plua_pool_page *empty[plua_pool_tiers];                /* pages that plua_pool_trim has given back */
    plua_pool_chunk *newest[plua_pool_tiers];
    plua_pool_chunk *chunks;
    size_t chunk_count, next_trim; /* the latter: at this many chunks */
    size_t held;     /* bytes of the blocks handed out, in use or free, with what their sizes are rounded up by */
    bool is_bounded; /* large blocks made from now on are mapped one by one */
} plua_pool;

/* Returns a freed block of a size up to plua_pool_small; NULL if there is none. */
static inline void *plua_pool_reuse(plua_pool *pool, size_t size) {
    plua_pool_block **list = &pool->free[(size - 1) / plua_pool_step], *block = *list;
    if (block) *list = block->next;
    return block;
}

/* Takes back a block larger than plua_pool_small. */
void plua_pool_release_larger(plua_pool *pool, void *block, size_t size);

/* Takes back a block of 1 byte or more. */
static inline void plua_pool_release(plua_pool *pool, void *block, size_t size) {
    if (size > plua_pool_small) {
        plua_pool_release_larger(pool, block, size);
        return;
    }
    plua_pool_block **list = &pool->free[(size - 1) / plua_pool_step], *freed = block;
    freed->next = *list;
    *list = freed;
}

/* Resizes a block as realloc does: `block` may be NULL with `size` 0; `new_size` is 1 or more. NULL if memory is short. */
void *plua_pool_resize(plua_pool *pool, void *block, size_t size, size_t new_size);

/* Gives the memory of pages without a block in use back to the system. Takes time for each free block. */
void plua_pool_trim(plua_pool *pool);

/* Gives all pages back. */
void plua_pool_close(plua_pool *pool);

#endif
