internal import Foundation
internal import Glibc

/// A file that is replaced atomically when all of its contents have been written.
///
/// A replaced file keeps its mode and, as far as the system permits, its owner; a symbolic link keeps its target, which is replaced. Pipes,
/// devices, and the standard output of this process are written directly: a new file in their place would never reach their readers.
package final class FileReplacement {
    private let file: UnsafeMutablePointer<FILE>
    /// The new file and the path that it gets; `nil` if the destination is written directly.
    private let paths: (temporary: String, target: String)?
    private var isClosed = false
    private var isFinished = false

    /// - Throws: ``StorageError``.
    package init(_ path: String) throws {
        var former = stat()
        let isNew = stat(path, &former) != 0
        if isNew, errno != ENOENT { throw StorageError(errno) }
        if !isNew, former.st_mode & S_IFMT == S_IFDIR { throw StorageError(EISDIR) }
        if !isNew, let stream = try Self.openStream(path, former) {
            (file, paths) = (try Self.buffered(stream), nil)
            return
        }
        let target = Self.target(of: path), parts = PathParts(target)
        let digits = String(UInt64.random(in: .min ... .max), radix: 36)
        let temporary = (parts.folder.isEmpty ? "" : parts.folder + "/") + ".\(digits).part"
        // The contents of a private file are never readable by others, not even before its mode is set.
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isNew ? 0o666 : 0o600)
        guard descriptor >= 0 else { throw StorageError(errno) }
        if !isNew {
            // The owner first, because a change of owner clears the bits that run a program as its owner.
            if fchown(descriptor, former.st_uid, former.st_gid) != 0 { _ = fchown(descriptor, uid_t.max, former.st_gid) }
            fchmod(descriptor, former.st_mode & 0o7777)
        }
        do {
            (file, paths) = (try Self.buffered(descriptor), (temporary, target))
        } catch {
            unlink(temporary)
            throw error
        }
    }

    deinit {
        guard !isFinished else { return }
        if !isClosed { fclose(file) }
        if let paths { unlink(paths.temporary) }
    }

    /// - Throws: ``StorageError``.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count else { throw StorageError(errno) }
    }

    /// Moves the finished file to its path.
    ///
    /// - Throws: ``StorageError``.
    package func finish() throws {
        isClosed = true
        guard fclose(file) == 0 else { throw StorageError(errno) }
        if let paths, rename(paths.temporary, paths.target) != 0 { throw StorageError(errno) }
        isFinished = true
    }

    // MARK: - Destinations

    /// Opens a destination that is not a regular file, or that is already a standard stream of this process; returns `nil` for other files.
    private static func openStream(_ path: String, _ information: stat) throws -> CInt? {
        for stream in [STDOUT_FILENO, STDERR_FILENO] {
            var own = stat()
            guard fstat(stream, &own) == 0, (own.st_dev, own.st_ino) == (information.st_dev, information.st_ino) else { continue }
            // A socket, or the stream of another user, can be written but not opened again.
            fflush(nil)
            let copy = fcntl(stream, F_DUPFD_CLOEXEC, 3)
            if copy >= 0 { return copy }
        }
        if information.st_mode & S_IFMT == S_IFREG { return nil }
        let descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageError(errno) }
        return descriptor
    }

    private static func buffered(_ descriptor: CInt) throws -> UnsafeMutablePointer<FILE> {
        if let file = fdopen(descriptor, "w") { return file }
        let code = errno
        close(descriptor)
        throw StorageError(code)
    }

    /// Returns the path without symbolic links. The file itself may be missing.
    private static func target(of path: String) -> String {
        var target = path
        // The limit of the system itself.
        for _ in 0..<40 {
            if let resolved = ScriptFile.resolved(target) { return resolved }
            guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: target) else { return target }
            let folder = PathParts(target).folder
            target = link.hasPrefix("/") || folder.isEmpty ? link : folder + "/" + link
        }
        return target
    }
}
