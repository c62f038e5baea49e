internal import CPeriluneShim

/// The standard functions that a script may use.
public struct LuaLibraries: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// `print`, `pcall`, `load`, ..., and the harmless parts of `os` and `debug`: `os.time`, `os.date`, `os.clock`, `os.difftime`,
    /// `debug.traceback`.
    public static let base = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_BASE))
    /// `coroutine`.
    public static let coroutine = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_COROUTINE))
    /// `table`.
    public static let table = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_TABLE))
    /// `string`.
    public static let string = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_STRING))
    /// `math`.
    public static let math = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_MATH))
    /// `utf8`.
    public static let utf8 = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_UTF8))
    /// `io`: files and processes.
    public static let io = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_IO))
    /// All of `os`: processes, files, the environment.
    public static let os = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_OS))
    /// All of `debug`, and the metatable of strings. A script with it can corrupt the host's memory. Never grant it to untrusted
    /// scripts.
    public static let debug = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_DEBUG))
    /// `dofile` and `loadfile`.
    public static let files = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_LOADFILE))
    /// `string.dump`, and compiled chunks in `load`, `loadfile` and `dofile`. Without it, and under limits, these load text only. A
    /// script with it can corrupt the host's memory. Never grant it to untrusted scripts.
    public static let bytecode = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_BYTECODE))
    /// `package`, including C libraries, and `require`, which searches the host's modules first. A script with it can run any code.
    public static let package = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_PACKAGE))

    /// The libraries that can do no harm outside of the state. The default.
    public static let sandboxed: LuaLibraries = [.base, .coroutine, .table, .string, .math, .utf8]
    /// All of Lua's libraries, as users of the command line expect.
    public static let trusted: LuaLibraries = [.sandboxed, .io, .os, .files, .debug, .bytecode, .package]

    /// The names under which `require` returns library tables.
    package static let tableNames = ["coroutine", "debug", "io", "math", "os", "string", "table", "utf8"]
}
