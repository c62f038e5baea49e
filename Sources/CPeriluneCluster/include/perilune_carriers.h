/*
** Carriers, which are local SQLite statements that run a statement in another database.
**
** A carrier is compiled on a local connection like any other statement, so code that binds, steps and reads statements works
** without changes. Each carrier refers to a separate virtual table. In a reading carrier, the parameters are hidden columns
** (`SELECT c0 AS "id" FROM carrier WHERE p0 IS ?1`), and the rows are the remote rows. In a writing carrier, the parameters are
** columns (`INSERT INTO carrier VALUES (?1, :name)`). SQLite passes the bound values to the virtual table when the statement
** starts.
*/
#ifndef PERILUNE_CARRIERS_H
#define PERILUNE_CARRIERS_H

#include <sqlite3.h>

#include <perilune_cluster_values.h>

/* The rows of a running statement. */
typedef struct {
    void *source;    /* set by `read`; owns the bytes of the page until the next page or `end` */
    pcl_reader page;
    pcl_read_row *next_row; /* reads the next row */
} pcl_rows;

/* The functions that carriers call. An int result is an SQLite result code. `message` may be set to text from sqlite3_malloc. */
typedef struct {
    /* Runs a statement that returns rows, and sets the first page. */
    int (*read)(void *statement, int count, sqlite3_value **values, pcl_rows *rows, char **message);
    /* Sets the next page after all rows of the current page have been read. */
    int (*next_page)(void *statement, pcl_rows *rows, char **message);
    /* Releases the rows, even if some are unread. */
    void (*end)(void *statement, pcl_rows *rows);
    /* Runs a statement that returns no rows. Sets `rowid` if it inserted a row. */
    int (*write)(void *statement, int count, sqlite3_value **values, sqlite3_int64 *rowid, char **message);
    void *(*retain)(void *statement);
    void (*release)(void *statement);
} pcl_carrier_calls;

/*
** Defines the virtual table of a carrier on a connection. `declaration` is a CREATE TABLE statement with the columns followed by
** the parameters. `statement` is passed to the functions in `calls`, and retained as long as SQLite can call them. Returns an
** SQLite result code.
*/
int pcl_define_carrier(sqlite3 *connection, const char *name, const char *declaration, int column_count, int parameter_count,
                       void *statement, const pcl_carrier_calls *calls);

/* Removes the virtual table of a carrier. Statements that use it must be finalized first. */
void pcl_remove_carrier(sqlite3 *connection, const char *name);

/* Returns a copy of a message, which SQLite can free. */
char *pcl_copy_message(const char *message);

/* Sets `is_enforced` to whether a connection enforces foreign keys. SQLite's function for this is variadic, so Swift cannot call
** it. */
void pcl_enforces_foreign_keys(sqlite3 *connection, int *is_enforced);

#endif
