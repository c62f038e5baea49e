internal import CPeriluneRows
internal import Foundation
internal import GRDB

/// A writer for changesets in the format of SQLite's session extension.
///
/// - SeeAlso: SQLite's `ext/session/sqlite3session.c`, "Changeset Format".
struct ChangesetWriter {
    private(set) var bytes: [UInt8] = []
    private var table: String?

    /// Begins the changes of a table. The changes of a table must be consecutive.
    ///
    /// - Parameter keyPositions: The position of each column in the key, from 1; 0 for other columns.
    mutating func begin(_ name: String, keyPositions: [UInt8]) {
        guard table != name else { return }
        table = name
        bytes.append(UInt8(ascii: "T"))
        append(count: keyPositions.count)
        bytes.append(contentsOf: keyPositions)
        bytes.append(contentsOf: name.utf8)
        bytes.append(0)
    }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - isIndirect: Whether only triggers and foreign key actions made the change.
    ///   - rows: The values of the row; for an update, the values before and then the values after the change. `nil` omits a column.
    mutating func add(_ kind: RowChange.Kind, isIndirect: Bool = false, _ rows: [StoredValue?]...) {
        beginChange(kind, isIndirect: isIndirect)
        for value in rows.joined() { append(value) }
    }

    /// Begins a change. The caller must then append the value of each column; for an update, all values before and then all values after
    /// the change.
    mutating func beginChange(_ kind: RowChange.Kind, isIndirect: Bool = false) {
        let operation = kind == .insert ? SQLITE_INSERT : kind == .delete ? SQLITE_DELETE : SQLITE_UPDATE
        bytes.append(UInt8(operation))
        bytes.append(isIndirect ? 1 : 0)
    }

    /// Adds the value of a column; `nil` omits the column.
    mutating func append(_ value: StoredValue?) {
        switch value {
        case nil: leaveOut()
        case .null: bytes.append(UInt8(SQLITE_NULL))
        case .integer(let value): append(UInt8(SQLITE_INTEGER), UInt64(bitPattern: value))
        case .real(let value): append(UInt8(SQLITE_FLOAT), value.bitPattern)
        case .text(let text): text.withUnsafeBytes { append(UInt8(SQLITE3_TEXT), $0) }
        case .blob(let blob): blob.withUnsafeBytes { append(UInt8(SQLITE_BLOB), $0) }
        }
    }

    /// Adds the marker of an omitted column.
    mutating func leaveOut() { bytes.append(0) }

    /// Adds values that are already in the encoding of a changeset.
    mutating func append(encoded values: UnsafeRawBufferPointer) { bytes.append(contentsOf: values) }

    /// Adds an `sqlite3_value` as the value of a column; `nil` omits the column.
    ///
    /// - Parameter asReal: Whether to write an integer as a float, because the column has REAL affinity.
    mutating func append(_ value: OpaquePointer?, asReal: Bool = false) {
        guard let value else { return leaveOut() }
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER where asReal: append(UInt8(SQLITE_FLOAT), sqlite3_value_double(value).bitPattern)
        case SQLITE_INTEGER: append(UInt8(SQLITE_INTEGER), UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT: append(UInt8(SQLITE_FLOAT), sqlite3_value_double(value).bitPattern)
        case SQLITE_NULL: bytes.append(UInt8(SQLITE_NULL))
        case let type: append(UInt8(type), SQLiteValue.bytes(of: value))
        }
    }

    private mutating func append(_ type: UInt8, _ number: UInt64) {
        bytes.append(type)
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ type: UInt8, _ contents: UnsafeRawBufferPointer) {
        bytes.append(type)
        append(count: contents.count)
        bytes.append(contentsOf: contents)
    }

    /// Adds a variable-length integer in SQLite's encoding: seven bits per byte, the most significant bits first.
    private mutating func append(count: Int) {
        guard count > 0x7f else { return bytes.append(UInt8(count)) }
        var groups = [UInt8(count & 0x7f)]
        var rest = count >> 7
        while rest > 0 {
            groups.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(contentsOf: groups.reversed())
    }

    /// Removes all written bytes.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: bytes.capacity <= 64 << 10) }

    /// Moves the written bytes to a spool if there are more than a limit.
    mutating func flush(to spool: ByteSpool, ifMoreThan limit: Int = 64 << 10) throws {
        guard bytes.count > limit else { return }
        defer { bytes.removeAll(keepingCapacity: bytes.capacity <= 4 << 20) }
        try bytes.withUnsafeBytes { try spool.append($0) }
    }
}
