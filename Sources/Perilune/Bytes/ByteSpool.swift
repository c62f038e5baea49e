internal import Foundation
internal import PeriluneDependencies

/// Collects bytes: in memory, and once they are many in a temporary file that has no name any more, so that nothing can leave it behind.
final class ByteSpool {
    /// The bytes that are kept in memory at most.
    static let memoryInBytes = 1 << 20
    private var buffer: [UInt8] = []
    private var file: CInt = -1
    private var countInFile = 0
    private let limitInBytes: Int

    /// - Parameter limitInBytes: How many bytes there may be in a file.
    init(limitInBytes: Int = .max) {
        self.limitInBytes = limitInBytes
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Adds bytes at the end.
    ///
    /// - Throws: ``StorageError`` if the file cannot be made or written, or would be larger than it may.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        if buffer.count + bytes.count > Self.memoryInBytes { try flush() }
        guard bytes.count <= Self.memoryInBytes else { return try write(bytes) }
        buffer.append(contentsOf: bytes)
    }

    /// All that was added. Nothing can be added afterwards.
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
            throw StorageError(reason: "they would take more than \(limitInBytes) bytes of disk")
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

    /// A file for the owner alone, whose name is removed at once.
    private static func makeFile() throws -> CInt {
        let path = try TemporaryFolder.path("changes")
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(errno) }
        unlink(path)
        return file
    }
}
