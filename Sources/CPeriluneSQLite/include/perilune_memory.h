/*
** SQLite's memory, counted by whom it is allocated for.
*/
#ifndef PERILUNE_MEMORY_H
#define PERILUNE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What SQLite has allocated on the thread of an owner, and not freed. Used on that thread only, but for blocks that others free. */
typedef struct {
    int64_t taken; /* bytes; without what other threads have freed */
    int64_t bound; /* beyond it the owner is asked at each allocation */
    bool allows_all; /* nothing is refused, and the owner not asked */
    int countdown; /* allocations, and pieces of memory, until the owner is asked anyway */
    uint32_t id;   /* what blocks are marked with */
    bool (*allows)(void *owner, size_t size); /* whether this number of bytes may be allocated; sets `bound` */
    void *owner;
} psql_account;

/* Opens an account; false if there are too many. */
bool psql_open_account(psql_account *account, bool (*allows)(void *owner, size_t size), void *owner);

/* Closes it; blocks may be left. */
void psql_close_account(psql_account *account);

/* Bytes that were allocated for it and not freed. */
int64_t psql_account_balance(const psql_account *account);

/* Sets the function that says whose account allocations of the current thread are charged to; NULL: none. */
void psql_charge_to(psql_account *(*current)(void));

/* Has the account of the current thread allow whatever SQLite allocates, or no more. */
void psql_allow_all(bool is_allowed);

/* Whether memory is counted: not in a program that had used SQLite, or set an allocator of its own, before this library was loaded. */
bool psql_counts_memory(void);

#endif
