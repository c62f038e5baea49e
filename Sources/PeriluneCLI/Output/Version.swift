internal import GRDBSQLite
internal import PeriluneLua

/// The versions of Perilune and of the libraries in use.
enum Version {
    static let perilune = "0.1.0"

    /// The version line that the console shows at its start.
    static var line: String { "Perilune \(perilune), Lua \(LuaRelease.current), SQLite \(String(cString: sqlite3_libversion()))" }

    /// The version of the Swift compiler.
    static var swift: String {
        #if compiler(>=6.4)
        "6.4 or later"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2 or earlier"
        #endif
    }
}
