internal import CPeriluneSQLite
public import Foundation
internal import GRDB

/// The net changes of rows between two moments, as SQLite's session extension writes them.
///
/// It holds for each row its table, its key, and the values before and after. ``recording(in:limitInBytes:_:)`` makes one.
/// ``apply(to:tables:resolving:)`` applies its changes to another database, or applies its inverse to the same one.
public struct Changeset: Sendable, Equatable {
    /// SQLite's format, which is the same on all machines.
    public let bytes: Data

    package init(bytes: Data) {
        self.bytes = bytes
    }

    /// Reads a changeset that was saved.
    ///
    /// - Parameter bytes: What ``bytes`` was. They need not be trusted: every one is checked before SQLite reads them.
    /// - Throws: ``ChangesetError`` with the code `malformed` if they are not a changeset.
    public init(validating bytes: Data) throws {
        guard bytes.count < Int32.max, ChangesetStructure.isSound(bytes) else {
            throw ChangesetError(.malformed, "the bytes are not a changeset")
        }
        self.bytes = bytes
    }

    /// Takes ownership of memory that SQLite allocated.
    init(taking start: UnsafeMutableRawPointer?, length: CInt) {
        guard let start, length > 0 else {
            bytes = Data()
            return
        }
        bytes = Data(
            bytesNoCopy: start, count: Int(length), deallocator: .custom { start, _ in sqlite3_free(start) })
    }

    /// Whether nothing has changed.
    public var isEmpty: Bool { bytes.isEmpty }

    /// Combines these changes with a later changeset: one change for each row.
    ///
    /// - Throws: A `DatabaseError` if the two cannot belong together, or there is not enough memory.
    public func followed(by other: Changeset) throws -> Changeset {
        if isEmpty { return other }
        if other.isEmpty { return self }
        return try bytes.withUnsafeBytes { first in
            try other.bytes.withUnsafeBytes { second in
                var start: UnsafeMutableRawPointer?
                var length: CInt = 0
                let code = sqlite3changeset_concat(
                    CInt(first.count), UnsafeMutableRawPointer(mutating: first.baseAddress), CInt(second.count),
                    UnsafeMutableRawPointer(mutating: second.baseAddress), &length, &start)
                guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
                return Changeset(taking: start, length: length)
            }
        }
    }

    /// The changeset that undoes this one.
    ///
    /// - Throws: A `DatabaseError` if there is not enough memory.
    public func inverted() throws -> Changeset {
        guard !isEmpty else { return self }
        return try bytes.withUnsafeBytes { buffer in
            var start: UnsafeMutableRawPointer?
            var length: CInt = 0
            let code = sqlite3changeset_invert(CInt(buffer.count), buffer.baseAddress, &length, &start)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            return Changeset(taking: start, length: length)
        }
    }

    /// A change of one row, to be used only while it is visited; so are SQLite's own values of it.
    struct Change {
        let table: String
        let kind: RowChange.Kind
        let columnCount: Int
        private let keyFlags: UnsafeMutablePointer<UInt8>
        private let iterator: OpaquePointer

        /// The change that an iterator stands on.
        init(_ iterator: OpaquePointer) throws {
            var (table, operation, isIndirect, count): (UnsafePointer<CChar>?, CInt, CInt, CInt) = (nil, 0, 0, 0)
            var isKey: UnsafeMutablePointer<UInt8>?
            var code = sqlite3changeset_op(iterator, &table, &count, &operation, &isIndirect)
            if code == SQLITE_OK { code = sqlite3changeset_pk(iterator, &isKey, &count) }
            guard code == SQLITE_OK, let table, let isKey else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            self.table = String(cString: table)
            kind = operation == SQLITE_INSERT ? .inserted : operation == SQLITE_DELETE ? .deleted : .updated
            columnCount = Int(count)
            keyFlags = isKey
            self.iterator = iterator
        }

        /// The positions of the key's columns, in the order of the table.
        var keyColumns: [Int] {
            (0..<columnCount).filter { keyFlags[$0] != 0 }
        }

        /// Whether a column belongs to the key.
        func isKey(_ column: Int) -> Bool { keyFlags[column] != 0 }

        /// The value before; nil for inserted rows, and for columns that an update did not change. Key columns always have one.
        func old(_ column: Int) -> StoredValue? {
            oldValue(column).map { StoredValue($0) }
        }

        /// The value before as an SQLite object.
        func oldValue(_ column: Int) -> OpaquePointer? {
            kind == .inserted ? nil : value(column, sqlite3changeset_old)
        }

        /// The value afterwards; nil for deleted rows, and for columns that an update did not change.
        func new(_ column: Int) -> StoredValue? {
            newValue(column).map { StoredValue($0) }
        }

        /// The value afterwards as an SQLite object.
        func newValue(_ column: Int) -> OpaquePointer? {
            kind == .deleted ? nil : value(column, sqlite3changeset_new)
        }

        /// The value of the row that conflicts with this change, if the conflict has one.
        func found(_ column: Int) -> StoredValue? {
            value(column, sqlite3changeset_conflict).map { StoredValue($0) }
        }

        private func value(
            _ column: Int, _ read: (OpaquePointer, CInt, UnsafeMutablePointer<OpaquePointer?>) -> CInt
        ) -> OpaquePointer? {
            var value: OpaquePointer?
            return read(iterator, CInt(column), &value) == SQLITE_OK ? value : nil
        }

        /// The values of the key's columns.
        var key: [StoredValue] {
            keyColumns.map { (kind == .inserted ? new($0) : old($0)) ?? .null }
        }
    }

    /// Visits every change, grouped by table.
    ///
    /// - Throws: A `DatabaseError` with the code `SQLITE_CORRUPT` if the bytes are not a changeset.
    func forEach(_ body: (Change) throws -> Void) throws {
        try stream.forEach(body)
    }

    /// Its bytes as a stream.
    var stream: ChangesetStream { ChangesetStream(StoredBytes(bytes)) }
}
