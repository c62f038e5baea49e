internal import CPeriluneSQLite
internal import Foundation
package import GRDB
package import PeriluneDependencies

/// A controlled clock and source of random numbers for databases.
///
/// SQLite asks the VFS of a database for the current time and for random bytes. Databases are therefore opened through a VFS whose
/// name selects the sources. All SQLite functions on all connections use these sources, as do the durations in profiles.
package struct SQLEnvironment: Sendable {
    /// The name of the VFS.
    private let name: String

    /// Creates an environment. The caller must release it after opening the database.
    package init(date: DateSource, random: RandomSource) throws {
        let sources = Sources(date: date, random: random)
        var environment = sources.environment
        environment.object = Unmanaged.passRetained(sources).toOpaque()
        environment.release = { Unmanaged<Sources>.fromOpaque($0!).release() }
        guard let name = psql_make_environment(&environment) else {
            environment.release?(environment.object)
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        self.name = String(cString: name)
    }

    /// Releases the caller's reference to the environment. Open connections keep it alive.
    package func release() {
        psql_release_environment(name)
    }

    /// Returns the URI that opens a file with this environment. For a `nil` path, the URI opens an in-memory database.
    package func uri(of path: String?) -> String {
        guard let path else { return "file::memory:?vfs=\(name)" }
        return "\(Self.uri(ofFile: path))?vfs=\(name)"
    }

    private static func uri(ofFile path: String) -> String {
        var plain = CharacterSet.alphanumerics
        plain.insert(charactersIn: "/-._~")
        let ascii = plain.intersection(CharacterSet(charactersIn: "\u{1}"..."\u{7e}"))
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: ascii) ?? path)"
    }

    /// Returns the URI that opens a file for reading without locks and without files next to it.
    package static func immutableURI(of path: String) -> String { uri(ofFile: path) + "?immutable=1" }

    /// Configures the connections of a database to use the environment.
    package func configure(_ configuration: inout Configuration, date: DateSource) {
        configuration.prepareDatabase { db in
            let code = psql_install_environment(db.sqliteConnection, name)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        configuration.transactionClock = .custom { _ in date() }
    }

    /// Returns the file path from a URI that was created by ``uri(of:)`` or ``immutableURI(of:)``, or any other path unchanged.
    package static func plainPath(of path: String) -> String {
        guard path.hasPrefix("file:"),
            let end = path.range(of: "?vfs=\(PSQL_ENVIRONMENT_PREFIX)") ?? path.range(of: "?immutable=1")
        else { return path }
        let name = path[path.index(path.startIndex, offsetBy: 5)..<end.lowerBound]
        return name.removingPercentEncoding ?? String(name)
    }
}

extension ScriptEnvironment {
    /// Opens a database with the clock and random numbers of this environment, unless they are the system's.
    ///
    /// - Parameters:
    ///   - path: The file, or `nil` for an in-memory database. With the system's clock and random numbers, it may also be a URI.
    ///   - open: Opens the database with the given name and configuration.
    /// - Throws: Errors of `open`; the message of a `DatabaseError` contains the path.
    package func opening<Writer>(
        _ path: String?, _ configuration: Configuration, _ open: (String, Configuration) throws -> Writer
    ) throws -> Writer {
        do {
            return try openControlled(path, configuration, open)
        } catch let error as DatabaseError {
            throw error.opening(path)
        }
    }

    private func openControlled<Writer>(
        _ path: String?, _ configuration: Configuration, _ open: (String, Configuration) throws -> Writer
    ) throws -> Writer {
        let isImmutable = configuration.readonly && path.map(UnwritableFolder.requiresImmutable) == true
        guard isControlled, path?.hasPrefix("file:") != true else {
            let name = isImmutable ? path.map(SQLEnvironment.immutableURI) : path
            return try open(name ?? ":memory:", configuration)
        }
        var configuration = configuration
        let sources = try SQLEnvironment(date: date, random: random)
        // Open connections keep the environment alive.
        defer { sources.release() }
        sources.configure(&configuration, date: date)
        return try open(sources.uri(of: path) + (isImmutable ? "&immutable=1" : ""), configuration)
    }
}

/// The clock and the source of random numbers that databases use on a script's thread.
package final class ThreadEnvironment: Sendable {
    private let sources: Sources
    /// Only `init` writes it.
    private nonisolated(unsafe) let record: UnsafeMutablePointer<psql_environment>

    package init(_ environment: ScriptEnvironment) {
        sources = Sources(date: environment.date, random: environment.random)
        record = .allocate(capacity: 1)
        record.initialize(to: sources.environment)
    }

    deinit {
        record.deallocate()
    }

    /// Activates the environment on the calling thread until the thread ends. This object must outlive all uses of databases on the
    /// thread.
    package func begin() {
        psql_use_environment(record)
    }
}

/// The clock and the source of random numbers that SQLite queries.
private final class Sources: Sendable {
    let date: DateSource
    let random: RandomSource

    init(date: DateSource, random: RandomSource) {
        self.date = date
        self.random = random
    }

    /// The C structure, which does not retain this object.
    var environment: psql_environment {
        psql_environment(
            object: Unmanaged.passUnretained(self).toOpaque(),
            now: { Unmanaged<Sources>.fromOpaque($0!).takeUnretainedValue().now() },
            random: { Unmanaged<Sources>.fromOpaque($0!).takeUnretainedValue().random.next() },
            release: nil)
    }

    /// Returns the current time in milliseconds since the epoch of Julian days.
    private func now() -> Int64 {
        let milliseconds = (date().timeIntervalSince1970 * 1000).rounded() + 210_866_760_000_000
        return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? 0 : .max)
    }
}
