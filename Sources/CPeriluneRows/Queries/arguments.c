/* Binding of arguments, from the stack or from a script's table, to the parameters of a statement. */
#include <stdarg.h>

#include "CPeriluneRows/Queries/queries.h"

/* Returns the length of a list: its field `n`, as set by table.pack, or else its length without __len. */
static lua_Integer list_length(lua_State *L, int table) {
    lua_pushliteral(L, "n");
    lua_rawget(L, table);
    lua_Integer count = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : -1;
    lua_pop(L, 1);
    return count >= 0 ? count : (lua_Integer)lua_rawlen(L, table);
}

static bool holds_arguments(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE) return false;
    if (luaL_getmetafield(L, index, "__to_database") == LUA_TNIL) return true;
    lua_pop(L, 1);
    return false;
}

pdb_arguments pdb_arguments_at(lua_State *L, const char *verb, int first) {
    pdb_arguments arguments = {.verb = verb, .first = first, .count = lua_gettop(L) - first + 1};
    arguments.list_count = arguments.count;
    if (arguments.count == 1 && holds_arguments(L, first)) {
        arguments.table = first;
        arguments.list_count = list_length(L, first);
    }
    return arguments;
}

/* Raises an error after ending the run of the statement, so that the statement can be used again. */
static int fail(lua_State *L, const pdb_arguments *arguments, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const char *message = lua_pushvfstring(L, format, list);
    va_end(list);
    if (arguments->statement) pdb_end_run(arguments->statement);
    return plua_raise(L, "argument", "%s", message);
}

/* Like fail, but raises the error on top of the stack, which comes from a conversion. */
static int fail_conversion(lua_State *L, const pdb_arguments *arguments) {
    if (arguments->statement) pdb_end_run(arguments->statement);
    return plua_throw(L);
}

/* Records belong to a higher layer, so they are recognized by the name of their metatable. */
static bool is_record(lua_State *L, int index) {
    if (luaL_getmetafield(L, index, "__name") == LUA_TNIL) return false;
    bool is_record = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "record") == 0;
    lua_pop(L, 1);
    return is_record;
}

/* Raises an error with the message on top of the stack and the SQL of the statement. */
static int fail_for_sql(lua_State *L, const pdb_arguments *arguments) {
    enum { longest = 200 };
    const char *sql = arguments->statement ? arguments->statement->sql : NULL;
    if (sql == NULL) return fail(L, arguments, "%s", lua_tostring(L, -1));
    size_t length = strnlen(sql, longest + 1);
    bool is_long = length > longest;
    if (is_long) length = longest;
    while (is_long && length > 0 && ((unsigned char)sql[length] & 0xC0) == 0x80) length--; /* no character is cut */
    lua_pushlstring(L, sql, length);
    return fail(L, arguments, "%s: %s%s", lua_tostring(L, -2), lua_tostring(L, -1), is_long ? "..." : "");
}

/* Returns the first name in a table of arguments, in alphabetical order, if none of the statement's placeholders has a name. Otherwise
** returns NULL. Pushes one value. */
static const char *unused_name(lua_State *L, const pdb_arguments *arguments) {
    int name = lua_gettop(L) + 1;
    lua_pushnil(L);
    for (int i = 1; i <= arguments->statement->parameter_count; i++) {
        const char *placeholder = sqlite3_bind_parameter_name(arguments->statement->handle, i);
        if (placeholder && *placeholder != '?') return NULL;
    }
    for (lua_pushnil(L); lua_next(L, arguments->table); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), "n") == 0) continue;
        if (!lua_isnil(L, name) && !lua_compare(L, -2, name, LUA_OPLT)) continue;
        lua_pushvalue(L, -2);
        lua_replace(L, name);
    }
    return lua_tostring(L, name);
}

static int raise_count(lua_State *L, const pdb_arguments *arguments, lua_Integer expected) {
    const char *hint = "", *name = NULL;
    bool is_without_list = arguments->table && arguments->list_count == 0 && arguments->statement;
    if (arguments->table && is_record(L, arguments->table)) {
        hint = " (a record is not a value; pass one of its fields)";
    } else if (is_without_list && (name = unused_name(L, arguments)) != NULL) {
        hint = lua_pushfstring(L, " (names are for named placeholders; write :%s in place of `?`)", name);
    } else if (arguments->table && arguments->list_count < expected) {
        hint = " (nil ends a list; use perilune.null, or set the field n of the list)";
    } else if (arguments->table && expected == 1) {
        hint = " (one `?` stands for one value; use IN (SELECT value FROM json_each(?)) and perilune.json.encode(list) for a list)";
    }
    lua_pushfstring(L, "%s: expected %I argument%s for the statement, got %I%s", arguments->verb, expected,
                    expected == 1 ? "" : "s", arguments->list_count, hint);
    return fail_for_sql(L, arguments);
}

