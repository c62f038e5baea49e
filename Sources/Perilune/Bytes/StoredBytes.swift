package import Foundation

/// Bytes that do not change any more: in memory, or where they are many in a temporary file without a name, which is gone with this object
/// or with the process. They can be read by several threads at once.
package final class StoredBytes: Sendable {
    private enum Place {
        case memory(Data)
        /// The descriptor of a file that belongs to this object.
        case file(CInt)
    }

    /// How many there are.
    package let count: Int
    private let place: Place

    package init(_ data: Data = Data()) {
        (place, count) = (.memory(data), data.count)
    }

    /// - Parameter file: A descriptor, which this object closes.
    init(file: CInt, count: Int) {
        (place, self.count) = (.file(file), count)
    }

    deinit {
        if case .file(let file) = place { close(file) }
    }

    /// The bytes, if they are in memory.
    var memory: Data? {
        if case .memory(let data) = place { data } else { nil }
    }

    /// The bytes, wherever they are.
    ///
    /// - Throws: ``StorageError``.
    func data() throws -> Data {
        if let memory { return memory }
        var data = Data(capacity: count)
        try forEachPiece { data.append(contentsOf: $0) }
        return data
    }

    /// Copies the bytes from a position on.
    ///
    /// - Returns: How many were copied; 0 at the end.
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

    /// Visits the bytes piece by piece.
    ///
    /// - Throws: ``StorageError``, and what the closure throws.
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

/// Why bytes cannot be kept.
struct StorageError: Error {
    /// The system's message, or that a limit is exceeded.
    let reason: String

    init(reason: String) {
        self.reason = reason
    }

    /// - Parameter code: The system's number for what is wrong.
    init(_ code: CInt) {
        reason = String(cString: strerror(code))
    }
}
