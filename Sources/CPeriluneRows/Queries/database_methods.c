/* The methods of databases and prepared statements: execute, fetch_all, fetch_one and others. */
#include "CPeriluneRows/Queries/queries.h"

static int fetch_all(lua_State *L, pdb_call *call) {
    pdb_fetch(L, call, &pdb_rows_form, LUA_MAXINTEGER);
    return 1;
}

static int fetch_one(lua_State *L, pdb_call *call) {
    pdb_fetch_first(L, call, &pdb_rows_form);
    return 1;
}

static int fetch_value(lua_State *L, pdb_call *call) {
    if (!call->statement->is_direct) {
        pdb_fetch_first(L, call, &pdb_values_form);
        if (pdb_is_null(L, -1)) lua_pushnil(L);
        return 1;
    }
    if (pdb_step_once(L, call)) {
        pdb_check_columns(call->statement);
        pdb_push_value(L, call->statement, 0);
    } else {
        lua_pushnil(L);
    }
    pdb_end_run(call->statement);
    return 1;
}

/* Raises if a list of values from GRDB contains NULL, which the list represents by perilune.null. */
static void check_no_null(lua_State *L, pdb_call *call, int list) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        if (pdb_is_null(L, -1)) pdb_raise_null(L, call, i);
        lua_pop(L, 1);
    }
}

static int fetch_values(lua_State *L, pdb_call *call) {
    bool is_direct = call->statement->is_direct;
    pdb_fetch(L, call, &pdb_values_form, LUA_MAXINTEGER);
    if (!is_direct && !call->allows_null) check_no_null(L, call, lua_gettop(L));
    return 1;
}

static int fetch_optional_values(lua_State *L, pdb_call *call) {
    call->allows_null = true;
    return fetch_values(L, call);
}

static int fetch_set(lua_State *L, pdb_call *call) {
    fetch_values(L, call);
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        lua_pushboolean(L, true);
        lua_rawset(L, list + 1);
    }
    return 1;
}

static int prepare(lua_State *L, pdb_call *call) {
    pdb_handle *handle = lua_touserdata(L, 1);
    return pdb_push_prepared(L, handle, call->statement_index);
}

static int columns(lua_State *L, pdb_call *call) {
    pdb_statement *statement = call->statement;
    lua_createtable(L, statement->column_count, 0);
    for (int i = 0; i < statement->column_count; i++) {
        lua_pushstring(L, sqlite3_column_name(statement->handle, i));
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* Pushes the list of parameter names; false for parameters without a name. */
static int parameters(lua_State *L, pdb_call *call) {
    int count = call->statement->parameter_count;
    lua_createtable(L, count, 0);
    if (count == 0) return 1;
    lua_getiuservalue(L, call->statement_index, PDB_PARAMETERS);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -3, i);
    }
    lua_pop(L, 1);
    return 1;
}

static int is_readonly(lua_State *L, pdb_call *call) {
    lua_pushboolean(L, call->statement->is_readonly);
    return 1;
}


/* MARK: - Methods of scripts */

/* Defines a method that databases and prepared statements share. */
#define VERB(name, is_read)                                   \
    PDB_VERB(name, name, #name, is_read, false, true, false)  \
    PDB_ON_DATABASES(name)                                    \
    PDB_ON_STATEMENTS(name)

static int rows(lua_State *L, pdb_call *call) { return pdb_open_cursor(L, call, &pdb_rows_form); }
static int tuples(lua_State *L, pdb_call *call) { return pdb_open_cursor(L, call, &pdb_tuples_form); }

PDB_VERB(execute, pdb_execute, "execute", false, true, true, false)
PDB_ON_DATABASES(execute)
PDB_ON_STATEMENTS(execute)
VERB(fetch_all, true)
VERB(fetch_one, true)
VERB(fetch_value, true)
VERB(fetch_values, true)
VERB(fetch_optional_values, true)
VERB(fetch_set, true)
VERB(rows, false)
VERB(tuples, false)
PDB_VERB(prepare, prepare, "prepare", false, false, false, false)
PDB_ON_DATABASES(prepare)
PDB_VERB(columns, columns, "columns", false, false, false, false)
PDB_ON_STATEMENTS(columns)
PDB_VERB(parameters, parameters, "parameters", false, false, false, false)
PDB_ON_STATEMENTS(parameters)
PDB_VERB(is_readonly, is_readonly, "is_readonly", false, false, false, false)
PDB_ON_STATEMENTS(is_readonly)

const luaL_Reg pdb_database_verbs[] = {
    {"execute", database_execute},
    {"fetch_all", database_fetch_all},
    {"fetch_one", database_fetch_one},
    {"fetch_value", database_fetch_value},
    {"fetch_values", database_fetch_values},
    {"fetch_optional_values", database_fetch_optional_values},
    {"fetch_set", database_fetch_set},
    {"rows", database_rows},
    {"tuples", database_tuples},
    {"prepare", database_prepare},
    {NULL, NULL},
};

const luaL_Reg pdb_statement_verbs[] = {
    {"execute", statement_execute},
    {"fetch_all", statement_fetch_all},
    {"fetch_one", statement_fetch_one},
    {"fetch_value", statement_fetch_value},
    {"fetch_values", statement_fetch_values},
    {"fetch_optional_values", statement_fetch_optional_values},
    {"fetch_set", statement_fetch_set},
    {"rows", statement_rows},
    {"tuples", statement_tuples},
    {"columns", statement_columns},
    {"parameters", statement_parameters},
    {"is_readonly", statement_is_readonly},
    {NULL, NULL},
};
