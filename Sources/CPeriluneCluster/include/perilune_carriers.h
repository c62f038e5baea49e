/*
** Carriers: local SQLite statements that run a statement in another database.
**
** A carrier is compiled on a local connection like any other statement, so code that binds, steps and reads statements needs no
** change. It refers to a virtual table of its own. A reading carrier has the parameters as hidden columns (`SELECT c0 AS "id"
** FROM carrier WHERE p0 IS ?1`) and returns the remote rows. A writing carrier has the parameters as columns (`INSERT INTO
** carrier VALUES (?1, :name)`). SQLite passes the bound values with the call that starts the statement.
*/
#ifndef PERILUNE_CARRIERS_H
#define PERILUNE_CARRIERS_H

#include <sqlite3.h>

#include <perilune_cluster_values.h>

/* The rows of one run. */
typedef struct {
    void *source;    /* set by `read`; owns the bytes of the page until the next page or `end` */
    pcl_reader page;
    pcl_read_row *next_row; /* reads the next row */
} pcl_rows;

/* Functions that return int return an SQLite result code and may set `message` to text from sqlite3_malloc. */
typedef struct {
    /* Runs a statement that returns rows and sets the first page. */
    int (*read)(void *statement, int count, sqlite3_value **values, pcl_rows *rows, char **message);
    /* Sets the next page after the current one has been read. */
    int (*next_page)(void *statement, pcl_rows *rows, char **message);
    /* Releases the rows, read or not. */
    void (*end)(void *statement, pcl_rows *rows);
    /* Runs a statement that returns no rows and sets `rowid` if it has inserted a row. */
    int (*write)(void *statement, int count, sqlite3_value **values, sqlite3_int64 *rowid, char **message);
    void *(*retain)(void *statement);
    void (*release)(void *statement);
} pcl_carrier_calls;

/*
** Defines the virtual table of a carrier on a connection. `declaration` is a CREATE TABLE with the columns followed by the
** parameters. `statement` is passed to the calls and retained as long as SQLite may make them. Returns an SQLite result code.
*/
int pcl_define_carrier(sqlite3 *connection, const char *name, const char *declaration, int column_count, int parameter_count,
                       void *statement, const pcl_carrier_calls *calls);

/* Removes the table. Statements that use it must be finalized first. */
void pcl_remove_carrier(sqlite3 *connection, const char *name);

/* Returns a copy of a message that SQLite can free. */
char *pcl_copy_message(const char *message);

/* Sets whether a connection enforces foreign keys. SQLite reports that through a variadic function, which Swift cannot call. */
void pcl_enforces_foreign_keys(sqlite3 *connection, int *is_enforced);

#endif
