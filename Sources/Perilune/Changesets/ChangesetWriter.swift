internal import CPeriluneRows
internal import Foundation
internal import GRDB

/// Writes changesets as SQLite's sessions do.
///
/// - SeeAlso: SQLite's `ext/session/sqlite3session.c`, "Changeset Format".
struct ChangesetWriter {
    private(set) var bytes = Data()
    private var table: String?

    /// Begins the changes of a table, which come one after the other.
    ///
    /// - Parameter keyPositions: For each column its position in the key, from 1; 0 for others.
    mutating func begin(_ name: String, keyPositions: [UInt8]) {
        guard table != name else { return }
        table = name
        bytes.append(UInt8(ascii: "T"))
        append(count: keyPositions.count)
        bytes.append(contentsOf: keyPositions)
        bytes.append(contentsOf: name.utf8 + [0])
    }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - isIndirect: Whether triggers and foreign keys alone have made it.
    ///   - rows: The values of the row: of an update those before and those afterwards; `nil` for what is left out.
    mutating func add(_ kind: RowChange.Kind, isIndirect: Bool = false, _ rows: [PreviewValue?]...) {
        let operation = kind == .inserted ? SQLITE_INSERT : kind == .deleted ? SQLITE_DELETE : SQLITE_UPDATE
        bytes.append(contentsOf: [UInt8(operation), isIndirect ? 1 : 0])
        for value in rows.joined() { append(value) }
    }

    private mutating func append(_ value: PreviewValue?) {
        switch value {
        case nil: bytes.append(0)
        case .null: bytes.append(UInt8(SQLITE_NULL))
        case .integer(let value): append(UInt8(SQLITE_INTEGER), UInt64(bitPattern: value))
        case .real(let value): append(UInt8(SQLITE_FLOAT), value.bitPattern)
        case .text(let text): append(UInt8(SQLITE3_TEXT), text)
        case .blob(let blob): append(UInt8(SQLITE_BLOB), blob)
        }
    }

    private mutating func append(_ type: UInt8, _ number: UInt64) {
        bytes.append(type)
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ type: UInt8, _ contents: [UInt8]) {
        bytes.append(type)
        append(count: contents.count)
        bytes.append(contentsOf: contents)
    }

    /// SQLite's variable-length integer: seven bits a byte, the highest first.
    private mutating func append(count: Int) {
        var groups = [UInt8(count & 0x7f)]
        var rest = count >> 7
        while rest > 0 {
            groups.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(contentsOf: groups.reversed())
    }
}
