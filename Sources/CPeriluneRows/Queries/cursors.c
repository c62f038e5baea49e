/* Cursors: iteration over the rows of a statement, one at a time. */
#include "CPeriluneRows/Queries/queries.h"

static const char metatable_key; /* a registry key */

/*
** Outside of blocks, entering the queue of the connection takes as long as fetching a dozen rows. Therefore an autocommit cursor fetches
** rows ahead in portions: one row at first, then twice as many each time. A portion ends early if its rows are large or took SQLite long.
** Scripts hardly notice this:
** - After the first change on the same connection, rows are fetched one at a time. Rows that were fetched before the change do not show it,
** but SQLite leaves undefined whether they do.
** - While the database has SQL functions of the script, rows are fetched one at a time, so that calls keep their order.
** - A failure is raised only after the script has received the rows before it.
** Once all rows have been fetched, the cursor keeps its statement until the script has received them.
*/
enum { most_rows = 256, most_bytes = 64 * 1024, most_instructions = 20000 };

typedef struct {
    pdb_database *database;
    pdb_statement *statement; /* NULL if all rows were fetched at once */
    uint32_t run_id;               /* the run of this cursor */
    const pdb_row_form *form;
    bool is_autocommit; /* opened outside of blocks: each portion is fetched in its own access */
    bool has_columns, is_done;
    lua_Integer position; /* the position in the list of rows */
    int portion;          /* the number of rows of the last portion */
    int width;            /* the number of values for each row in the list of rows fetched ahead */
    int fetched, taken;   /* the number of rows in the list of rows fetched ahead, and how many of them the script has received */
    bool is_at_end;       /* SQLite has no more rows */
    bool has_failure;     /* fetching ahead has failed; the error is raised after the fetched rows */
    bool is_last_failure; /* the failure has ended the run */
    bool has_changes;     /* the connection has written since the first row */
    uint64_t write_count; /* the connection's count at the last portion */
    int total_changes;
    unsigned interruption_count; /* the database's count at the last portion */
} cursor;

/* User values. The list of rows fetched ahead contains rows, or, for tuples, the values of all tuples in sequence. */
enum { CURSOR_SOURCE = 1 /* compiled statement, or list of rows */, CURSOR_MADE_FROM, CURSOR_ARGUMENTS, CURSOR_DATABASE, CURSOR_CLASS,
       CURSOR_AHEAD, CURSOR_FAILURE, CURSOR_VALUES = CURSOR_FAILURE };

static bool is_alive(const cursor *cursor) {
    return cursor->statement && cursor->statement->in_use && cursor->statement->run_id == cursor->run_id;
}

/* MARK: - Stepping */

static int finish(cursor *cursor) {
    cursor->is_done = true;
    pdb_end_run(cursor->statement);
    return 0;
}

/* If the first of the `count` values on top of the stack is nil, replaces it, because nil would end the `for` loop. Returns `count`. */
static int end_tuple(lua_State *L, int count) {
    if (lua_isnil(L, -count)) {
        pdb_push_null(L);
        lua_replace(L, -count - 1);
    }
    return count;
}

static int push_tuple(lua_State *L, pdb_statement *statement) {
    int count = statement->column_count;
    luaL_checkstack(L, count + 1, "too many columns");
    for (int i = 0; i < count; i++) pdb_push_value(L, statement, i);
    return end_tuple(L, count);
}

/* Stores the value from which rows are created. */
static void keep_source(lua_State *L, cursor *cursor) {
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_SOURCE);
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_CLASS);
    int top = lua_gettop(L);
    pdb_call call = {.rows = cursor->database->rows, .database = cursor->database, .statement = cursor->statement,
                     .access = pdb_current_access(L, cursor->database), .statement_index = top - 1, .class_index = top};
    call.arguments.verb = "rows";
    cursor->form->push_source(L, &call);
    lua_setiuservalue(L, lua_upvalueindex(1), CURSOR_MADE_FROM);
    lua_settop(L, top - 2);
}

