/* Lua 5.4, as Debian has it. */
#ifndef PERILUNE_LUA_H
#define PERILUNE_LUA_H

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#endif
