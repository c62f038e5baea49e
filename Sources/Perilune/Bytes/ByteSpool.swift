internal import Foundation
internal import PeriluneDependencies
internal import PeriluneLua

/// A buffer that grows in memory and then in a temporary file. The file has no name, so the system deletes it even after a crash.
final class ByteSpool {
    /// The maximum number of bytes kept in memory.
    static let memoryInBytes = 1 << 20
    private var buffer: [UInt8] = []
    private var file: CInt = -1
    private var countInFile = 0
    private let limitInBytes: Int

    /// - Parameter limitInBytes: The maximum size of the file, in bytes.
    init(limitInBytes: Int = .max) {
        self.limitInBytes = limitInBytes
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Appends bytes.
    ///
    /// - Throws: ``StorageError`` if the file cannot be created or written, or would exceed its maximum size.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        if buffer.count + bytes.count > Self.memoryInBytes { try flush() }
        guard bytes.count <= Self.memoryInBytes else { return try write(bytes) }
        buffer.append(contentsOf: bytes)
    }

    /// Returns all bytes. The spool must not be used afterwards.
    func finish() throws -> StoredBytes {
        guard file >= 0 else { return StoredBytes(Data(buffer)) }
        try flush()
        defer { file = -1 }
        return StoredBytes(file: file, count: countInFile)
    }

    private func flush() throws {
        try buffer.withUnsafeBytes { try write($0) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard countInFile + bytes.count <= limitInBytes else {
            throw StorageError(reason: "they would take more than \(LuaLimits.text(ofBytes: limitInBytes)) of disk")
        }
        if file < 0 { file = try Self.makeFile() }
        var bytes = bytes
        while !bytes.isEmpty {
            let written = Foundation.write(file, bytes.baseAddress, bytes.count)
            guard written >= 0 || errno == EINTR else { throw StorageError(errno) }
            countInFile += max(written, 0)
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(max(written, 0)))
        }
    }

    /// Creates a file that only its owner can access, and immediately unlinks it.
    private static func makeFile() throws -> CInt {
        let path = try TemporaryFolder.path("changes")
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(errno) }
        unlink(path)
        return file
    }
}
