/*
** Carriers: statements of SQLite here that run a statement elsewhere.
**
** A carrier is compiled on a local connection, as any statement is, so that all who bind, step and read statements go on as they do. What it
** names is a virtual table of its own: one that reads has the parameters as hidden columns (`SELECT c0 AS "id" FROM carrier WHERE p0 IS ?1`), and gives
** the rows that come from elsewhere; one that writes has them as columns (`INSERT INTO carrier VALUES (?1, :name)`). SQLite hands the
** bound values over with the call that begins the statement.
*/
#ifndef PERILUNE_CARRIERS_H
#define PERILUNE_CARRIERS_H

#include <sqlite3.h>

#include <perilune_cluster_values.h>

/* The rows of one run. */
typedef struct {
    void *source;    /* what `read` has set: it owns the bytes of the page, until the next page or `end` */
    pcl_reader page;
    pcl_read_row *next_row; /* reads it */
} pcl_rows;

/* Functions that return int return SQLite's code; then `message` may be set to a text of sqlite3_malloc. */
typedef struct {
    /* Runs a statement that gives rows. Sets the first page. */
    int (*read)(void *statement, int count, sqlite3_value **values, pcl_rows *rows, char **message);
    /* Sets the next page, after a page that has ended. */
    int (*next_page)(void *statement, pcl_rows *rows, char **message);
    /* Lets go of the rows, whether or not all were read. */
    void (*end)(void *statement, pcl_rows *rows);
    /* Runs a statement that gives none. `rowid` is to be set to the id of the row that it has inserted, if it has. */
    int (*write)(void *statement, int count, sqlite3_value **values, sqlite3_int64 *rowid, char **message);
    void *(*retain)(void *statement);
    void (*release)(void *statement);
} pcl_carrier_calls;

/*
** Defines the virtual table of a carrier on a connection. `declaration` is a CREATE TABLE with the columns and then the parameters. `statement` is
** what the calls are given: it is retained as long as SQLite may call them. Returns SQLite's code.
*/
int pcl_define_carrier(sqlite3 *connection, const char *name, const char *declaration, int column_count, int parameter_count,
                       void *statement, const pcl_carrier_calls *calls);

/* Removes it. Statements that name it must be finalized before. */
void pcl_remove_carrier(sqlite3 *connection, const char *name);

/* A copy of a message, as `message` of the calls wants it. */
char *pcl_copy_message(const char *message);

/* Whether a connection enforces foreign keys: SQLite tells by a function of variable arguments, which Swift cannot call. */
void pcl_enforces_foreign_keys(sqlite3 *connection, int *is_enforced);

#endif
