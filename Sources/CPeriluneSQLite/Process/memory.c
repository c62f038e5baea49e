/*
** SQLite's allocator: malloc, with a header before each block that holds its size and its owner.
**
** It is installed when the program is loaded, before anything can have used SQLite. Without accounts it counts nothing.
*/
#include <stdatomic.h>
#include <stdlib.h>

#include <sqlite3.h>

#include <perilune_memory.h>

typedef struct {
    uint32_t size;  /* SQLite allocates less than 2 GB at once */
    uint32_t owner; /* an account's id; 0: none */
} header;

_Static_assert(sizeof(header) == 8, "SQLite's blocks are aligned to 8 bytes");

/* MARK: - Accounts */

/* The part of an account that all threads may use. It lives as long as the process, because other threads may free blocks of a closed
** account. An id consists of the slot's index and generation, so that blocks of a closed account are not credited to a later one. */
typedef struct {
    _Atomic uint32_t generation; /* odd while an account has it */
    _Atomic int64_t freed;       /* in bytes, by other threads */
} slot;

enum { slot_count = 1 << 16 };

static slot slots[slot_count];

static slot *slot_of(uint32_t id) { return &slots[id % slot_count]; }

bool psql_open_account(psql_account *account, bool (*allows)(void *owner, size_t size), void *owner) {
    static _Atomic uint32_t next;
    for (int attempts = 0; attempts < slot_count; attempts++) {
        uint32_t index = atomic_fetch_add(&next, 1) % slot_count;
        uint32_t generation = atomic_load(&slots[index].generation);
        if (index == 0 || generation % 2 == 1) continue; /* no account has the id 0 */
        if (!atomic_compare_exchange_strong(&slots[index].generation, &generation, generation + 1)) continue;
        atomic_store(&slots[index].freed, 0);
        *account = (psql_account){.id = (generation + 1) << 16 | index, .allows = allows, .owner = owner};
        return true;
    }
    return false;
}

void psql_close_account(psql_account *account) {
    if (account->id == 0) return;
    atomic_fetch_add(&slot_of(account->id)->generation, 1);
    account->id = 0;
}

int64_t psql_account_balance(const psql_account *account) {
    return account->taken - atomic_load_explicit(&slot_of(account->id)->freed, memory_order_relaxed);
}

static psql_account *(*_Atomic current)(void);

void psql_charge_to(psql_account *(*function)(void)) { atomic_store(&current, function); }

static psql_account *current_account(void) {
    psql_account *(*function)(void) = atomic_load_explicit(&current, memory_order_relaxed);
    return function ? function() : NULL;
}

void psql_allow_all(bool is_allowed) {
    psql_account *account = current_account();
    if (account) account->allows_all = is_allowed;
}

/* MARK: - The allocator */

/* Returns the memory that a block takes. malloc rounds up and stores the size before the block. */
static int64_t cost_of(uint32_t size) {
    return (int64_t)((size + sizeof(header) + sizeof(size_t) + 15) & ~(size_t)15);
}

enum { allocations_per_look = 64, bytes_per_step = 64 * 1024 };

static bool allows(psql_account *account, int64_t size) {
    account->countdown -= 1 + (int)(size / bytes_per_step);
    if (account->countdown > 0 && account->taken + size <= account->bound) return true;
    account->countdown = allocations_per_look;
    return account->allows_all || account->allows(account->owner, (size_t)size);
}

static void release_from(uint32_t owner, psql_account *account, uint32_t size) {
    if (owner == 0) return;
    if (account && account->id == owner) {
        account->taken -= cost_of(size);
        return;
    }
    slot *slot = slot_of(owner);
    if ((atomic_load_explicit(&slot->generation, memory_order_relaxed) & 0xFFFF) != owner >> 16) return;
    atomic_fetch_add_explicit(&slot->freed, cost_of(size), memory_order_relaxed);
}

static void *allocate(int size) {
    psql_account *account = current_account();
    if (account && !allows(account, size)) return NULL;
    header *block = malloc(sizeof *block + (size_t)size);
    if (block == NULL) return NULL;
    *block = (header){(uint32_t)size, account ? account->id : 0};
    if (account) account->taken += cost_of((uint32_t)size);
    return block + 1;
}

static void release(void *bytes) {
    header *block = (header *)bytes - 1;
    if (block->owner != 0) release_from(block->owner, current_account(), block->size);
    free(block);
}

static void *resize(void *bytes, int size) {
    header *block = (header *)bytes - 1, former = *block;
    /* SQLite shrinks the buffer of each text. A small remainder is not freed, because it would be too small for the next text and for other
    ** blocks. */
    bool is_little_less = size <= (int)former.size && size > (int)former.size / 4 * 3;
    if (is_little_less) return bytes;
    psql_account *account = current_account();
    if (account && size > (int)former.size && !allows(account, size - (int)former.size)) return NULL;
    block = realloc(block, sizeof *block + (size_t)size);
    if (block == NULL) return NULL;
    *block = (header){(uint32_t)size, account ? account->id : 0};
    release_from(former.owner, account, former.size);
    if (account) account->taken += cost_of((uint32_t)size);
    return block + 1;
}

static int size_of(void *bytes) { return bytes ? (int)((header *)bytes - 1)->size : 0; }

static int round_up(int size) { return (size + 7) & ~7; }

static int begin(void *unused) { return (void)unused, SQLITE_OK; }
static void end(void *unused) { (void)unused; }

static bool is_counting;

bool psql_counts_memory(void) { return is_counting; }

__attribute__((constructor)) static void count_memory(void) {
    static const sqlite3_mem_methods methods = {allocate, release, resize, size_of, round_up, begin, end, NULL};
    is_counting = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK;
}
