internal import Foundation
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import GRDB
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords
internal import Synchronization

/// A lock that allows only one host to run the automations of a script file on a database. In two hosts, each schedule and each change
/// would trigger the automations twice.
///
/// Within the process, a claim is an entry in a table. Between processes, a claim is a lock on a byte far beyond the end of the database
/// file, of a kind that does not conflict with SQLite's locks. Both are released with this object, or when the process ends.
final class AutomationClaim: Sendable {
    /// The identity of a database: a file, a database in a cluster, or an object of this process.
    private enum Place: Hashable, Sendable {
        case file(FileIdentity)
        case cluster(String)
        case object(ObjectIdentifier)
    }

    private struct Key: Hashable, Sendable {
        let place: Place
        let file: String
    }

    private struct Table: Sendable {
        var claimed: Set<Key> = []
        /// The open file descriptors, one for each database. A descriptor is closed only after its file was deleted, because closing it
        /// would release SQLite's locks on the file in this process.
        var descriptors: [Place: CInt] = [:]

        /// The number of unclaimed descriptors at which a search for deleted files begins.
        private var mostUnclaimed = 16

        /// Closes the descriptors of deleted files. Searches for them only if enough descriptors are unclaimed.
        mutating func forgetDeletedFiles() {
            guard descriptors.count - claimed.count >= mostUnclaimed else { return }
            let claimedPlaces = Set(claimed.map(\.place))
            for (place, descriptor) in descriptors where !claimedPlaces.contains(place) {
                var information = stat()
                guard fstat(descriptor, &information) == 0, information.st_nlink == 0 else { continue }
                close(descriptor)
                descriptors[place] = nil
            }
            mostUnclaimed = max(16, 2 * (descriptors.count - claimedPlaces.count))
        }
    }

    /// The Linux constant `F_OFD_SETLK`, which Swift does not import. The lock belongs to the open file description instead of the process.
    private static let setLock: CInt = 37
    private static let table = Mutex(Table())

    private let key: Key
    /// The database if its address identifies the claim, retained so that the address is not reused.
    private let database: (any DatabaseWriter)?

    /// Claims the automations of a file on a database.
    ///
    /// - Parameter path: The path of the database, if only another process has opened it.
    /// - Throws: `LuaError` of kind `already_running` if another host has the claim.
    init(file: String, database: any DatabaseWriter, path: String?) throws {
        let path = path ?? SQLEnvironment.plainPath(of: database.path)
        let key = Key(place: Self.place(of: database, path), file: Self.realPath(of: file))
        try Self.table.withLock { table in
            guard !table.claimed.contains(key) else {
                throw Self.alreadyRunning(file, path, "another host of this process")
            }
            if case .file = key.place {
                let descriptor = table.descriptors[key.place] ?? open(path, O_RDWR | O_CLOEXEC)
                if descriptor >= 0 {
                    table.descriptors[key.place] = descriptor
                    guard Self.lock(descriptor, key.file, F_WRLCK) || errno != EAGAIN && errno != EACCES else {
                        throw Self.alreadyRunning(file, path, "another process")
                    }
                }
            }
            table.claimed.insert(key)
        }
        // Must be last: if the initializer throws after all properties are set, Swift runs the deinitializer, which would release the claim
        // of the other host.
        self.key = key
        if case .object = key.place { self.database = database } else { self.database = nil }
    }

    deinit {
        Self.table.withLock { [key] table in
            table.claimed.remove(key)
            if let descriptor = table.descriptors[key.place] { _ = Self.lock(descriptor, key.file, F_UNLCK) }
            table.forgetDeletedFiles()
        }
    }

    func isOf(file: String) -> Bool { key.file == Self.realPath(of: file) }

    /// Returns whether the claim is for the database file at a path, which may have been replaced by another file.
    func isOn(database path: String) -> Bool {
        if case .file(let identity) = key.place { identity == FileIdentity(path) } else { true }
    }

    private static func lock(_ descriptor: CInt, _ file: String, _ kind: some BinaryInteger) -> Bool {
        var lock = flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = (1 << 62) + off_t(number(of: file))
        lock.l_len = 1
        return fcntl(descriptor, setLock, &lock) == 0
    }

    private static func alreadyRunning(_ file: String, _ database: String, _ place: String) -> LuaError {
        let name = database.isEmpty || database == ":memory:" || database.contains("mode=memory") ? "this database" : database
        return LuaError(
            .host, "the automations of \(file) are already running on \(name), in \(place)", fields: ["kind": "already_running"])
    }

    private static func place(of database: any DatabaseWriter, _ path: String) -> Place {
        if let address = DatabasePlaces.of(database).address { return .cluster(address) }
        return FileIdentity(path).map { .file($0) } ?? .object(ObjectIdentifier(database))
    }

    static func realPath(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns the FNV-1a hash of a text, which is the same in all processes.
    private static func number(of text: String) -> UInt32 {
        text.utf8.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}
