/* Small blocks of memory for one Lua state, by size. */
#include "CPeriluneShim/State/pool.h"

#include <string.h>
#include <sys/mman.h>

enum { first_chunk_size = 64 << 10, largest_chunk_size = 8 << 20 };

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
    void *block = plua_pool_reuse(pool, size);
    if (block) return block;
    size_t rounded = (plua_pool_class_of(size) + 1) * plua_pool_step;
    if ((size_t)(pool->end - pool->top) < rounded && !add_chunk(pool)) return NULL;
    char *top = pool->top;
    pool->top += rounded;
    return top;
}

static void *allocate(plua_pool *pool, size_t size) {
    return size <= plua_pool_largest ? take(pool, size) : malloc(size);
}

void *plua_pool_resize(plua_pool *pool, void *block, size_t size, size_t new_size) {
    if (block == NULL || size == 0) return allocate(pool, new_size);
    bool is_small = size <= plua_pool_largest, stays_small = new_size <= plua_pool_largest;
    if (is_small && stays_small && plua_pool_class_of(size) == plua_pool_class_of(new_size)) return block;
    if (!is_small && !stays_small) return realloc(block, new_size);
    void *moved = allocate(pool, new_size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, size < new_size ? size : new_size);
    plua_pool_release(pool, block, size);
    return moved;
}

void plua_pool_close(plua_pool *pool) {
    while (pool->chunks) {
        plua_pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        munmap(chunk, chunk->size);
    }
}