/* Reads the columns after stepping to the first row, because SQLite may recompile the statement in that step. */
static void check_columns(lua_State *L, cursor *cursor) {
    cursor->has_columns = true;
    pdb_check_columns(cursor->statement);
    if (cursor->form != &pdb_tuples_form) keep_source(L, cursor);
}

/* Raises the error of an interrupted cursor. Ending an interrupted transaction resets all statements, so the next step would start again
** with the first row. */
static int raise_interrupted(lua_State *L, cursor *cursor) {
    pdb_push_sqlite_error(L, SQLITE_INTERRUPT, "interrupted", cursor->statement->sql, -1);
    cursor->is_done = true;
    return pdb_raise_failure(L, cursor->statement);
}

/* Raises the pending error, if any. */
static void check_pending_error(lua_State *L, pdb_state *rows, cursor *cursor) {
    if (!rows->has_pending_error) return;
    cursor->is_done = true;
    pdb_raise_failure(L, cursor->statement);
}

/* Steps to the next row. Returns false at the end. */
static bool step_to_row(lua_State *L, pdb_state *rows, cursor *cursor) {
    pdb_statement *statement = cursor->statement;
    int code = sqlite3_step(statement->handle);
    check_pending_error(L, rows, cursor);
    if (code == SQLITE_DONE) return false;
    if (code != SQLITE_ROW) {
        cursor->is_done = true;
        pdb_raise_sqlite(L, statement->connection, statement, code);
    }
    rows->context->usage.rows++;
    if (rows->context->limited) plua_count_work(L, statement->column_count);
    return true;
}

/* Pushes the next row. Returns the number of its values, or 0 at the end. */
static int step(lua_State *L, pdb_state *rows, cursor *cursor) {
    pdb_statement *statement = cursor->statement;
    if (cursor->is_at_end) return finish(cursor);
    if (cursor->has_columns && !sqlite3_stmt_busy(statement->handle)) return raise_interrupted(L, cursor);
    if (!step_to_row(L, rows, cursor)) return finish(cursor);
    if (!cursor->has_columns) check_columns(L, cursor);
    if (cursor->form == &pdb_tuples_form) return push_tuple(L, statement);
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_MADE_FROM);
    cursor->form->push(L, statement, lua_gettop(L));
    check_pending_error(L, rows, cursor);
    pdb_end_rows(L, rows, cursor->form);
    return 1;
}

/* MARK: - Fetching ahead */

/* Returns the size of that number of values in bytes, without the bytes of texts and BLOBs. */
static size_t size_of_values(int count) { return (size_t)count * sizeof(lua_Number) * 2; }

/* Appends the values of the current row to the list at `list`. Returns their approximate size in bytes. */
static size_t take_tuple(lua_State *L, pdb_statement *statement, int list, lua_Integer position) {
    size_t size = size_of_values(statement->column_count);
    for (int i = 0; i < statement->column_count; i++) {
        sqlite3_value *value = sqlite3_column_value(statement->handle, i);
        int type = sqlite3_value_type(value);
        pdb_push_column(L, value, type, pdb_is_boolean(statement, i));
        if (type == SQLITE_TEXT || type == SQLITE_BLOB) size += (size_t)sqlite3_value_bytes(value);
        lua_rawseti(L, list, position + i + 1);
    }
    return size;
}

/* Returns the approximate size of the current row's values in bytes. */
static size_t size_of_row(pdb_statement *statement) {
    size_t size = size_of_values(statement->column_count);
    for (int i = 0; i < statement->column_count; i++) {
        int type = sqlite3_column_type(statement->handle, i);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB) size += (size_t)sqlite3_column_bytes(statement->handle, i);
    }
    return size;
}

static void take_row(lua_State *L, cursor *cursor, pdb_row_loop *loop, int list) {
    pdb_state *rows = cursor->database->rows;
    cursor->form->push_next(L, loop);
    check_pending_error(L, rows, cursor);
    pdb_end_rows(L, rows, cursor->form);
    lua_rawseti(L, list, cursor->fetched + 1);
}

