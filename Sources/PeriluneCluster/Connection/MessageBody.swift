internal import CPeriluneCluster

/// The body of a received message.
final class MessageBody {
    let bytes: UnsafeMutableRawBufferPointer
    private var offset = 0

    init(length: Int) {
        bytes = .allocate(byteCount: max(length, 8), alignment: 8)
        self.length = length
    }

    deinit { bytes.deallocate() }

    let length: Int

    /// The reader that C functions use. It must not outlive this object.
    var reader: pcl_reader {
        pcl_reader(bytes: UnsafePointer(bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)), length: length, offset: offset)
    }

    /// Reads a value at the current position.
    ///
    /// - Throws: ``ConnectionFailure`` if the message is too short.
    private func read<Value>(_ initial: Value, _ body: (inout pcl_reader, inout Value) -> Bool) throws -> Value {
        var reader = reader, value = initial
        guard body(&reader, &value) else { throw ConnectionFailure.lost("the node has sent a message that ends too early") }
        offset = reader.offset
        return value
    }

    func readU32() throws -> UInt32 { try read(0) { pcl_read_u32(&$0, &$1) } }
    func readU64() throws -> UInt64 { try read(0) { pcl_read_u64(&$0, &$1) } }

    func readText() throws -> String {
        try read("") { reader, value in
            var text: UnsafePointer<CChar>?
            var length = 0
            guard pcl_read_text(&reader, &text, &length), let text else { return false }
            value = String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
            return true
        }
    }

    func readFile() throws -> [UInt8] {
        try read([]) { reader, value in
            var bytes: UnsafePointer<UInt8>?
            var length = 0
            guard pcl_read_file(&reader, &bytes, &length) else { return false }
            value = Array(UnsafeBufferPointer(start: bytes, count: length))
            return true
        }
    }

    /// Reads the code and message of a failed request.
    ///
    /// If the request failed after the node had begun to write rows, the code and message come after the column names and possibly
    /// some rows. Every code contains a NUL byte, but only the last word of a message does. The code is therefore the last word
    /// with a NUL byte before the body's final word.
    func readFailure() throws -> RemoteError {
        let (code, message) = (try readU64(), (try? readText()) ?? "unknown error")
        var start = length - 16
        while start > offset - 8, start >= 8, !(0..<8).contains(where: { bytes[start + $0] == 0 }) { start -= 8 }
        guard offset < length, start >= 8 else { return RemoteError(code: code, message: message) }
        offset = start
        return RemoteError(code: try readU64(), message: (try? readText()) ?? "unknown error")
    }

    /// Returns whether a page of rows is the last page. The last word of the page contains this information.
    func isLastPage() throws -> Bool {
        guard length >= 8, length % 8 == 0 else { throw ConnectionFailure.lost("the node has sent rows without an end") }
        switch bytes.loadUnaligned(fromByteOffset: length - 8, as: UInt64.self) {
        case .max: return true
        case 0xEEEE_EEEE_EEEE_EEEE: return false
        default: throw ConnectionFailure.lost("the node has sent rows without an end")
        }
    }

    /// Whether the page has rows between the current position and the end marker.
    var hasRows: Bool { offset < length - 8 }

    /// Skips the column names at the start of a page of rows, and returns the number of columns.
    func beginRows() throws -> Int {
        let count = try read(UInt64(0)) { pcl_begin_page(&$0, &$1) }
        guard count > 0, count <= 32767 else { throw ConnectionFailure.lost("the node has sent rows of \(count) columns") }
        return Int(count)
    }
}
