/* The verbs of databases and prepared statements: execute, fetch_all, fetch_one and the like. */
#include "CPeriluneRows/Queries/verbs.h"

static int fetch_all(lua_State *L, pdb_call *call) {
    pdb_fetch(L, call, PDB_ROWS, LUA_MAXINTEGER);
    return 1;
}

/* Pushes the first of the rows of a statement that goes through GRDB. */
static int first_through_grdb(lua_State *L, pdb_call *call, pdb_row_form form) {
    pdb_run_through_grdb(L, call, form, 1);
    lua_rawgeti(L, -1, 1);
    return 1;
}

static int fetch_one(lua_State *L, pdb_call *call) {
    if (!call->statement->is_direct) return first_through_grdb(L, call, PDB_ROWS);
    if (pdb_step_once(L, call)) {
        pdb_push_keys(L, call->statement, call->statement_index);
        pdb_push_row(L, call->statement, lua_gettop(L));
    } else {
        lua_pushnil(L);
    }
    pdb_end_run(call->statement);
    return 1;
}

static int fetch_value(lua_State *L, pdb_call *call) {
    if (!call->statement->is_direct) {
        first_through_grdb(L, call, PDB_VALUES);
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

/* For values that came through GRDB, where NULL is perilune.null. */
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
    pdb_fetch(L, call, PDB_VALUES, LUA_MAXINTEGER);
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

/* The names of the parameters; false for those without. */
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


/* MARK: - What scripts call */

#define ON_DATABASES(name) \
    static int database_##name(lua_State *L) { return pdb_call_on_database(L, &name##_verb); }
#define ON_STATEMENTS(name) \
    static int statement_##name(lua_State *L) { return pdb_call_on_statement(L, &name##_verb); }

#define FULL_VERB(name, body, text, is_read, takes_several, runs, takes_class)                    \
    static const pdb_verb name##_verb = {text, body, is_read, takes_several, runs, takes_class};

/* One that both have. */
#define VERB(name, is_read)                                         \
    FULL_VERB(name, name, #name, is_read, false, true, false)       \
    ON_DATABASES(name)                                              \
    ON_STATEMENTS(name)

static int rows(lua_State *L, pdb_call *call) { return pdb_open_cursor(L, call, PDB_ROWS); }
static int tuples(lua_State *L, pdb_call *call) { return pdb_open_cursor(L, call, PDB_TUPLES); }

static int record_rows(lua_State *L, pdb_call *call) { return pdb_open_cursor(L, call, PDB_RECORDS); }

int prec_fetch_records(lua_State *L, pdb_call *call) {
    pdb_fetch(L, call, PDB_RECORDS, LUA_MAXINTEGER);
    prec_check_types(L, call->rows);
    return 1;
}

int prec_fetch_record(lua_State *L, pdb_call *call) {
    if (!call->statement->is_direct) {
        first_through_grdb(L, call, PDB_RECORDS);
    } else if (pdb_step_once(L, call)) {
        pdb_check_columns(call->statement);
        prec_push_layout(L, call);
        prec_push_record(L, call->statement, lua_gettop(L));
        if (call->rows->has_pending_error) pdb_raise_failure(L, call->statement);
    } else {
        lua_pushnil(L);
    }
    pdb_end_run(call->statement);
    prec_check_types(L, call->rows);
    return 1;
}

FULL_VERB(execute, pdb_execute, "execute", false, true, true, false)
ON_DATABASES(execute)
ON_STATEMENTS(execute)
VERB(fetch_all, true)
VERB(fetch_one, true)
VERB(fetch_value, true)
VERB(fetch_values, true)
VERB(fetch_optional_values, true)
VERB(fetch_set, true)
VERB(rows, false)
VERB(tuples, false)
FULL_VERB(prepare, prepare, "prepare", false, false, false, false)
ON_DATABASES(prepare)
FULL_VERB(columns, columns, "columns", false, false, false, false)
ON_STATEMENTS(columns)
FULL_VERB(parameters, parameters, "parameters", false, false, false, false)
ON_STATEMENTS(parameters)
FULL_VERB(is_readonly, is_readonly, "is_readonly", false, false, false, false)
ON_STATEMENTS(is_readonly)
FULL_VERB(fetch_records, prec_fetch_records, "fetch_all", true, false, true, true)
ON_DATABASES(fetch_records)
ON_STATEMENTS(fetch_records)
FULL_VERB(fetch_record, prec_fetch_record, "fetch_one", true, false, true, true)
ON_DATABASES(fetch_record)
ON_STATEMENTS(fetch_record)
FULL_VERB(record_rows, record_rows, "rows", false, false, true, true)
ON_DATABASES(record_rows)
ON_STATEMENTS(record_rows)

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

/* For the library: database, SQL, class, arguments; or statement, class, arguments. */
const luaL_Reg prec_record_fetches[] = {
    {"fetch_records", database_fetch_records},
    {"fetch_record", database_fetch_record},
    {"record_rows", database_record_rows},
    {"fetch_statement_records", statement_fetch_records},
    {"fetch_statement_record", statement_fetch_record},
    {"statement_record_rows", statement_record_rows},
    {NULL, NULL},
};
