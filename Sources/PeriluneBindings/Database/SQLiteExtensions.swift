internal import CPeriluneSQLite
internal import Foundation
package import GRDB
package import PeriluneLua
internal import Synchronization

/// The SQLite extensions that each connection used by scripts loads.
package struct SQLiteExtensions: Sendable {
    private let paths: [String]

    package static let none = SQLiteExtensions([])

    /// Creates the list from the paths of shared libraries. The libraries are not loaded.
    package init(_ paths: [String]) {
        // The paths are made absolute, because SQLite searches the system's library folders for a bare file name.
        self.paths = paths.map { URL(filePath: $0).standardizedFileURL.path }
    }

    /// Creates the list from the paths of shared libraries, and checks the libraries by loading them on a temporary connection.
    ///
    /// - Throws: ``ExtensionError`` for the first extension that cannot be loaded.
    package init(checking paths: [String]) throws {
        self.init(paths)
        guard !paths.isEmpty else { return }
        try DatabaseQueue().inDatabase { db in try load(on: db) }
    }

    package var isEmpty: Bool { paths.isEmpty }

    /// Configures a database so that each connection loads the extensions before its first use.
    package func install(in configuration: inout Configuration) {
        guard !isEmpty else { return }
        configuration.prepareDatabase { [self] db in try load(on: db) }
    }

    /// Loads the extensions that the connection has not loaded yet. Must be called on the connection's queue.
    func load(on db: Database) throws {
        for path in paths where !LoadedExtensions.contain(path, on: db) {
            try Self.load(path, on: db)
            LoadedExtensions.add(path, on: db)
        }
    }

    /// The lock held while an extension is loaded, because extensions initialize global variables without locks.
    private static let loading = Mutex(())

    private static func load(_ path: String, on db: Database) throws {
        // For a missing file, SQLite also tries the platform's suffix, and its error then shows the wrong name.
        guard [path, path + ".so", path + ".dylib"].contains(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw ExtensionError(path: path, reason: "file not found")
        }
        var message: UnsafeMutablePointer<CChar>?
        let code = loading.withLock { _ in psql_load_extension(db.sqliteConnection, path, &message) }
        defer { sqlite3_free(message) }
        guard code == SQLITE_OK else {
            throw ExtensionError(path: path, reason: message.map { String(cString: $0) } ?? "SQLite's code \(code)")
        }
    }
}

/// The extensions loaded by each connection of this process. Several states may share a connection.
private enum LoadedExtensions {
    /// `@unchecked Sendable`: the connection is only compared.
    private struct Entry: @unchecked Sendable {
        weak var connection: Database?
        var paths: Set<String> = []
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    static func contain(_ path: String, on db: Database) -> Bool {
        let key = ObjectIdentifier(db)
        return entries.withLock { $0[key].map { $0.connection != nil && $0.paths.contains(path) } ?? false }
    }

    static func add(_ path: String, on db: Database) {
        let key = ObjectIdentifier(db)
        nonisolated(unsafe) let connection = db
        entries.withLock { entries in
            entries = entries.filter { $0.value.connection != nil }
            var entry = entries[key] ?? Entry(connection: connection)
            entry.paths.insert(path)
            entries[key] = entry
        }
    }
}

/// The error of loading an extension.
package struct ExtensionError: LuaErrorDescribing, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var luaKind: String { "cannot_load" }
    package var luaMessage: String { "cannot load the extension \(path): \(reason)" }
    package var luaFields: [String: ScriptValue] { ["path": .string(path)] }
    package var description: String { luaMessage }
}
