package import Foundation

/// Immutable bytes in memory or, if they are large, in a temporary file without a name, which is deleted when this object is released or
/// the process ends. Several threads can read the bytes at the same time.
package final class StoredBytes: Sendable {
    private enum Place {
        case memory(Data)
        /// The file descriptor, owned by this object.
        case file(CInt)
    }

    /// The number of bytes.
    package let count: Int
    private let place: Place

    package init(_ data: Data = Data()) {
        (place, count) = (.memory(data), data.count)
    }

    /// - Parameter file: A file descriptor, which this object will close.
    init(file: CInt, count: Int) {
        (place, self.count) = (.file(file), count)
    }

    deinit {
        if case .file(let file) = place { close(file) }
    }

    /// The bytes, if they are in memory; otherwise `nil`.
    var memory: Data? {
        if case .memory(let data) = place { data } else { nil }
    }

    /// Returns all bytes in memory.
    ///
    /// - Throws: ``StorageError``.
    func data() throws -> Data {
        if let memory { return memory }
        var data = Data(capacity: count)
        try forEachPiece { data.append(contentsOf: $0) }
        return data
    }

    /// Copies bytes into a buffer, starting at an offset.
    ///
    /// - Returns: The number of copied bytes; 0 at the end.
    /// - Throws: ``StorageError``.
    func copy(from offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let wanted = min(buffer.count, count - offset)
        guard wanted > 0 else { return 0 }
        switch place {
        case .memory(let data):
            let start = data.startIndex + offset
            data.copyBytes(to: buffer, from: start..<start + wanted)
            return wanted
        case .file(let file):
            while true {
                let found = pread(file, buffer.baseAddress, wanted, off_t(offset))
                if found > 0 { return found }
                guard found < 0, errno == EINTR else { throw StorageError(found == 0 ? EIO : errno) }
            }
        }
    }

    /// Calls a closure with each piece of the bytes, in order.
    ///
    /// - Throws: ``StorageError``, or the error of the closure.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var piece = [UInt8](repeating: 0, count: min(max(count, 1), 256 << 10))
        var offset = 0
        while offset < count {
            let copied = try piece.withUnsafeMutableBytes { try copy(from: offset, into: $0) }
            try piece.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<copied])) }
            offset += copied
        }
    }
}

/// The error for bytes that cannot be stored or read.
package struct StorageError: Error {
    /// The system's error message, or a description of the exceeded limit.
    package let reason: String

    init(reason: String) {
        self.reason = reason
    }

    /// - Parameter code: The system's error number.
    init(_ code: CInt) {
        reason = String(cString: strerror(code))
    }
}
