internal import Foundation
internal import GRDB

/// Copies a database that somebody may be using, and leaves no trace beside it.
enum LiveCopy {
    /// Copies a file into a database; one that does not exist counts as empty.
    static func copy(_ path: String, to writer: any DatabaseWriter) throws {
        for _ in 0..<3 where FileManager.default.fileExists(atPath: path) {
            let before = State(of: path)
            // Even a reader leaves files behind, beside a database in WAL mode that nobody uses: this one is told that nothing
            // changes, and what it has read counts only if that was so.
            guard before.isAtRest else { break }
            try backup(immutableURI(of: path), to: writer)
            if State(of: path) == before { return }
        }
        // Somebody uses it: the files beside it are there anyway.
        if FileManager.default.fileExists(atPath: path) { try backup(path, to: writer) }
    }

    private static func backup(_ name: String, to writer: any DatabaseWriter) throws {
        var configuration = Configuration()
        configuration.readonly = true
        let source = try DatabaseQueue(path: name, configuration: configuration)
        try source.backup(to: writer)
        try source.close()
    }

    private static func immutableURI(of path: String) -> String {
        URL(filePath: path).absoluteString + "?immutable=1"
    }

    /// What tells whether a database has changed.
    private struct State: Equatable {
        let size: Int?
        let modified: Date?
        /// Whether nobody uses it and no transaction is to be recovered.
        let isAtRest: Bool

        init(of path: String) {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            size = attributes?[.size] as? Int
            modified = attributes?[.modificationDate] as? Date
            isAtRest = !["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: path + $0) }
        }
    }
}
