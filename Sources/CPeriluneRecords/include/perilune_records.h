/*
** Records: Lua tables whose fields are the columns of a row, based on the row path.
*/
#ifndef PERILUNE_RECORDS_PUBLIC_H
#define PERILUNE_RECORDS_PUBLIC_H

#include <lua.h>
#include <string.h>

/* Opens records in a state that has a row path. Must be called once, after pdb_open. [-0, +0, m] */
void prec_open(lua_State *L);

/* Pushes a table of functions for the Lua part of records. [-0, +1, m] */
void prec_push_record_functions(lua_State *L);

/*
** Returns the address of a Lua table's fields for the table's own address (lua_topointer). It is the location in Lua 5.4, and may
** only be used for cache prefetching: with another version, unrelated memory would be prefetched.
*/
static inline const char *prec_fields_of(const void *table) {
    _Static_assert(LUA_VERSION_NUM == 504, "look up in lobject.h of this Lua where a Table has its node");
    enum { address_of_fields = 24 };
    const char *fields;
    memcpy(&fields, (const char *)table + address_of_fields, sizeof fields);
    return fields;
}

#endif
