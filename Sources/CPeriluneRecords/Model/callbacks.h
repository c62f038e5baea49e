/*
** Callbacks: functions of the Lua part, called from C by name. lib/perilune/records/native_callbacks.lua defines them. All must be set when
** records are opened.
*/
#ifndef PREC_CALLBACKS_H
#define PREC_CALLBACKS_H

#include <lua.h>

#define PREC_CALLBACKS(X)                                                                                                   \
    X(table_layout) X(name) X(missing) X(assign) X(write_sql) X(check_fields) X(widen) X(list_record) X(read_dates) X(key_missed)        \
    X(raise_type_mismatch) X(raise_value) X(check_value) X(call_record) X(explain) X(add_list_index) X(raise_not_found) X(raise_no_key) X(check_kept_key)                                                                                                       \
    X(insert) X(update) X(save) X(delete) X(exists) X(find) X(fetch_one) X(update_changes) X(write_changes)

#define PREC_CALLBACK_CASE(name) PREC_CALL_##name,
typedef enum { PREC_NO_CALLBACK, PREC_CALLBACKS(PREC_CALLBACK_CASE) PREC_CALLBACKS_END } prec_callback;
#undef PREC_CALLBACK_CASE

/* Pushes a callback. Raises if the callbacks are not set. [-0, +1, v] */
void prec_push_callback(lua_State *L, prec_callback callback);

/* Calls a callback with all values on the stack of the running C function. Returns the number of results. [-n, +m, e] */
int prec_call_in_lua(lua_State *L, prec_callback callback);

/* set_callbacks(functions by name): sets all callbacks; raises if one is missing or unknown. [-1, +0, v] */
int prec_set_callbacks(lua_State *L);

#endif