/* A Lua function: fetches all rows of a portion after the first one. Argument: the cursor. */
static int take_rows(lua_State *L) {
    enum { SELF = 1, LIST, SOURCE };
    cursor *cursor = lua_touserdata(L, SELF);
    pdb_state *rows = cursor->database->rows;
    pdb_statement *statement = cursor->statement;
    bool are_tuples = cursor->form == &pdb_tuples_form;
    int width = cursor->width = are_tuples ? statement->column_count : 1, wanted = cursor->portion - 1;
    int most_values = most_bytes / (int)size_of_values(1) + width;
    lua_createtable(L, width * wanted < most_values ? width * wanted : most_values, 0);
    lua_pushvalue(L, LIST);
    lua_setiuservalue(L, SELF, CURSOR_AHEAD);
    lua_getiuservalue(L, SELF, CURSOR_MADE_FROM);
    pdb_call call = {.rows = rows, .database = cursor->database, .statement = statement};
    pdb_row_loop loop = {.call = &call, .source = SOURCE};
    cursor->form->begin(L, &loop);
    unsigned start = (unsigned)sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_VM_STEP, 0), work = 0;
    size_t bytes = 0;
    while (cursor->fetched < wanted && bytes < most_bytes && work < most_instructions) {
        if (!step_to_row(L, rows, cursor)) {
            cursor->is_at_end = true;
            break;
        }
        if (are_tuples) {
            bytes += take_tuple(L, statement, LIST, (lua_Integer)cursor->fetched * width);
        } else {
            bytes += size_of_row(statement);
            take_row(L, cursor, &loop, LIST);
        }
        cursor->fetched++;
        work = (unsigned)sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_VM_STEP, 0) - start;
    }
    return 0;
}

/* Fetches the rows after the current one. A failure is stored until the script has received the rows before it. */
static void fetch_ahead(lua_State *L, pdb_state *rows, cursor *cursor) {
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_pushcfunction(L, take_rows);
    lua_pushvalue(L, lua_upvalueindex(1));
    cursor->fetched = cursor->taken = 0;
    int status = plua_pcall(L, 1, 0);
    if (status == LUA_OK) return;
    if (status != LUA_ERRRUN || pdb_is_cancelled(rows)) {
        cursor->is_done = true;
        plua_throw(L);
    }
    cursor->is_last_failure = cursor->is_done;
    cursor->is_done = false;
    cursor->has_failure = true;
    lua_setiuservalue(L, lua_upvalueindex(1), CURSOR_FAILURE);
}

/* Determines the size of the next portion. */
static void begin_portion(cursor *cursor) {
    pdb_connection *connection = cursor->statement->connection;
    int total_changes = sqlite3_total_changes(connection->handle);
    if (cursor->has_columns && (connection->write_count != cursor->write_count || total_changes != cursor->total_changes)) {
        cursor->has_changes = true;
    }
    cursor->write_count = connection->write_count;
    cursor->total_changes = total_changes;
    cursor->interruption_count = cursor->database->interruption_count;
    bool is_single = cursor->has_changes || cursor->database->definition_count > 0 || pdb_is_remote(cursor->database);
    if (is_single || cursor->portion == 0) cursor->portion = 1;
    else if (cursor->portion < most_rows) cursor->portion *= 2;
}

/* Pushes the next of the rows fetched ahead. Returns the number of its values. */
static int next_ahead(lua_State *L, cursor *cursor) {
    int position = cursor->taken++;
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_AHEAD);
    int list = lua_gettop(L);
    if (cursor->form != &pdb_tuples_form) {
        lua_rawgeti(L, list, position + 1);
        lua_pushnil(L); /* otherwise the list would also keep fields that the script adds to the row */
        lua_rawseti(L, list, position + 1);
        return 1;
    }
    luaL_checkstack(L, cursor->width + 1, "too many columns");
    for (int i = 1; i <= cursor->width; i++) lua_rawgeti(L, list, (lua_Integer)position * cursor->width + i);
    return end_tuple(L, cursor->width);
}

/* Drops the rows fetched ahead. */
static void drop_ahead(lua_State *L, int index, cursor *cursor) {
    if (cursor->fetched == 0) return;
    cursor->fetched = cursor->taken = 0;
    lua_pushnil(L);
    lua_setiuservalue(L, index, CURSOR_AHEAD);
}

