internal import Foundation
internal import Perilune
internal import PeriluneRecords
internal import Synchronization

/// The databases that scenarios begin with, each made once, when it is first needed, and named by the hash of all it is made from.
///
/// A request for one that is being made waits for it. A failure is not retried.
final class TemplateStore: Sendable {
    private final class Entry: @unchecked Sendable {
        let lock = NSLock()
        /// Guarded by the lock.
        var image: Result<DatabaseImage, any Error>?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The image of a name.
    ///
    /// - Parameter make: Makes it, on the calling thread.
    func image(named name: String, _ make: () throws -> DatabaseImage) throws -> DatabaseImage {
        let entry = entries.withLock { entries in
            if let entry = entries[name] { return entry }
            let entry = Entry()
            entries[name] = entry
            return entry
        }
        entry.lock.lock()
        defer { entry.lock.unlock() }
        if let image = entry.image { return try image.get() }
        let image = Result { try make() }
        entry.image = image
        return try image.get()
    }

    /// A name for a template made from these parts.
    static func name(_ parts: [[UInt8]]) -> String {
        // With their lengths, so that nothing can move from one part to the next.
        SHA256.hash(parts.flatMap { Array("\($0.count):".utf8) + $0 })
    }
}
