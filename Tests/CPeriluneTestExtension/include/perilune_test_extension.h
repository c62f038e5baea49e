/* Functions that SQLite and Lua find by name in the library. */
#ifndef PERILUNE_TEST_EXTENSION_H
#define PERILUNE_TEST_EXTENSION_H

struct sqlite3;
struct sqlite3_api_routines;
struct lua_State;

int sqlite3_extension_init(struct sqlite3 *db, char **message, const struct sqlite3_api_routines *api);

int luaopen_libPeriluneTestExtension(struct lua_State *L);

#endif
