/*
** Accounts that count the memory SQLite has allocated for each owner.
*/
#ifndef PERILUNE_MEMORY_H
#define PERILUNE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory that SQLite has allocated on an owner's thread and not freed. Only that thread uses the account; other threads only free its
** blocks. */
typedef struct {
    int64_t taken; /* bytes, without blocks that other threads have freed */
    int64_t bound; /* in bytes; above it, `allows` decides about each allocation */
    bool allows_all; /* allocations are allowed without calling `allows` */
    int countdown; /* the number of allocations, weighted by size, until `allows` is called even below the bound */
    uint32_t id;   /* identifies the account in its blocks */
    bool (*allows)(void *owner, size_t size); /* returns whether `size` bytes may be allocated; sets `bound` */
    void *owner;
} psql_account;

/* Opens an account. Returns false if there are too many. */
bool psql_open_account(psql_account *account, bool (*allows)(void *owner, size_t size), void *owner);

/* Closes an account, even if some of its blocks are still allocated. */
void psql_close_account(psql_account *account);

/* Returns the number of bytes that are allocated for an account. */
int64_t psql_account_balance(const psql_account *account);

/* Sets the function that returns the account of the current thread, or NULL. */
void psql_charge_to(psql_account *(*current)(void));

/* Sets whether the account of the current thread allows all allocations by SQLite. */
void psql_allow_all(bool is_allowed);

/* Returns whether memory is counted: false if the program used SQLite or set an allocator before this library was loaded. */
bool psql_counts_memory(void);

#endif
