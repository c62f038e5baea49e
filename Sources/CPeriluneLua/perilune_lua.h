#ifndef PERILUNE_LUA_H
#define PERILUNE_LUA_H

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#endif
