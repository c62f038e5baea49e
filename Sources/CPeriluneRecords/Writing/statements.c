/* The statements that write records, one for each set of columns, and the binding of values to them. */
#include "CPeriluneRecords/Writing/writing.h"

void prec_push_names(lua_State *L, const prec_record_write *work, const prec_mask *mask) {
    lua_createtable(L, mask->count, 0);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    lua_Integer count = 0;
    for (int i = 0; i < work->layout->column_count; i++) {
        if (!prec_is_in_mask(mask, i)) continue;
        lua_rawgeti(L, -1, i + 1);
        lua_rawseti(L, -3, ++count);
    }
    lua_pop(L, 1);
}

static void fill_parameters(const prec_record_write *work, prec_write *write, const prec_mask *mask, bool is_by_key) {
    int count = 0;
    for (int i = 0; i < work->layout->column_count; i++) {
        if (prec_is_in_mask(mask, i)) write->parameters[count++] = i;
    }
    for (int i = 0; is_by_key && i < work->layout->key_count; i++) write->parameters[count++] = work->layout->keys[i];
}

/* Pushes a new statement for the columns in the mask. Its SQL comes from the Lua part. */
static prec_write *make_write(lua_State *L, prec_record_write *work, const prec_mask *mask, const char *kind, int conflict,
                                   int rows) {
    bool is_by_key = *kind != 'i';
    int top = lua_gettop(L), sql = top + 1, returning = top + 2;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_push_callback(L, PREC_CALL_write_sql);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_SCHEMA);
    lua_pushstring(L, kind);
    prec_push_names(L, work, mask);
    if (conflict) lua_pushvalue(L, conflict);
    else lua_pushnil(L);
    lua_pushinteger(L, rows);
    lua_call(L, 5, 2);
    int returning_count = lua_istable(L, returning) ? (int)lua_rawlen(L, returning) : 0;
    int parameter_count = mask->count + (is_by_key ? work->layout->key_count : 0);
    size_t lists = (size_t)(parameter_count + returning_count) * sizeof(int);
    prec_write *result = lua_newuserdatauv(L, sizeof *result + lists + mask->size, WRITE_VALUES);
    result->parameter_count = parameter_count;
    result->returning_count = returning_count;
    result->mask_size = mask->size;
    result->parameters = (int *)(result + 1);
    result->returning = result->parameters + parameter_count;
    result->mask = (unsigned char *)(result->returning + returning_count);
    memcpy(result->mask, mask->bits, mask->size);
    fill_parameters(work, result, mask, is_by_key);
    for (int i = 0; i < returning_count; i++) {
        lua_rawgeti(L, returning, i + 1);
        result->returning[i] = (int)lua_tointeger(L, -1) - 1;
        lua_pop(L, 1);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &prec_write_metatable_key);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, sql);
    lua_setiuservalue(L, -2, WRITE_SQL);
    lua_replace(L, sql);
    lua_settop(L, sql);
    return result;
}

/* Returns whether a clause belongs to an upsert. Statements with an upsert clause are not cached, because scripts write the clause in SQL,
** so there may be any number of different ones. All other clauses are conflict policies, of which there are only a few. */
static bool is_upsert(lua_State *L, int conflict) {
    return conflict && strncmp(lua_tostring(L, conflict), "ON ", 3) == 0;
}

