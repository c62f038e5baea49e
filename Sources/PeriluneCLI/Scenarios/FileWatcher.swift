internal import Foundation
@preconcurrency internal import Glibc
internal import Perilune

/// Waits until a file in the current folder changes (inotify). Hidden folders and what the command writes itself are left out.
final class FileWatcher {
    private let descriptor: CInt
    private var folders: [CInt: String] = [:]
    private static let mask = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE)
    /// Beyond that, one change more or less is not worth the time.
    private static let mostFolders = 5000
    private static let ignoredFolders: Set<String> = ["__snapshots__", "node_modules"]
    private static let suffixes = [".lua", ".sql", ".sqlite"]

    /// - Throws: ``CommandFailure`` if the system has no more watches.
    init() throws {
        descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard descriptor >= 0 else {
            throw CommandFailure(ErrorReport("cannot watch files: \(String(cString: strerror(errno)))", kind: "io"))
        }
        add(".")
    }

    deinit {
        close(descriptor)
    }

    private func add(_ folder: String) {
        guard folders.count < Self.mostFolders else { return }
        let watch = inotify_add_watch(descriptor, folder, Self.mask)
        guard watch >= 0 else { return }
        folders[watch] = folder
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where !name.hasPrefix(".") && !Self.ignoredFolders.contains(name) {
            var isFolder: ObjCBool = false
            let path = "\(folder)/\(name)"
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { add(path) }
        }
    }

    /// Waits for a change, and then until there was none for a moment: editors write several files.
    ///
    /// - Parameter isEnded: Asked now and then; ends the wait.
    /// - Returns: The files that have changed; empty if the wait was ended.
    func wait(unless isEnded: () -> Bool) -> [String] {
        var changed: Set<String> = []
        while !isEnded() {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&request, 1, changed.isEmpty ? 200 : 100)
            if count > 0 {
                changed.formUnion(read())
            } else if !changed.isEmpty {
                return changed.sorted()
            }
        }
        return []
    }

    private func read() -> [String] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: MemoryLayout<inotify_event>.alignment)
        defer { buffer.deallocate() }
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        var changed: [String] = []
        var position = 0
        while position + MemoryLayout<inotify_event>.size <= count {
            let event = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
            let start = position + MemoryLayout<inotify_event>.size
            let bytes = buffer[start..<min(start + Int(event.len), buffer.count)].prefix { $0 != 0 }
            take(event, String(decoding: bytes, as: UTF8.self), &changed)
            position = start + Int(event.len)
        }
        return changed
    }

    private func take(_ event: inotify_event, _ name: String, _ changed: inout [String]) {
        guard let folder = folders[event.wd], !name.hasPrefix(".") else { return }
        let path = folder == "." ? name : "\(folder.dropFirst(2))/\(name)"
        if event.mask & UInt32(IN_ISDIR) != 0 {
            if event.mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0, !Self.ignoredFolders.contains(name) { add("\(folder)/\(name)") }
        } else if event.mask & UInt32(IN_CREATE) == 0, Self.suffixes.contains(where: name.hasSuffix) {
            changed.append(path)
        }
    }
}
