internal import Foundation
internal import Perilune
internal import PeriluneRecords
internal import Synchronization

/// The initial databases of scenarios. Each is made once, when it is first needed, and named by the hash of everything from which
/// it is made.
///
/// A thread that requests an image waits while another thread is making it. A failure is not retried.
final class TemplateStore: Sendable {
    private final class Entry: @unchecked Sendable {
        let lock = NSLock()
        /// Guarded by `lock`.
        var image: Result<DatabaseImage, any Error>?
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Returns the image with a name.
    ///
    /// - Parameter make: Makes the image on the calling thread if it does not exist yet.
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

    /// Returns the name of an image that is made from the given parts.
    static func name(_ parts: [[UInt8]]) -> String {
        // The lengths are included, so that moving text from one part to the next changes the name.
        SHA256.hash(parts.flatMap { Array("\($0.count):".utf8) + $0 })
    }
}
