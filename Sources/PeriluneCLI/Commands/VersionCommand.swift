import ArgumentParser
internal import GRDB
internal import GRDBSQLite
internal import PeriluneLua

/// The command `perilune version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Show the versions of Perilune and its components.",
        discussion: """
            Also lists the known bugs of the Lua release in use.

            EXAMPLES:
              perilune version
              perilune version | head -1
            """.paragraphs)

    func run() throws {
        var lines = ["perilune \(Version.perilune)", "Lua \(LuaRelease.current)"]
        let bugs = LuaRelease.current.knownBugs
        lines += bugs.map { "  has: \($0.description)\($0.isClosed ? " - closed by Perilune" : "")" }
        if bugs.isEmpty { lines.append("  has none of the known bugs of earlier releases") }
        lines.append("SQLite \(String(cString: sqlite3_libversion()))")
        lines.append("Swift \(Version.swift)")
        try StandardStreams.write(Array((lines.joined(separator: "\n") + "\n").utf8))
        try StandardStreams.flush()
    }
}
