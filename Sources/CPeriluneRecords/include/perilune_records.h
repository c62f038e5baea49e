/*
** Records: Lua tables whose fields are the columns of a row, based on the row path.
*/
#ifndef PERILUNE_RECORDS_PUBLIC_H
#define PERILUNE_RECORDS_PUBLIC_H

#include <lua.h>
#include <string.h>

/* Opens records in a state. Must be called once, after pdb_open. [-0, +0, m] */
void prec_open(lua_State *L);

/* Pushes a table of functions for the Lua part. [-0, +1, m] */
void prec_push_record_functions(lua_State *L);

/*
** Returns the address of a Lua table's fields. `table` is the address of the table (lua_topointer). The offset is the one in Lua 5.4. The
** result may be used only for prefetching: with another version of Lua, it would be an unrelated address.
*/
static inline const char *prec_fields_of(const void *table) {
    _Static_assert(LUA_VERSION_NUM == 504, "look up in lobject.h of this Lua where a Table has its node");
    enum { address_of_fields = 24 };
    const char *fields;
    memcpy(&fields, (const char *)table + address_of_fields, sizeof fields);
    return fields;
}

#endif
