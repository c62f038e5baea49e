@preconcurrency internal import Glibc
internal import Perilune

/// Changes of files in folders, as reported by Linux.
///
/// - SeeAlso: inotify(7)
final class Inotify {
    struct Event {
        /// The result of ``add(_:)`` for the folder.
        let watch: CInt
        let name: String
        private let mask: UInt32

        init(watch: CInt, name: String, mask: UInt32) {
            (self.watch, self.name, self.mask) = (watch, name, mask)
        }

        var isFolder: Bool { mask & UInt32(IN_ISDIR) != 0 }
        /// Whether the file was just created. It has no contents yet; another event follows.
        var isNew: Bool { mask & UInt32(IN_CREATE) != 0 }
        var isMovedHere: Bool { mask & UInt32(IN_MOVED_TO) != 0 }
    }

    private let descriptor: CInt
    private static let mask = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE)

    /// - Throws: ``CommandFailure`` if the system has no more watches.
    init() throws {
        descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard descriptor >= 0 else {
            throw CommandFailure(ErrorReport("cannot watch files: \(String(cString: strerror(errno)))", kind: "io"))
        }
    }

    deinit {
        close(descriptor)
    }

    /// Watches a folder without its subfolders. Returns its number, which is stable; `nil` if it cannot be watched.
    func add(_ folder: String) -> CInt? {
        let watch = inotify_add_watch(descriptor, folder, Self.mask)
        return watch >= 0 ? watch : nil
    }

    /// Waits for events; returns an empty list after a timeout.
    func events(within milliseconds: CInt) -> [Event] {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) > 0 ? read() : []
    }

    private func read() -> [Event] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: MemoryLayout<inotify_event>.alignment)
        defer { buffer.deallocate() }
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        var events: [Event] = []
        var position = 0
        while position + MemoryLayout<inotify_event>.size <= count {
            let event = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
            let start = position + MemoryLayout<inotify_event>.size
            let bytes = buffer[start..<min(start + Int(event.len), buffer.count)].prefix { $0 != 0 }
            events.append(Event(watch: event.wd, name: String(decoding: bytes, as: UTF8.self), mask: event.mask))
            position = start + Int(event.len)
        }
        return events
    }
}
