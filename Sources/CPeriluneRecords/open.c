/* Opens records in a state. Only this file depends on all folders: it opens them and collects the functions for the Lua part. */
#include <perilune_records.h>

#include "CPeriluneRecords/Lists/lists.h"
#include "CPeriluneRecords/Requests/requests.h"

/* MARK: - Databases */

static int is_database(lua_State *L) {
    lua_pushboolean(L, pdb_to_userdata(L, 1, pdb_state_of(L)->database_metatable) != NULL);
    return 1;
}

static int is_row(lua_State *L) {
    lua_pushboolean(L, pdb_is_row(L, 1));
    return 1;
}

static int is_statement(lua_State *L) {
    lua_pushboolean(L, pdb_to_userdata(L, 1, pdb_state_of(L)->statement_metatable) != NULL);
    return 1;
}

static int schema_generation(lua_State *L) {
    pdb_handle *handle = pdb_check_handle(L, pdb_state_of(L), 1, "schema_generation");
    lua_pushinteger(L, handle->database->schema_generation);
    return 1;
}

/* touch_schema(db): records that the schema may have changed. */
static int touch_schema(lua_State *L) {
    pdb_touch_schema(pdb_check_handle(L, pdb_state_of(L), 1, "touch_schema")->database);
    return 0;
}

static int database_id(lua_State *L) {
    pdb_handle *handle = pdb_check_handle(L, pdb_state_of(L), 1, "database_id");
    lua_pushinteger(L, (lua_Integer)handle->database->id);
    return 1;
}

/* Stack: function, arguments. */
static int call_in_access(lua_State *L, pdb_access *access, void *context) {
    (void)access, (void)context;
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* with_access(db, mode, function, ...): calls the function in the open access or in a new one. The mode is "read", "write" or "guard",
** which undoes the changes of a call that fails. */
static int with_access(lua_State *L) {
    static const char *const names[] = {"read", "write", "guard", NULL};
    int mode = luaL_checkoption(L, 2, NULL, names);
    pdb_task task = {.is_guarded = mode == 2, .body = call_in_access};
    task.database = pdb_resolve_database(L, 1, "with_access", &task.access);
    lua_remove(L, 2);
    lua_remove(L, 1);
    return pdb_run_task(L, &task);
}

static const luaL_Reg database_functions[] = {
    {"default_database", pdb_default_database},
    {"with_default_database", pdb_with_default_database},
    {"is_database", is_database},
    {"is_statement", is_statement},
    {"is_row", is_row},
    {"schema_generation", schema_generation},
    {"database_id", database_id},
    {"touch_schema", touch_schema},
    {"with_access", with_access},
    {NULL, NULL},
};

/* MARK: - Opening */

void prec_push_record_functions(lua_State *L) {
    static const luaL_Reg *const rooms[] = {
        database_functions,   prec_model_functions, prec_table_layout_functions, prec_column_set_functions, prec_making_functions, prec_null_functions, prec_snapshot_functions,
        prec_decoding_functions, prec_record_fetches,  prec_record_writes,  prec_list_functions, prec_request_functions,
        prec_derivation_functions, prec_prefetch_functions,
    };
    lua_createtable(L, 0, 64);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) luaL_setfuncs(L, rooms[i], 0);
}

void prec_open(lua_State *L) {
    prec_open_models(L);
    pdb_state_of(L)->explain_failure = prec_explain_failure;
}
