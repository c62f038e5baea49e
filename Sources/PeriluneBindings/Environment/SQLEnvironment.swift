internal import CPeriluneSQLite
internal import Foundation
package import GRDB
package import PeriluneDependencies

/// The clock and the random numbers of a database, for those that must not get the machine's.
///
/// SQLite asks for the present through the file system that a database is opened with: so these are opened by a name that
/// tells theirs. All of SQLite's functions follow it, on all connections; so do the durations of its profiles.
package struct SQLEnvironment: Sendable {
    /// The name of SQLite's file system.
    private let name: String

    /// Makes an environment, which the caller releases when the database is open.
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

    /// Ends what ``init(date:random:)`` began; the connections that are open keep the environment.
    package func release() {
        psql_release_environment(name)
    }

    /// What opens a file with this environment; `nil` stands for a database in memory.
    package func uri(of path: String?) -> String {
        guard let path else { return "file::memory:?vfs=\(name)" }
        var plain = CharacterSet.alphanumerics
        plain.insert(charactersIn: "/-._~")
        let ascii = plain.intersection(CharacterSet(charactersIn: "\u{1}"..."\u{7e}"))
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: ascii) ?? path)?vfs=\(name)"
    }

    /// Has the connections of a database follow the environment.
    package func configure(_ configuration: inout Configuration, date: DateSource) {
        configuration.prepareDatabase { db in
            let code = psql_install_environment(db.sqliteConnection, name)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        configuration.transactionClock = .custom { _ in date() }
    }

    /// The path of a file, of which a database knows its URI.
    package static func plainPath(of path: String) -> String {
        guard path.hasPrefix("file:"), let end = path.range(of: "?vfs=\(PSQL_ENVIRONMENT_PREFIX)") else { return path }
        let name = path[path.index(path.startIndex, offsetBy: 5)..<end.lowerBound]
        return name.removingPercentEncoding ?? String(name)
    }
}

extension ScriptEnvironment {
    /// Opens a database that sees the clock and the random numbers of this environment, if they are not the machine's.
    ///
    /// - Parameters:
    ///   - path: The file, `nil` for a database in memory. A URI is used unchanged, and sees the time of the machine.
    ///   - open: Opens it by the name that it gets.
    /// - Throws: What `open` throws; the message of a `DatabaseError` names the path.
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
        guard isControlled, path?.hasPrefix("file:") != true else { return try open(path ?? ":memory:", configuration) }
        var configuration = configuration
        let sources = try SQLEnvironment(date: date, random: random)
        // The connections that are open keep it.
        defer { sources.release() }
        sources.configure(&configuration, date: date)
        return try open(sources.uri(of: path), configuration)
    }
}

/// What a thread has databases see that do not get the machine's clock: that of the scripts which run on it.
package final class ThreadEnvironment: Sendable {
    private let sources: Sources
    /// Written only by `init`.
    private nonisolated(unsafe) let record: UnsafeMutablePointer<psql_environment>

    package init(_ environment: ScriptEnvironment) {
        sources = Sources(date: environment.date, random: environment.random)
        record = .allocate(capacity: 1)
        record.initialize(to: sources.environment)
    }

    deinit {
        record.deallocate()
    }

    /// Begins on the calling thread, to its end; this object must live as long as the thread uses databases.
    package func begin() {
        psql_use_environment(record)
    }
}

/// What SQLite asks.
private final class Sources: Sendable {
    let date: DateSource
    let random: RandomSource

    init(date: DateSource, random: RandomSource) {
        self.date = date
        self.random = random
    }

    /// Without ownership.
    var environment: psql_environment {
        psql_environment(
            object: Unmanaged.passUnretained(self).toOpaque(),
            now: { Unmanaged<Sources>.fromOpaque($0!).takeUnretainedValue().now() },
            random: { Unmanaged<Sources>.fromOpaque($0!).takeUnretainedValue().random.next() },
            release: nil)
    }

    /// In milliseconds since the epoch of Julian days.
    private func now() -> Int64 {
        let milliseconds = (date().timeIntervalSince1970 * 1000).rounded() + 210_866_760_000_000
        return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? 0 : .max)
    }
}
