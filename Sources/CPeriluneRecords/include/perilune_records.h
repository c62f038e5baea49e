/*
** Records: tables of Lua whose fields are the columns of a row, above the row path.
*/
#ifndef PERILUNE_RECORDS_PUBLIC_H
#define PERILUNE_RECORDS_PUBLIC_H

#include <lua.h>
#include <string.h>

/* Opens records in a state that has a row path: after pdb_open, once. [-0, +0, m] */
void prec_open(lua_State *L);

/* A table of functions for the Lua part of records. [-0, +1, m] */
void prec_push_record_functions(lua_State *L);

/*
** The address of the fields of a Lua table, which is given by its own (lua_topointer). It is where Lua 5.4 keeps it, and good for
** asking the processor for the fields early, no more: elsewhere some other memory would be asked for.
*/
static inline const char *prec_fields_of(const void *table) {
    _Static_assert(LUA_VERSION_NUM == 504, "look up in lobject.h of this Lua where a Table has its node");
    enum { address_of_fields = 24 };
    const char *fields;
    memcpy(&fields, (const char *)table + address_of_fields, sizeof fields);
    return fields;
}

#endif
