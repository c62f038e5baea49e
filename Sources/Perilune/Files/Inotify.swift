@preconcurrency internal import Glibc

/// An inotify instance, which reports changes of files in folders on Linux.
///
/// - SeeAlso: inotify(7)
package final class Inotify {
    package struct Event {
        /// The result of ``add(_:)`` for the folder.
        package let watch: CInt
        /// The name of the file in the folder; empty for an event of the folder itself.
        package let name: String
        private let mask: UInt32

        init(watch: CInt, name: String, mask: UInt32) {
            (self.watch, self.name, self.mask) = (watch, name, mask)
        }

        package var isFolder: Bool { mask & UInt32(IN_ISDIR) != 0 }
        /// Whether the file was just created. The file is still empty, and another event follows when it is written.
        package var isNew: Bool { mask & UInt32(IN_CREATE) != 0 }
        package var isMovedHere: Bool { mask & UInt32(IN_MOVED_TO) != 0 }
        /// Whether the event queue has overflowed, and events were lost.
        var hasOverflowed: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }
    }

    /// The kinds of changes that an instance reports.
    package enum Changes {
        /// A file was closed after writing, created, moved or deleted.
        case files
        /// A file was modified, created, moved or deleted.
        case writes

        fileprivate var mask: UInt32 {
            UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE) | UInt32(self == .files ? IN_CLOSE_WRITE : IN_MODIFY)
        }
    }

    let descriptor: CInt
    private let changes: Changes

    /// - Throws: ``FileWatchError`` if the system provides no further watchers.
    package init(of changes: Changes = .files) throws {
        self.changes = changes
        descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard descriptor >= 0 else { throw FileWatchError(reason: String(cString: strerror(errno))) }
    }

    deinit {
        close(descriptor)
    }

    /// Watches a folder without its subfolders. Returns the number of the watch, which is the same for each call with the folder; `nil` if
    /// the folder cannot be watched.
    package func add(_ folder: String) -> CInt? {
        let watch = inotify_add_watch(descriptor, folder, changes.mask)
        return watch >= 0 ? watch : nil
    }

    /// Ends the watch of a folder.
    func remove(_ watch: CInt) {
        inotify_rm_watch(descriptor, watch)
    }

    /// Waits for events; returns an empty list after a timeout.
    package func events(within milliseconds: CInt) -> [Event] {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) > 0 ? read() : []
    }

    /// Returns the events that have occurred.
    func read() -> [Event] {
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

/// The error for files that cannot be watched.
package struct FileWatchError: Error {
    package let reason: String
}