/* Drops the rows fetched ahead if a script has interrupted the database. The next step then fails. */
static void check_interruption(lua_State *L, cursor *cursor) {
    if (cursor->has_failure || cursor->interruption_count == cursor->database->interruption_count) return;
    drop_ahead(L, lua_upvalueindex(1), cursor);
    cursor->is_at_end = false;
}

/* Raises the stored failure, with the position of the line that requests the row. */
static int raise_kept_failure(lua_State *L, cursor *cursor) {
    lua_Debug activation;
    cursor->has_failure = false;
    cursor->is_done = cursor->is_last_failure;
    lua_settop(L, 0);
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_FAILURE);
    if (plua_is_error(L, -1) && plua_find_position(L, &activation)) {
        lua_pushstring(L, activation.short_src);
        plua_set_error_field(L, "file");
        lua_pushinteger(L, activation.currentline);
        plua_set_error_field(L, "line");
    }
    return plua_throw(L);
}

static int next_in_list(lua_State *L, cursor *cursor) {
    lua_settop(L, 0);
    lua_getiuservalue(L, lua_upvalueindex(1), CURSOR_SOURCE);
    if (lua_rawgeti(L, 1, ++cursor->position) == LUA_TNIL) {
        cursor->is_done = true;
        return 0;
    }
    if (cursor->form != &pdb_tuples_form) return 1;
    lua_getfield(L, 2, "n");
    int count = (int)lua_tointeger(L, -1);
    luaL_checkstack(L, count + 1, "too many columns");
    for (int i = 1; i <= count; i++) lua_rawgeti(L, 2, i);
    return end_tuple(L, count);
}

/* MARK: - Iterating */

static int raise_dead(lua_State *L, const cursor *cursor) {
    if (cursor->is_autocommit) return plua_raise(L, "closed", "this cursor was used after its database was closed");
    return plua_raise(L, "dead_handle", "this cursor was used after its block ended");
}

/* Fetches a portion in its own access and returns the first row. Upvalue: the cursor. */
static int next_portion(lua_State *L) {
    cursor *cursor = lua_touserdata(L, lua_upvalueindex(1));
    pdb_state *rows = cursor->database->rows;
    if (!is_alive(cursor)) return raise_dead(L, cursor); /* opening the access may have reset the connection */
    begin_portion(cursor);
    int count = step(L, rows, cursor);
    if (count > 0 && cursor->portion > 1) fetch_ahead(L, rows, cursor);
    return count;
}

/* The iterator of a generic `for`. Upvalue: the cursor. */
static int next(lua_State *L) {
    cursor *cursor = lua_touserdata(L, lua_upvalueindex(1));
    if (cursor->is_done) return 0;
    if (cursor->statement == NULL) return next_in_list(L, cursor);
    if (!is_alive(cursor) && !cursor->has_failure) return raise_dead(L, cursor);
    pdb_state *rows = cursor->database->rows;
    if (!cursor->is_autocommit && !rows->place) return step(L, rows, cursor);
    pdb_access *access = pdb_find_access(L, rows, cursor->database, 0);
    if (access && !cursor->has_failure && access->connection != cursor->statement->connection) {
        return plua_raise(L, "nested_access",
                              "this cursor was opened outside of the block, and cannot be used in a read block");
    }
    check_interruption(L, cursor);
    if (cursor->taken < cursor->fetched) return next_ahead(L, cursor);
    if (cursor->has_failure) return raise_kept_failure(L, cursor);
    if (access) return step(L, rows, cursor);
    drop_ahead(L, lua_upvalueindex(1), cursor);
    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushcclosure(L, next_portion, 1);
    return pdb_enter(L, rows, cursor->database, PDB_WRITE_STATEMENT, 0, NULL);
}

/* MARK: - Opening */