prec_write *prec_push_write(lua_State *L, prec_record_write *work, const prec_mask *mask, const char *kind, int conflict,
                                    int last, int rows) {
    if (is_upsert(L, conflict)) return make_write(L, work, mask, kind, conflict, rows);
    bool is_usual = conflict == 0 && rows == 1;
    for (int value = last; is_usual && value <= last + 1; value++) {
        lua_getiuservalue(L, work->layout_index, value);
        prec_write *result = lua_touserdata(L, -1);
        if (result && memcmp(result->mask, mask->bits, mask->size) == 0) return result;
        lua_pop(L, 1);
    }
    int top = lua_gettop(L), key = top + 1, writes = top + 2;
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    luaL_addstring(&buffer, kind);
    if (rows != 1) {
        lua_pushinteger(L, rows);
        luaL_addvalue(&buffer);
    }
    if (conflict) {
        lua_pushvalue(L, conflict);
        luaL_addvalue(&buffer);
    }
    luaL_addchar(&buffer, '\0');
    luaL_addlstring(&buffer, (const char *)mask->bits, mask->size);
    luaL_pushresult(&buffer);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_WRITES);
    lua_pushvalue(L, key);
    lua_rawget(L, writes);
    prec_write *result = lua_touserdata(L, -1);
    if (result == NULL) {
        lua_pop(L, 1);
        result = make_write(L, work, mask, kind, conflict, rows);
        lua_pushvalue(L, key);
        lua_pushvalue(L, -2);
        lua_rawset(L, writes);
    }
    lua_replace(L, key);
    lua_settop(L, key);
    if (is_usual) {
        lua_getiuservalue(L, work->layout_index, last);
        lua_setiuservalue(L, work->layout_index, last + 1);
        lua_pushvalue(L, key);
        lua_setiuservalue(L, work->layout_index, last);
    }
    return result;
}

/* MARK: - Running */

static bool may_be_boolean(lua_State *L, int index) {
    return lua_isboolean(L, index) || lua_isnil(L, index) || pdb_is_null(L, index);
}

/* Pushes a callback about the value of a column, and its first arguments: the schema, the record (nil for plain tables) and the number of
** the column. */
static void push_callback_about(lua_State *L, prec_record_write *work, int column, prec_callback callback) {
    prec_push_callback(L, callback);
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_SCHEMA);
    if (work->set) lua_pushvalue(L, work->record);
    else lua_pushnil(L);
    lua_pushinteger(L, column + 1);
}

/* Raises an error that the value at `index` cannot be stored in a column. */
static void raise_value(lua_State *L, prec_record_write *work, int column, const char *expected, int index) {
    index = lua_absindex(L, index);
    push_callback_about(L, work, column, PREC_CALL_raise_value);
    lua_pushstring(L, expected);
    lua_pushvalue(L, index);
    lua_call(L, 5, 0);
}

/* Passes the value at `index` to the Lua part, which checks it for a column, and replaces it by the form in which SQLite stores it. Returns
** whether the value was replaced. Ends the run if the check raises. */
static bool fit_value(lua_State *L, prec_record_write *work, int column, int index) {
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    push_callback_about(L, work, column, PREC_CALL_check_value);
    lua_pushvalue(L, index);
    if (plua_pcall(L, 4, 1) != LUA_OK) {
        pdb_end_run(work->call.statement);
        plua_throw(L);
    }
    bool is_replaced = !lua_isnil(L, -1);
    if (is_replaced) lua_copy(L, -1, index);
    lua_pop(L, 1);
    return is_replaced;
}

static inline bool is_fitting(lua_State *L, const prec_record_write *work, int column, int index) {
    return prec_fits(L, &work->layout->columns[column], lua_type(L, index), index);
}

void prec_bind_written(lua_State *L, prec_record_write *work, int parameter, int column, int index) {
    index = lua_absindex(L, index);
    if (!is_fitting(L, work, column, index) && fit_value(L, work, column, index)) {
        lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
        lua_pushvalue(L, index);
        prec_set_column(L, work, lua_gettop(L) - 1, column);
        lua_pop(L, 1);
        work->has_replaced = true;
    }
    prec_bind_column(L, work, parameter, column, index);
}

