import CPeriluneCluster
import Foundation
import GRDBSQLite
import PeriluneTestTools
import Testing

/// Messages as bytes: written messages are read back, and hostile bytes are read only within their limits.
struct WireTests {
    /// Returns a page of rows as a node writes it.
    static func page(names: [String], rows: [[Field]], isLast: Bool = true) -> [UInt8] {
        var bytes = word(UInt64(names.count))
        for name in names { bytes += text(name) }
        for row in rows {
            var types = [UInt8](repeating: 0, count: (row.count + 15) / 16 * 8)
            for (index, field) in row.enumerated() { types[index / 2] |= field.type << (4 * UInt8(index % 2)) }
            bytes += types + row.flatMap(\.bytes)
        }
        return bytes + word(isLast ? .max : 0xEEEE_EEEE_EEEE_EEEE)
    }

    struct Field {
        let type: UInt8
        let bytes: [UInt8]

        static func integer(_ value: Int64) -> Field { Field(type: 1, bytes: word(UInt64(bitPattern: value))) }
        static func number(_ value: Double) -> Field { Field(type: 2, bytes: word(value.bitPattern)) }
        static func text(_ value: String) -> Field { Field(type: 3, bytes: WireTests.text(value)) }
        static func blob(_ value: [UInt8]) -> Field {
            Field(type: 4, bytes: word(UInt64(value.count)) + value + [UInt8](repeating: 0, count: (8 - value.count % 8) % 8))
        }
        static let null = Field(type: 5, bytes: word(0))
    }

