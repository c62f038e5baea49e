/* Small blocks of memory for one Lua state, by size. */
#include "CPeriluneShim/State/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { first_chunk_size = 64 << 10, largest_chunk_size = 8 << 20 };

static int class_of(size_t size) {
    return (int)((size + plua_pool_step - 1) / plua_pool_step) - 1;
}

static bool add_chunk(plua_pool *pool) {
    size_t size = pool->next_chunk_size ? pool->next_chunk_size : first_chunk_size;
    plua_pool_chunk *chunk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return false;
    *chunk = (plua_pool_chunk){pool->chunks, size};
    pool->chunks = chunk;
    pool->top = (char *)chunk + plua_pool_step;
    pool->end = (char *)chunk + size;
    pool->next_chunk_size = size < largest_chunk_size ? size * 2 : size;
    return true;
}

static void *take(plua_pool *pool, size_t size) {
    int class = class_of(size);
    plua_pool_block *block = pool->free[class];
    if (block) {
        pool->free[class] = block->next;
        return block;
    }
    size_t rounded = (size_t)(class + 1) * plua_pool_step;
    if ((size_t)(pool->end - pool->top) < rounded && !add_chunk(pool)) return NULL;
    char *top = pool->top;
    pool->top += rounded;
    return top;
}

static void give(plua_pool *pool, void *block, size_t size) {
    plua_pool_block *freed = block;
    int class = class_of(size);
    freed->next = pool->free[class];
    pool->free[class] = freed;
}

static void *allocate(plua_pool *pool, size_t size) {
    return size <= plua_pool_largest ? take(pool, size) : malloc(size);
}

static void release(plua_pool *pool, void *block, size_t size) {
    if (size <= plua_pool_largest) {
        give(pool, block, size);
    } else {
        free(block);
    }
}

void *plua_pool_resize(plua_pool *pool, void *block, size_t size, size_t new_size) {
    if (block == NULL || size == 0) return new_size ? allocate(pool, new_size) : NULL;
    if (new_size == 0) {
        release(pool, block, size);
        return NULL;
    }
    bool is_small = size <= plua_pool_largest, stays_small = new_size <= plua_pool_largest;
    if (is_small && stays_small && class_of(size) == class_of(new_size)) return block;
    if (!is_small && !stays_small) return realloc(block, new_size);
    void *moved = allocate(pool, new_size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, size < new_size ? size : new_size);
    release(pool, block, size);
    return moved;
}

void plua_pool_close(plua_pool *pool) {
    while (pool->chunks) {
        plua_pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        munmap(chunk, chunk->size);
    }
}
