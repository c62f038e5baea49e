/*
** Accounting of SQLite's memory by owner.
*/
#ifndef PERILUNE_MEMORY_H
#define PERILUNE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory that SQLite has allocated on an owner's thread and not freed. Used on that thread only, except for blocks that
** others free. */
typedef struct {
    int64_t taken; /* bytes, without blocks that other threads have freed */
    int64_t bound; /* above it, the owner decides about each allocation */
    bool allows_all; /* allocations are allowed without asking the owner */
    int countdown; /* the number of allocations, weighted by size, until the owner is asked anyway */
    uint32_t id;   /* the mark of the account's blocks */
    bool (*allows)(void *owner, size_t size); /* returns whether this number of bytes may be allocated; sets `bound` */
    void *owner;
} psql_account;

/* Opens an account. Returns false if there are too many. */
bool psql_open_account(psql_account *account, bool (*allows)(void *owner, size_t size), void *owner);

/* Closes an account. Blocks may remain. */
void psql_close_account(psql_account *account);

/* Returns the number of bytes that are allocated for an account. */
int64_t psql_account_balance(const psql_account *account);

/* Sets the function that returns the account of the current thread, or NULL. */
void psql_charge_to(psql_account *(*current)(void));

/* Makes the current thread's account allow everything that SQLite allocates, or ends that. */
void psql_allow_all(bool is_allowed);

/* Returns whether memory is counted. It is not if the program had used SQLite or set an allocator before this library was
** loaded. */
bool psql_counts_memory(void);

#endif
