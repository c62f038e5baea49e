// One import provides everything that a program with scripts needs. Of PeriluneLua, these are the types that hosts use; a program that
// embeds Lua itself imports all of it.
@_exported public import PeriluneDependencies
@_exported public import struct PeriluneLua.LuaError
@_exported public import protocol PeriluneLua.LuaErrorDescribing
@_exported public import struct PeriluneLua.LuaLibraries
@_exported public import struct PeriluneLua.LuaLimits
@_exported public import enum PeriluneLua.ScriptValue
