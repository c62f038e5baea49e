// Re-exports, so that `import Perilune` provides everything that a program with scripts needs. Of PeriluneLua, only the types that hosts
// use are re-exported; a program that embeds Lua directly imports the whole module.
@_exported public import PeriluneDependencies
@_exported public import struct PeriluneLua.LuaError
@_exported public import protocol PeriluneLua.LuaErrorDescribing
@_exported public import struct PeriluneLua.LuaLibraries
@_exported public import struct PeriluneLua.LuaLimits
@_exported public import enum PeriluneLua.ScriptValue
