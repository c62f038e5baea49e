internal import CPeriluneShim

/// The standard functions that a script may use.
public struct LuaLibraries: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The basic functions `print`, `pcall`, `load`, ..., and the harmless parts of `os` and `debug`: `os.time`, `os.date`,
    /// `os.clock`, `os.difftime`, `debug.traceback`.
    public static let base = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_BASE))
    /// The library `coroutine`.
    public static let coroutine = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_COROUTINE))
    /// The library `table`.
    public static let table = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_TABLE))
    /// The library `string`.
    public static let string = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_STRING))
    /// The library `math`.
    public static let math = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_MATH))
    /// The library `utf8`.
    public static let utf8 = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_UTF8))
    /// The library `io`, which gives access to files and processes.
    public static let io = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_IO))
    /// The whole library `os`, which gives access to processes, files and the environment.
    public static let os = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_OS))
    /// The whole library `debug`, and access to the metatable of strings. A script with this library can corrupt the host's memory.
    /// Never grant it to untrusted scripts.
    public static let debug = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_DEBUG))
    /// The functions `dofile` and `loadfile`.
    public static let files = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_LOADFILE))
    /// The function `string.dump`, and compiled chunks in `load`, `loadfile` and `dofile`. Without this option, or in a state with
    /// limits, these functions load only text. A script with this option can corrupt the host's memory. Never grant it to untrusted
    /// scripts.
    public static let bytecode = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_BYTECODE))
    /// The library `package`, which can load C libraries, and `require`, which searches the host's modules first. A script with
    /// this library can run any code.
    public static let package = LuaLibraries(rawValue: UInt32(PLUA_LIBRARY_PACKAGE))

    /// The libraries that cannot affect anything outside the state. This is the default.
    public static let sandboxed: LuaLibraries = [.base, .coroutine, .table, .string, .math, .utf8]
    /// All standard libraries, for scripts run by the command-line tool and other trusted scripts.
    public static let trusted: LuaLibraries = [.sandboxed, .io, .os, .files, .debug, .bytecode, .package]

    /// The names under which `require` returns library tables.
    package static let tableNames = ["coroutine", "debug", "io", "math", "os", "string", "table", "utf8"]
}
