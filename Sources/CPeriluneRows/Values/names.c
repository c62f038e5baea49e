/* Converts names to lower case, with the same rules as SQLite's comparison of names. */
#include "CPeriluneRows/Values/values.h"

void pdb_push_folded(lua_State *L, const char *name, size_t length) {
    luaL_Buffer buffer;
    char *folded = luaL_buffinitsize(L, &buffer, length);
    for (size_t i = 0; i < length; i++) folded[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    luaL_pushresultsize(&buffer, length);
}

int pdb_fold(lua_State *L) {
    size_t length;
    const char *name = luaL_checklstring(L, 1, &length);
    pdb_push_folded(L, name, length);
    return 1;
}