/* Keeps the arguments alive as long as the cursor, because SQLite does not copy the bytes of strings. */
static void keep_arguments(lua_State *L, pdb_call *call, int cursor_index) {
    if (call->statement->parameter_count == 0) return;
    int first = call->arguments.first, last = cursor_index - 1;
    lua_createtable(L, last - first + 1, 0);
    for (int i = first; i <= last; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i - first + 1);
    }
    lua_setiuservalue(L, cursor_index, CURSOR_ARGUMENTS);
}

static cursor *push_cursor(lua_State *L, pdb_call *call, const pdb_row_form *form) {
    cursor *result = lua_newuserdatauv(L, sizeof *result, CURSOR_VALUES);
    *result = (cursor){.database = call->database, .form = form};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
    lua_setmetatable(L, -2);
    /* A handle or prepared statement keeps its database alive by its first user value. */
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, CURSOR_DATABASE);
    if (call->class_index) {
        lua_pushvalue(L, call->class_index);
        lua_setiuservalue(L, -2, CURSOR_CLASS);
    }
    return result;
}

static int push_iterator(lua_State *L) {
    int cursor_index = lua_gettop(L);
    lua_pushvalue(L, cursor_index);
    lua_pushcclosure(L, next, 1);
    lua_pushnil(L);
    lua_pushnil(L);
    lua_pushvalue(L, cursor_index);
    return 4;
}

int pdb_open_cursor(lua_State *L, pdb_call *call, const pdb_row_form *form) {
    pdb_statement *statement = call->statement;
    if (!statement->is_direct) {
        pdb_fetch(L, call, form, LUA_MAXINTEGER);
        pdb_end_rows(L, call->rows, form);
        int list = lua_gettop(L);
        push_cursor(L, call, form);
        lua_pushvalue(L, list);
        lua_setiuservalue(L, -2, CURSOR_SOURCE);
        return push_iterator(L);
    }
    bool is_statement = call->access->mode == PDB_READ_STATEMENT || call->access->mode == PDB_WRITE_STATEMENT;
    bool is_autocommit = call->token == 0 && is_statement;
    pdb_start(L, call, is_autocommit ? &statement->connection->active : &call->access->active);
    cursor *cursor = push_cursor(L, call, form);
    int cursor_index = lua_gettop(L);
    cursor->is_autocommit = is_autocommit;
    cursor->statement = statement;
    cursor->run_id = statement->run_id;
    lua_pushvalue(L, call->statement_index);
    lua_setiuservalue(L, cursor_index, CURSOR_SOURCE);
    keep_arguments(L, call, cursor_index);
    return push_iterator(L);
}

/* MARK: - Closing */

static void abandon(cursor *cursor) {
    cursor->statement->is_abandoned = true;
    cursor->statement->connection->has_abandoned = true;
}

static int collect(lua_State *L) {
    cursor *cursor = lua_touserdata(L, 1);
    if (is_alive(cursor)) abandon(cursor);
    return 0;
}

/* Closes a cursor when its loop ends for any reason. If it cannot be closed now, the next access to the connection closes it. */
static int close(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    cursor *cursor = pdb_to_userdata(L, 1, rows->cursor_metatable);
    if (cursor == NULL) return plua_argument_error(L, "close", 1, "a cursor", 1);
    cursor->is_done = true;
    drop_ahead(L, 1, cursor);
    if (!is_alive(cursor)) return 0;
    pdb_access *access = pdb_current_access(L, cursor->database);
    bool is_here = !cursor->is_autocommit || (access && access->connection == cursor->statement->connection);
    if (rows->place || pdb_is_cancelled(rows) || (!is_here && access)) {
        abandon(cursor);
        return 0;
    }
    if (is_here) {
        pdb_end_run(cursor->statement);
        return 0;
    }
    lua_settop(L, 1);
    lua_pushcfunction(L, close);
    lua_insert(L, 1);
    return pdb_enter(L, rows, cursor->database, PDB_WRITE_STATEMENT, 1, NULL);
}

void pdb_open_cursors(lua_State *L) {
    static const luaL_Reg functions[] = {{"__gc", collect}, {"__close", close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"close", close}, {NULL, NULL}};
    pdb_state_of(L)->cursor_metatable = pdb_new_metatable(L, &metatable_key, "cursor", functions);
    lua_createtable(L, 0, 1);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
