/* A memory pool for one Lua state, with blocks grouped by size. */
#define _GNU_SOURCE /* mremap, madvise */
#include "CPeriluneShim/State/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { chunk_size = 1 << 20, smallest_page = 16 * 1024, most_pages = chunk_size / smallest_page, unused = UINT16_MAX };

/* A page contains 8 or 16 blocks of the largest class of its tier. */
static const size_t page_sizes[plua_pool_tiers] = {smallest_page, 64 * 1024, 256 * 1024};

/* A page: a part of a chunk, with blocks of one class. */
struct plua_pool_page {
    plua_pool_page *next; /* in the list of empty pages */
    uint16_t class;       /* `unused` while the page is empty */
    uint16_t free_count;  /* only valid in plua_pool_trim */
};

/* A chunk: system memory aligned to its size. This record occupies the space of its first blocks. */
struct plua_pool_chunk {
    plua_pool_chunk *next;
    uint32_t tier;
    uint32_t page_count; /* the number of pages used so far; unused pages follow them */
    plua_pool_page pages[most_pages];
};

enum { record_size = 2048 };
_Static_assert(sizeof(plua_pool_chunk) <= record_size, "the record of a chunk fits before its first block");

/* MARK: - Sizes */

static size_t class_of(size_t size) {
    size_t last = size - 1;
    if (size <= plua_pool_small) return last / plua_pool_step;
    size_t doubling = 63 - (size_t)__builtin_clzll(last);
    return plua_pool_small_classes + (doubling - 9) * 8 + (last >> (doubling - 3) & 7);
}

/* Returns the block size of a class. */
static size_t size_of(size_t class) {
    if (class < plua_pool_small_classes) return (class + 1) * plua_pool_step;
    size_t rest = class - plua_pool_small_classes;
    return (9 + rest % 8) << (6 + rest / 8);
}

static size_t tier_of(size_t class) {
    return class < plua_pool_small_classes ? 0 : class < plua_pool_small_classes + 3 * 8 ? 1 : 2;
}

/* MARK: - Pages */

static plua_pool_chunk *chunk_of(const void *place) {
    return (plua_pool_chunk *)((uintptr_t)place & ~(uintptr_t)(chunk_size - 1));
}

static char *start_of(plua_pool_page *page) {
    plua_pool_chunk *chunk = chunk_of(page);
    size_t index = (size_t)(page - chunk->pages);
    return (char *)chunk + (index == 0 ? record_size : index * page_sizes[chunk->tier]);
}

static char *end_of(plua_pool_page *page) {
    plua_pool_chunk *chunk = chunk_of(page);
    return (char *)chunk + (size_t)(page - chunk->pages + 1) * page_sizes[chunk->tier];
}

/* Returns the number of blocks that have been allocated from the page for its current class. */
static size_t handed_out_of(plua_pool *pool, plua_pool_page *page) {
    bool is_newest = pool->end[page->class] == end_of(page);
    char *end = is_newest ? pool->top[page->class] : end_of(page);
    return (size_t)(end - start_of(page)) / size_of(page->class);
}

static plua_pool_page *page_of(const void *block) {
    plua_pool_chunk *chunk = chunk_of(block);
    return &chunk->pages[(size_t)((const char *)block - (char *)chunk) / page_sizes[chunk->tier]];
}

