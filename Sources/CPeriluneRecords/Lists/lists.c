/* insert_all: inserts many records. */
#include "CPeriluneRecords/Lists/lists.h"

/* Replaces the plain table on top of the stack by a record. Returns false, and leaves the stack unchanged, for other values or if the Lua
** part must create the record. */
static bool make_element(lua_State *L) {
    int values = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    if (!prec_are_fields(L, values)) return false;
    bool is_made = !prec_reads_in_lua(lua_touserdata(L, MODEL)) && prec_push_made(L, MODEL, NULL, values);
    if (is_made) lua_replace(L, values);
    lua_settop(L, values);
    return is_made;
}

void prec_push_element(lua_State *L, prec_insertion *insertion, lua_Integer position) {
    insertion->position = position;
    lua_rawgeti(L, LIST, position);
    prec_column_set *set = prec_column_set_at(L, -1);
    bool is_record = set != NULL && set->layout->model == lua_touserdata(L, MODEL);
    if (!is_record && !make_element(L)) {
        prec_push_callback(L, PREC_CALL_list_record);
        lua_insert(L, -2);
        lua_pushvalue(L, CLASS);
        lua_insert(L, -2);
        lua_call(L, 2, 1);
    }
    lua_pushvalue(L, -1);
    lua_rawseti(L, RESULT, position);
}

prec_record_write prec_begin_element(lua_State *L, prec_insertion *insertion, lua_Integer position) {
    prec_push_element(L, insertion, position);
    prec_push_column_set_of(L, -1);
    return prec_begin_work(L, insertion->database, insertion->access, "insert_all", lua_gettop(L) - 1);
}

bool prec_has_rowid(lua_State *L, prec_record_write *work) {
    if (work->layout->rowid < 0) return false;
    lua_getiuservalue(L, work->layout_index, TABLE_LAYOUT_NAMES);
    lua_rawgeti(L, -1, work->layout->rowid + 1);
    bool has_rowid = lua_rawget(L, work->record) != LUA_TNIL;
    lua_pop(L, 2);
    return has_rowid;
}

void prec_insert_one(lua_State *L, prec_insertion *insertion, lua_Integer position) {
    prec_record_write work = prec_begin_element(L, insertion, position);
    bool has_key = prec_has_rowid(L, &work);
    prec_save_element(L, position, work.record);
    prec_insert_row(L, &work, 0);
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(insertion->access->connection->handle);
    bool is_next = insertion->in_sequence > 0 && rowid == insertion->last_rowid + 1;
    insertion->in_sequence = has_key ? 0 : is_next ? insertion->in_sequence + 1 : 1;
    insertion->last_rowid = rowid;
    lua_settop(L, TOP);
}

/* Returns whether a statement that was sent ahead has failed or had an unexpected result. */
static bool has_failed_ahead(const prec_insertion *insertion) {
    return insertion->is_ahead && insertion->database && *insertion->database->remote.failure_count != insertion->failure_count;
}

static void wait_for_answers(lua_State *L, prec_insertion *insertion) {
    const pdb_remote *remote = &insertion->database->remote;
    if (!remote->settle(remote->context)) pdb_raise_failure(L, NULL);
    if (has_failed_ahead(insertion)) plua_raise(L, "database", "insert_all: some rows were not inserted");
}

/* Inserts the records in a transaction or savepoint. */
static int insert_all_inside(lua_State *L, pdb_access *access, void *context) {
    prec_insertion *insertion = context;
    lua_settop(L, TOP);
    insertion->database = access->database;
    insertion->access = access;
    insertion->count = (lua_Integer)lua_rawlen(L, LIST);
    access->is_taken = true; /* the guard covers all statements inside it */
    insertion->is_ahead = insertion->is_ahead && pdb_is_remote(insertion->database);
    if (insertion->is_ahead) insertion->failure_count = *insertion->database->remote.failure_count;
    for (lua_Integer i = 1; i <= insertion->count;) i += prec_insert_some(L, insertion, i);
    insertion->position = 0;
    if (insertion->is_ahead) wait_for_answers(L, insertion);
    lua_settop(L, RESULT);
    return 1;
}

static int insert_all_guarded(lua_State *L) {
    pdb_task task = {.is_guarded = true, .body = insert_all_inside, .context = lua_touserdata(L, INSERTION)};
    task.database = pdb_resolve_database(L, 2, "insert_all", &task.access);
    return pdb_run_task(L, &task);
}

/* Raises the error on top of the stack, with the list index of the record added. */
static int raise_for_element(lua_State *L, lua_Integer position) {
    if (position > 0 && plua_is_error(L, -1)) {
        prec_push_callback(L, PREC_CALL_add_list_index);
        lua_pushvalue(L, -2);
        lua_pushinteger(L, position);
        lua_call(L, 2, 0);
    }
    return plua_throw(L);
}

/* Pushes the list of records and returns true. On failure, restores all records, pushes the error and returns false. */
static bool try_insertion(lua_State *L, prec_insertion *insertion) {
    lua_settop(L, LIST);
    lua_Unsigned count = lua_rawlen(L, LIST);
    for (int i = SAVED; i < RESULT; i++) lua_newtable(L);
    lua_createtable(L, count < INT32_MAX ? (int)count : 0, 0);
    pdb_mark_list(L);
    lua_pushlightuserdata(L, insertion);
    prec_push_model(L, CLASS);
    lua_pushcfunction(L, insert_all_guarded);
    for (int i = CLASS; i <= MODEL; i++) lua_pushvalue(L, i);
    if (plua_pcall(L, MODEL, 1) == LUA_OK) return true;
    prec_put_back(L, &insertion->present);
    return false;
}

/*
** Inserts a list of records and returns it. Stack: class, database or nil, list.
**
** In a cluster, statements are sent ahead, so later statements have already run when one fails. In this case all of them are undone and
** then run one after the other, to find the record that has caused the failure.
*/
int prec_insert_all(lua_State *L) {
    prec_insertion insertion = {.last_rowid = -1, .present = {.first = 1}, .is_ahead = true};
    lua_settop(L, LIST);
    if (prec_model_at(L, CLASS) == NULL || !lua_istable(L, LIST)) {
        return plua_argument_error(L, "insert_all", 1, "a list", LIST);
    }
    luaL_checkstack(L, LUA_MINSTACK * 2, NULL);
    if (try_insertion(L, &insertion)) return 1;
    if (has_failed_ahead(&insertion)) {
        insertion = (prec_insertion){.last_rowid = -1, .present = {.first = 1}};
        if (try_insertion(L, &insertion)) return 1;
    }
    return raise_for_element(L, insertion.position);
}

const luaL_Reg prec_list_functions[] = {
    {"raw_insert_all", prec_insert_all},
    {NULL, NULL},
};