/* Returns a hint for a list that is passed as one value, or "". */
static const char *list_hint(lua_State *L, int index) {
    bool is_list = lua_type(L, index) == LUA_TTABLE && lua_rawlen(L, index) > 0;
    return is_list ? "; use IN (SELECT value FROM json_each(?)) and perilune.json.encode(list) for a list" : "";
}

static int fail_value(lua_State *L, const pdb_arguments *arguments, lua_Integer position, const char *expected,
                      int index) {
    if (expected == pdb_conversion_failed) return fail_conversion(L, arguments);
    return fail(L, arguments, "%s: argument %I: expected %s, got %s%s", arguments->verb, position, expected,
                plua_describe(L, index), list_hint(L, index));
}

static void bind_list_value(lua_State *L, pdb_statement *statement, int parameter, pdb_arguments *arguments) {
    lua_Integer position = ++arguments->taken;
    if (arguments->table) lua_rawgeti(L, arguments->table, position);
    int index = arguments->table ? lua_gettop(L) : arguments->first + (int)position - 1;
    const char *expected = pdb_bind_plain(L, statement->handle, parameter, index, false);
    if (expected) fail_value(L, arguments, position, expected, index);
}

/* Replaces the name on top of the stack by the argument with this name; nil for a NULL column of a row. Returns false if the table has no
** such argument. [-1, +1] */
static bool push_named(lua_State *L, int table) {
    lua_pushvalue(L, -1);
    if (lua_rawget(L, table) != LUA_TNIL) {
        lua_remove(L, -2);
        return true;
    }
    bool has_column = pdb_row_has(L, table, -2);
    lua_remove(L, -2);
    return has_column;
}

static void check_names(lua_State *L, const pdb_arguments *arguments, int names);

/* Raises an error that lists the parameters without an argument in the table, or suggests a similar name. */
static int raise_missing(lua_State *L, pdb_statement *statement, const pdb_arguments *arguments, int parameters) {
    if (arguments->used == 0) check_names(L, arguments, parameters);
    luaL_Buffer names;
    luaL_buffinit(L, &names);
    int count = 0;
    for (int i = 1; i <= statement->parameter_count; i++) {
        const char *name = sqlite3_bind_parameter_name(statement->handle, i);
        if (name == NULL || *name == '?') continue;
        lua_pushstring(L, name + 1);
        bool is_there = push_named(L, arguments->table);
        lua_pop(L, 1);
        if (is_there) continue;
        if (count++ > 0) luaL_addstring(&names, ", ");
        luaL_addstring(&names, name + 1);
    }
    luaL_pushresult(&names);
    lua_pushfstring(L, "%s: missing argument%s: %s (use perilune.null for NULL)", arguments->verb,
                    count == 1 ? "" : "s", lua_tostring(L, -1));
    return fail_for_sql(L, arguments);
}

/* Binds the argument whose name is on top of the stack, from the table of arguments. Leaves the value on the stack. `parameters` is the
** stack index of the list of names. */
static void bind_named_value(lua_State *L, pdb_statement *statement, int parameter, int parameters,
                             pdb_arguments *arguments) {
    if (arguments->used) {
        lua_pushvalue(L, -1);
        lua_pushboolean(L, true);
        lua_rawset(L, arguments->used);
    }
    if (!push_named(L, arguments->table)) {
        lua_pop(L, 1);
        if (arguments->taken < arguments->list_count) bind_list_value(L, statement, parameter, arguments);
        else raise_missing(L, statement, arguments, parameters);
        return;
    }
    arguments->named++;
    int index = lua_gettop(L);
    const char *expected = pdb_bind_plain(L, statement->handle, parameter, index, false);
    if (expected == pdb_conversion_failed) fail_conversion(L, arguments);
    if (expected) {
        fail(L, arguments, "%s: argument \"%s\": expected %s, got %s%s", arguments->verb,
             sqlite3_bind_parameter_name(statement->handle, parameter) + 1, expected, plua_describe(L, index), list_hint(L, index));
    }
}

/* The fast case: binds values that are all on the stack, one for each parameter. */
static void bind_stack(lua_State *L, pdb_statement *statement, pdb_arguments *arguments) {
    int count = statement->parameter_count, next = arguments->first + (int)arguments->taken;
    if (arguments->list_count - arguments->taken < count) raise_count(L, arguments, count);
    for (int i = 1; i <= count; i++, next++) {
        const char *expected = pdb_bind_plain(L, statement->handle, i, next, false);
        if (expected) fail_value(L, arguments, next - arguments->first + 1, expected, next);
    }
    arguments->taken += count;
}