    static func word(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    static func text(_ value: String) -> [UInt8] {
        let bytes = Array(value.utf8) + [0]
        return bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    }

    /// Reads all rows of a page; returns `nil` if it is malformed. The bytes have their own allocation, so that a sanitizer detects
    /// reads beyond it.
    private func rows(_ bytes: [UInt8]) -> [[String]]? {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        var reader = pcl_reader(
            bytes: UnsafePointer(memory.baseAddress!.assumingMemoryBound(to: UInt8.self)), length: bytes.count, offset: 0)
        var count: UInt64 = 0
        guard pcl_begin_page(&reader, &count), count <= 4096 else { return nil }
        var values = [pcl_value](repeating: pcl_value(), count: Int(count) + 1), found: [[String]] = []
        while true {
            let before = reader.offset
            switch pcl_next_row(&reader, CInt(count), &values) {
            case PCL_ROW:
                #expect(reader.offset > before && reader.offset <= bytes.count)
                found.append(values.prefix(Int(count)).map(describe))
            case PCL_MALFORMED: return nil
            default: return found
            }
        }
    }

    private func describe(_ value: pcl_value) -> String {
        let bytes = UnsafeBufferPointer(start: value.bytes, count: value.length)
        return switch CInt(value.type) {
        case CInt(PCL_INTEGER): "\(value.integer)"
        case CInt(PCL_FLOAT): "\(value.number)"
        case CInt(PCL_TEXT): String(decoding: bytes, as: UTF8.self)
        case CInt(PCL_BLOB): "\(Array(bytes))"
        default: "NULL"
        }
    }

    @Test func `rows with values of all types are decoded`() {
        let row: [Field] = [.integer(.min), .number(1.5), .text("Ünïcode"), .text(""), .blob([]), .blob([0, 1, 2]), .null]
        let page = Self.page(names: ["a", "b", "c", "d", "e", "f", "g"], rows: [row, row])
        let expected = ["\(Int64.min)", "1.5", "Ünïcode", "", "[]", "[0, 1, 2]", "NULL"]
        #expect(rows(page) == [expected, expected])
    }

    @Test(arguments: [1, 15, 16, 17, 33, 200]) func `rows with any number of columns are decoded`(count: Int) {
        let page = Self.page(names: (0..<count).map { "c\($0)" }, rows: [(0..<count).map { .integer(Int64($0)) }])
        #expect(rows(page) == [(0..<count).map { "\($0)" }])
    }

    @Test func `a truncated page is malformed`() {
        let page = Self.page(
            names: ["id", "name"], rows: [[.integer(1), .text("a text of more than a word")], [.blob([1, 2, 3]), .null]])
        for length in 0..<page.count - 8 { #expect(rows(Array(page[..<length])) == nil, "\(length) bytes") }
    }

    @Test(arguments: 0..<64) func `decoding a hostile page does not read beyond its bytes`(seed: Int) {
        var generator = SeededGenerator(state: UInt64(seed))
        let page = Self.page(
            names: ["id", "name", "x"],
            rows: (0..<5).map { [.integer(Int64($0)), .text("name \($0)"), .blob([1, 2, 3, 4, 5, 6, 7, 8, 9])] })
        for _ in 0..<500 {
            var bytes = page
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] =
                    Bool.random(using: &generator)
                    ? .random(in: 0...255, using: &generator) : [0, 0xFF, 0xEE, 0x7F, 0x80].randomElement(using: &generator)!
            }
            _ = rows(bytes)
            _ = rows(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))))
            _ = rows(generator.bytes(upTo: 100))
        }
    }

    @Test func `message headers with an excessive length are refused`() {
        var length = 0, type: UInt8 = 0
        let header: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 7, 0, 0, 0]
        #expect(!pcl_read_header(header, 64 << 20, &length, &type))
        #expect(pcl_read_header([2, 0, 0, 0, 7, 0, 0, 0], 64 << 20, &length, &type))
        #expect(length == 16 && type == 7)
    }

    @Test func `a file whose length exceeds the message is refused`() {
        let bytes = Self.word(UInt64.max) + [1, 2, 3]
        var reader = pcl_reader(bytes: nil, length: 0, offset: 0), file: UnsafePointer<UInt8>?, length = 0
        bytes.withUnsafeBufferPointer { buffer in
            reader = pcl_reader(bytes: buffer.baseAddress, length: buffer.count, offset: 0)
            #expect(!pcl_read_file(&reader, &file, &length))
        }
    }

    // MARK: - Writing

    @Test func `a message is encoded in 8-byte words with SQLite's values`() throws {
        let bytes = try message(of: "SELECT capture(1, 2.5, 'text', x'0102', NULL)", count: 5)
        let types: [UInt8] = [5, 1, 2, 3, 4, 5, 0, 0]
        let body =
            types + Self.word(1) + Self.word((2.5).bitPattern) + Self.text("text") + Self.word(2) + [1, 2, 0, 0, 0, 0, 0, 0]
            + Self.word(0)
        #expect(bytes == [UInt8(body.count / 8), 0, 0, 0, 9, 0, 0, 0] + body)
    }

    @Test func `text with NUL bytes and more than 255 values are refused`() throws {
        #expect(throws: Refused.self) { try message(of: "SELECT capture('a' || char(0) || 'b')", count: 1) }
        var buffer = pcl_buffer(), position: CInt = 0
        #expect(pcl_put_parameters(&buffer, 256, nil, &position) == PCL_TOO_MANY_PARAMETERS)
    }

    private struct Refused: Error {}

    /// The message to which an SQL function's values are written.
    private func message(of sql: String, count: CInt) throws -> [UInt8] {
        final class Capture { var bytes: [UInt8]? }
        let capture = Capture()
        var db: OpaquePointer?
        sqlite3_open(":memory:", &db)
        defer { sqlite3_close(db) }
        sqlite3_create_function_v2(
            db, "capture", -1, SQLITE_UTF8, Unmanaged.passUnretained(capture).toOpaque(),
            { context, count, values in
                let capture = Unmanaged<Capture>.fromOpaque(sqlite3_user_data(context)!).takeUnretainedValue()
                var buffer = pcl_buffer(), position: CInt = 0
                pcl_begin_message(&buffer, 9)
                if pcl_put_parameters(&buffer, count, values, &position) == PCL_PARAMETERS_WRITTEN, pcl_end_message(&buffer) {
                    capture.bytes = Array(UnsafeBufferPointer(start: buffer.bytes, count: buffer.length))
                }
                pcl_free_buffer(&buffer)
            }, nil, nil, nil)
        #expect(sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK)
        guard let bytes = capture.bytes else { throw Refused() }
        return bytes
    }

    @Test func `an oversized message is removed from the buffer, and the previous one is kept`() {
        var buffer = pcl_buffer()
        defer { pcl_free_buffer(&buffer) }
        pcl_begin_message(&buffer, 3)
        pcl_put_u64(&buffer, 7)
        #expect(pcl_end_message(&buffer))
        let length = buffer.length
        let long = [CChar](repeating: 97, count: Int(65 << 20))
        pcl_begin_message(&buffer, 3)
        pcl_put_text(&buffer, long, long.count)
        #expect(!pcl_end_message(&buffer))
        #expect(buffer.length == length)
        pcl_begin_message(&buffer, 3)
        pcl_put_text(&buffer, long, .max)
        #expect(!pcl_end_message(&buffer))
    }
}
