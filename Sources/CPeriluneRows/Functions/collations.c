/* Calls to collations written in Lua. */
#include "CPeriluneRows/Functions/functions.h"

static int call_collation(lua_State *L) {
    pdb_invocation *call = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->self->body);
    for (int i = 0; i < 2; i++) lua_pushlstring(L, call->texts[i], (size_t)call->lengths[i]);
    lua_call(L, 2, 1);
    if (lua_type(L, -1) != LUA_TNUMBER) {
        plua_raise(L, "conversion", "a collation must return a negative number, 0 or a positive number, got %s",
                   plua_describe(L, -1));
    }
    lua_Number order = lua_tonumber(L, -1);
    call->comparison = (order > 0) - (order < 0);
    return 0;
}

int pdb_call_collation(void *user_data, int left_length, const void *left, int right_length, const void *right) {
    pdb_definition *self = user_data;
    pdb_place place;
    lua_State *L = pdb_enter_callback(self, &place);
    if (L == NULL) {
        sqlite3_interrupt(self->handle);
        return 0;
    }
    if (self->state->rows->has_pending_error) {
        pdb_leave_callback(self, place);
        return 0;
    }
    pdb_invocation call = {
        .self = self, .texts = {left ? left : "", right ? right : ""}, .lengths = {left_length, right_length}};
    pdb_invoke(L, call_collation, &call);
    /* SQLite ignores failures of collations, so the statement is interrupted instead. */
    if (self->state->rows->has_pending_error) sqlite3_interrupt(self->handle);
    pdb_leave_callback(self, place);
    return call.comparison;
}