static void bind_table(lua_State *L, pdb_statement *statement, int statement_index, pdb_arguments *arguments) {
    lua_getiuservalue(L, statement_index, PDB_PARAMETERS);
    int names = lua_gettop(L);
    /* If the statement has a parameter named `n`, the field `n` is an argument like any other. */
    bool is_argument = lua_getfield(L, names, "n") != LUA_TNIL;
    lua_pop(L, 1);
    if (is_argument) arguments->list_count = (lua_Integer)lua_rawlen(L, arguments->table);
    for (int i = 1; i <= statement->parameter_count; i++) {
        if (lua_rawgeti(L, names, i) == LUA_TSTRING) {
            bind_named_value(L, statement, i, names, arguments);
            continue;
        }
        lua_pop(L, 1);
        if (arguments->taken >= arguments->list_count) raise_count(L, arguments, statement->parameter_count);
        bind_list_value(L, statement, i, arguments);
    }
}

void pdb_bind_arguments(lua_State *L, pdb_statement *statement, int statement_index,
                             pdb_arguments *arguments) {
    arguments->statement = statement;
    if (statement->parameter_count == 0) return;
    /* Each value and its converted form stay on the stack, because SQLite does not copy their bytes. */
    int most = statement->parameter_count * (arguments->table ? 3 : 2);
    if (most > LUA_MINSTACK / 2) luaL_checkstack(L, most + LUA_MINSTACK, "too many arguments");
    if (arguments->table) bind_table(L, statement, statement_index, arguments);
    else bind_stack(L, statement, arguments);
}

/* MARK: - Arguments left over */

/* Returns the key of a table that is most similar to a name. Pushes one value, the list of keys. */
static const char *nearest_name(lua_State *L, int names, const char *name) {
    int count = 0;
    for (lua_pushnil(L); lua_next(L, names); lua_pop(L, 1)) count++;
    const char **list = lua_newuserdatauv(L, (size_t)count * sizeof *list + 1, 0);
    count = 0;
    for (lua_pushnil(L); plua_next_in_order(L, names); lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) list[count++] = lua_tostring(L, -2);
    }
    int position = pdb_state_of(L)->callbacks.sql.nearest(name, list, count);
    return position < 0 ? NULL : list[position];
}

/* Raises an error for a name that is not a parameter. `names` is the stack index of the table of names, or 0. */
static void raise_unknown(lua_State *L, const pdb_arguments *arguments, int names, const char *name) {
    if (*name && strchr(":@$", *name)) {
        fail(L, arguments, "%s: the statement has no parameter \"%s\"; names of arguments have no \"%c\", as in { %s = value }",
             arguments->verb, name, *name, name + 1);
    }
    const char *nearest = names ? nearest_name(L, names, name) : NULL;
    if (nearest) {
        fail(L, arguments, "%s: the statement has no parameter \"%s\" (did you mean \"%s\"?)", arguments->verb, name,
             nearest);
    }
    fail(L, arguments, "%s: the statement has no parameter \"%s\"", arguments->verb, name);
}

static bool is_list_length(lua_State *L, const char *name, int value) {
    return strcmp(name, "n") == 0 && lua_isinteger(L, value);
}

static int count_names(lua_State *L, int table) {
    int count = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) count += lua_type(L, -2) == LUA_TSTRING;
    return count;
}

/* Raises if the statement lacks a parameter for one of the table's names. A row may have more columns than the statement has parameters. */
static void check_names(lua_State *L, const pdb_arguments *arguments, int names) {
    if (pdb_is_row(L, arguments->table) || count_names(L, arguments->table) == arguments->named) return;
    for (lua_pushnil(L); plua_next_in_order(L, arguments->table); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) continue;
        bool is_known = false;
        if (names) {
            lua_pushvalue(L, -2);
            is_known = lua_rawget(L, names) != LUA_TNIL;
            lua_pop(L, 1);
        }
        if (is_known || is_list_length(L, lua_tostring(L, -2), -1)) continue;
        raise_unknown(L, arguments, names, lua_tostring(L, -2));
    }
}

void pdb_check_all_used(lua_State *L, pdb_statement *statement, int statement_index,
                             pdb_arguments *arguments) {
    arguments->statement = statement;
    bool is_row = arguments->table && pdb_is_row(L, arguments->table);
    if (arguments->taken < arguments->list_count && !is_row) raise_count(L, arguments, arguments->taken);
    if (arguments->table == 0) return;
    int names = arguments->used, top = lua_gettop(L);
    if (statement && statement->parameter_count > 0) {
        lua_getiuservalue(L, statement_index, PDB_PARAMETERS);
        names = lua_gettop(L);
    }
    check_names(L, arguments, names);
    lua_settop(L, top);
}