/* Maps a chunk of memory, aligned to its size. */
static void *map_aligned(void) {
    char *wide = mmap(NULL, 2 * chunk_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (wide == MAP_FAILED) return NULL;
    char *start = (char *)chunk_of(wide + chunk_size - 1);
    if (start > wide) munmap(wide, (size_t)(start - wide));
    munmap(start + chunk_size, (size_t)(wide + chunk_size - start));
    return start;
}

static plua_pool_chunk *add_chunk(plua_pool *pool, size_t tier) {
    plua_pool_chunk *chunk = map_aligned();
    if (chunk == NULL) return NULL;
    chunk->tier = (uint32_t)tier;
    chunk->next = pool->chunks;
    pool->chunk_count++;
    return pool->chunks = pool->newest[tier] = chunk;
}

/* Trims the pool each time its size has doubled, because a long-lived state has phases with different block sizes. */
static void trim_now_and_then(plua_pool *pool) {
    enum { first = 64 };
    if (pool->chunk_count < first || pool->chunk_count < pool->next_trim) return;
    plua_pool_trim(pool);
    pool->next_trim = pool->chunk_count * 2;
}

/* Returns an empty page. */
static plua_pool_page *take_page(plua_pool *pool, size_t tier) {
    plua_pool_chunk *chunk = pool->newest[tier];
    bool is_full = chunk == NULL || chunk->page_count == chunk_size / page_sizes[tier];
    if (is_full && pool->empty[tier] == NULL) trim_now_and_then(pool);
    plua_pool_page *page = pool->empty[tier];
    if (page) {
        pool->empty[tier] = page->next;
        return page;
    }
    if (is_full) chunk = add_chunk(pool, tier);
    return chunk ? &chunk->pages[chunk->page_count++] : NULL;
}

static bool begin_page(plua_pool *pool, size_t class) {
    plua_pool_page *page = take_page(pool, tier_of(class));
    if (page == NULL) return false;
    page->class = (uint16_t)class;
    pool->top[class] = start_of(page);
    pool->end[class] = end_of(page);
    return true;
}

static void end_page(plua_pool *pool, plua_pool_page *page) {
    size_t tier = chunk_of(page)->tier, class = page->class;
    pool->held -= handed_out_of(pool, page) * size_of(class);
    if (pool->end[class] == end_of(page)) pool->top[class] = pool->end[class] = NULL;
    /* The chunk's record is on its first page, so the start of that page is kept. */
    size_t offset = page == chunk_of(page)->pages ? smallest_page : 0;
    char *start = end_of(page) - page_sizes[tier];
    if (page_sizes[tier] > offset) madvise(start + offset, page_sizes[tier] - offset, MADV_DONTNEED);
    page->class = unused;
    page->next = pool->empty[tier];
    pool->empty[tier] = page;
}

static bool has_only_free_blocks(plua_pool *pool, plua_pool_page *page) {
    return page->class != unused && page->free_count == handed_out_of(pool, page);
}

void plua_pool_trim(plua_pool *pool) {
    for (size_t class = 0; class < plua_pool_classes; class++) {
        for (plua_pool_block *block = pool->free[class]; block; block = block->next) page_of(block)->free_count++;
    }
    for (size_t class = 0; class < plua_pool_classes; class++) {
        plua_pool_block **link = &pool->free[class];
        while (*link) {
            if (has_only_free_blocks(pool, page_of(*link))) *link = (*link)->next;
            else link = &(*link)->next;
        }
    }
    for (plua_pool_chunk *chunk = pool->chunks; chunk; chunk = chunk->next) {
        for (plua_pool_page *page = chunk->pages; page < chunk->pages + chunk->page_count; page++) {
            if (has_only_free_blocks(pool, page)) end_page(pool, page);
            page->free_count = 0;
        }
    }
}

void plua_pool_close(plua_pool *pool) {
    while (pool->chunks) {
        plua_pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        munmap(chunk, chunk_size);
    }
}

static void *take(plua_pool *pool, size_t size) {
    size_t class = class_of(size), taken = size_of(class);
    plua_pool_block *block = pool->free[class];
    if (block) {
        pool->free[class] = block->next;
        return block;
    }
    if ((size_t)(pool->end[class] - pool->top[class]) < taken && !begin_page(pool, class)) return NULL;
    char *top = pool->top[class];
    pool->top[class] += taken;
    pool->held += taken;
    return top;
}

/* MARK: - Large blocks */

typedef struct {
    _Alignas(16) size_t mapped; /* the size of the mapping including this record; 0 for memory from malloc */
} large;

enum { system_page = 4096 };

static size_t mapped_size_of(size_t size) { return (size + sizeof(large) + system_page - 1) & ~(size_t)(system_page - 1); }

/* Returns the number of bytes that count toward `held`. */
static size_t held_by(const large *block, size_t size) { return block->mapped ? block->mapped : size + sizeof *block; }

static void *take_large(plua_pool *pool, size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    size_t mapped = pool->is_bounded ? mapped_size_of(size) : 0;
    large *block = mapped ? mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : malloc(sizeof *block + size);
    if (block == NULL || block == MAP_FAILED) return NULL;
    block->mapped = mapped;
    pool->held += held_by(block, size);
    return block + 1;
}

static void release_large(plua_pool *pool, void *bytes, size_t size) {
    large *block = (large *)bytes - 1;
    pool->held -= held_by(block, size);
    if (block->mapped) munmap(block, block->mapped);
    else free(block);
}

/* Resizes a block in place or moves it by mapping its memory elsewhere. Returns NULL if this is not possible. */
static void *resize_large(plua_pool *pool, void *bytes, size_t size, size_t new_size) {
    large *block = (large *)bytes - 1;
    size_t held = held_by(block, size), mapped = mapped_size_of(new_size);
    if (new_size > SIZE_MAX / 2) return NULL;
    if (!block->mapped) {
        block = realloc(block, sizeof *block + new_size);
        if (block == NULL) return NULL;
    } else if (block->mapped != mapped) {
#ifdef __linux__
        block = mremap(block, block->mapped, mapped, MREMAP_MAYMOVE);
        if (block == MAP_FAILED) return NULL;
        block->mapped = mapped;
#else
        return NULL;
#endif
    }
    pool->held += held_by(block, new_size) - held;
    return block + 1;
}

/* MARK: - All sizes */

void plua_pool_release_larger(plua_pool *pool, void *block, size_t size) {
    if (size > plua_pool_largest) {
        release_large(pool, block, size);
        return;
    }
    size_t class = class_of(size);
    plua_pool_block *freed = block;
    freed->next = pool->free[class];
    pool->free[class] = freed;
}

static void *allocate(plua_pool *pool, size_t size) {
    return size <= plua_pool_largest ? take(pool, size) : take_large(pool, size);
}

void *plua_pool_resize(plua_pool *pool, void *block, size_t size, size_t new_size) {
    if (block == NULL || size == 0) return allocate(pool, new_size);
    bool is_large = size > plua_pool_largest, stays_large = new_size > plua_pool_largest;
    if (!is_large && !stays_large && class_of(size) == class_of(new_size)) return block;
    void *resized = is_large && stays_large ? resize_large(pool, block, size, new_size) : NULL;
    if (resized) return resized;
    void *moved = allocate(pool, new_size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, size < new_size ? size : new_size);
    plua_pool_release(pool, block, size);
    return moved;
}