/* Binds a number or a string. Returns false for other values. */
static inline bool bind_usual(lua_State *L, sqlite3_stmt *handle, int parameter, int index, const prec_record_column *column) {
    if (column->is_boolean) return false;
    int type = lua_type(L, index);
    if (type == LUA_TNUMBER && lua_isinteger(L, index)) {
        return sqlite3_bind_int64(handle, parameter, lua_tointeger(L, index)) == SQLITE_OK;
    }
    if (type == LUA_TNUMBER) {
        double number = lua_tonumber(L, index);
        return number == number && sqlite3_bind_double(handle, parameter, number) == SQLITE_OK;
    }
    if (type != LUA_TSTRING || column->is_blob) return false;
    size_t length;
    const char *bytes = lua_tolstring(L, index, &length);
    return sqlite3_bind_text64(handle, parameter, bytes, length, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
}

void prec_bind_column(lua_State *L, prec_record_write *work, int parameter, int column, int index) {
    sqlite3_stmt *handle = work->call.statement->handle;
    const prec_record_column *known = &work->layout->columns[column];
    if (bind_usual(L, handle, parameter, index, known)) return;
    bool is_blob = known->is_blob && lua_type(L, index) == LUA_TSTRING;
    const char *expected = known->is_boolean && !may_be_boolean(L, index) ? "true or false"
                           : pdb_bind_plain(L, handle, parameter, index, is_blob);
    if (expected == NULL) return;
    pdb_end_run(work->call.statement);
    if (expected == pdb_conversion_failed) plua_throw(L);
    raise_value(L, work, column, expected, index);
}

void prec_bind_clause(lua_State *L, prec_record_write *work, int parameter_count) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, work->clause_values) / 2;
    luaL_checkstack(L, (int)count * 2 + LUA_MINSTACK, "too many values");
    for (int i = 0; i < (int)count; i++) {
        lua_rawgeti(L, work->clause_values, i * 2 + 1);
        int column = (int)lua_tointeger(L, -1) - 1;
        lua_rawgeti(L, work->clause_values, i * 2 + 2);
        int parameter = parameter_count + i + 1, index = lua_gettop(L);
        if (column >= 0) {
            if (!is_fitting(L, work, column, index)) fit_value(L, work, column, index);
            prec_bind_column(L, work, parameter, column, index);
            continue;
        }
        const char *expected = pdb_bind_plain(L, work->call.statement->handle, parameter, index, false);
        if (expected == NULL) continue;
        pdb_end_run(work->call.statement);
        if (expected == pdb_conversion_failed) plua_throw(L);
        plua_raise(L, "argument", "%s: expected %s, got %s", work->verb, expected, plua_describe(L, index));
    }
}

/* Begins a run of the compiled statement on top of the stack. */
void prec_begin_write(lua_State *L, prec_record_write *work, pdb_statement *statement) {
    work->call.statement = statement;
    work->call.statement_index = lua_gettop(L);
    pdb_begin_run(statement, &work->call.access->active);
    pdb_note_run(work->call.rows, statement);
}

/* Runs the statement. Constraint errors name the record. */
void prec_run_write(lua_State *L, prec_record_write *work, const pdb_row_form *form, lua_Integer limit) {
    prec_pending_write *written = &prec_state_of(work->call.rows)->written;
    *written = (prec_pending_write){L, work->call.statement, work->record, work->layout_index};
    pdb_run_bound(L, &work->call, form, limit);
    written->statement = NULL;
}

void prec_explain_failure(lua_State *L, pdb_state *rows, pdb_statement *statement) {
    prec_state *state = prec_state_of(rows);
    prec_pending_write written = state->written;
    int error = lua_gettop(L);
    if (written.statement != statement || written.L != L || statement == NULL || error <= written.layout_index) return;
    state->written.statement = NULL;
    if (prec_to_userdata(L, written.layout_index, table_layout) == NULL || !prec_column_set_at(L, written.record)) return;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    prec_push_callback(L, PREC_CALL_explain);
    lua_pushvalue(L, error);
    lua_getiuservalue(L, written.layout_index, TABLE_LAYOUT_SCHEMA);
    lua_pushvalue(L, written.record);
    plua_pcall(L, 3, 0);
    lua_settop(L, error);
}

