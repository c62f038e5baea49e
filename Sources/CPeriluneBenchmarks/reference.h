/* Declarations shared by the files of the C baseline. Stack effects follow Lua's manual: [-popped, +pushed]. */
#ifndef PERILUNE_REFERENCE_H
#define PERILUNE_REFERENCE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <sqlite3.h>

/* The userdata of a connection. */
typedef struct {
    sqlite3 *handle;
} reference_database;

/* The userdata of a prepared statement. User value i is the name of column i; the last user value is the connection. */
typedef struct {
    sqlite3_stmt *handle;
    sqlite3 *connection;
    int column_count;
} reference_statement;

/* Opens the module. [-0, +1] */
int reference_open_module(lua_State *L);

/* Create the metatables. [-0, +0] */
void reference_open_databases(lua_State *L);
void reference_open_statements(lua_State *L);

/* reference.open(path), database:prepare(sql), and the methods that read many rows. */
int reference_open_database(lua_State *L);
int reference_prepare(lua_State *L);
int reference_fetch_all(lua_State *L);
int reference_fetch_all_by_name(lua_State *L);
int reference_tuples(lua_State *L);
int reference_rows(lua_State *L);

/* Returns the connection at argument 1, or raises an error. */
sqlite3 *reference_check_database(lua_State *L);

/* Prepares the SQL text at argument 2 and pushes its statement. [-0, +1] */
reference_statement *reference_push_statement(lua_State *L, sqlite3 *connection);

/* Pushes a column of the statement's current row. [-0, +1] */
void reference_push_column(lua_State *L, sqlite3_stmt *statement, int column);

/* Raises SQLite's last error message as a Lua error. */
int reference_raise(lua_State *L, sqlite3 *connection);

#endif
