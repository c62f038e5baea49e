internal import CPeriluneSQLite
public import Foundation
internal import GRDB

/// The net row changes between two states of a database, in the format of SQLite's session extension.
///
/// For each changed row, a changeset contains the table, the key, and the values before and after the change.
/// ``recording(in:limitInBytes:_:)`` records a changeset. ``apply(to:tables:resolving:)`` applies the changes to another database, or
/// applies the inverted changes to undo them in the same database.
public struct Changeset: Sendable, Equatable {
    /// The changeset in SQLite's format, which is portable between machines.
    public let bytes: Data

    package init(bytes: Data) {
        self.bytes = bytes
    }

    /// Creates a changeset from saved bytes.
    ///
    /// - Parameter bytes: The ``bytes`` of a changeset. Untrusted bytes are safe, because every byte is validated before SQLite reads the
    ///   changeset.
    /// - Throws: ``ChangesetError`` with the code `malformed` if the bytes are not a changeset.
    public init(validating bytes: Data) throws {
        guard bytes.count < Int32.max, ChangesetStructure.isSound(bytes) else {
            throw ChangesetError(.malformed, "the bytes are not a changeset")
        }
        self.bytes = bytes
    }

    /// Creates a changeset that takes ownership of memory allocated by SQLite.
    init(taking start: UnsafeMutableRawPointer?, length: CInt) {
        guard let start, length > 0 else {
            bytes = Data()
            return
        }
        bytes = Data(
            bytesNoCopy: start, count: Int(length), deallocator: .custom { start, _ in sqlite3_free(start) })
    }

    /// Whether the changeset contains no changes.
    public var isEmpty: Bool { bytes.isEmpty }

    /// Combines these changes with a later changeset. The result has at most one change for each row.
    ///
    /// - Throws: A `DatabaseError` if a table has different columns or a different key in the second changeset, or memory runs out.
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

    /// Returns the changeset that undoes these changes.
    ///
    /// - Throws: A `DatabaseError` if memory runs out.
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

    /// The row change at the current position of an SQLite changeset iterator. The change and its `sqlite3_value` pointers are valid only
    /// during the call of the closure passed to `forEach`.
    struct Change {
        let table: String
        let kind: RowChange.Kind
        let columnCount: Int
        private let keyFlags: UnsafeMutablePointer<UInt8>
        private let iterator: OpaquePointer

        /// Reads the change at the current position of an iterator.
        init(_ iterator: OpaquePointer) throws {
            var (table, operation, isIndirect, count): (UnsafePointer<CChar>?, CInt, CInt, CInt) = (nil, 0, 0, 0)
            var isKey: UnsafeMutablePointer<UInt8>?
            var code = sqlite3changeset_op(iterator, &table, &count, &operation, &isIndirect)
            if code == SQLITE_OK { code = sqlite3changeset_pk(iterator, &isKey, &count) }
            guard code == SQLITE_OK, let table, let isKey else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            self.table = String(cString: table)
            kind = operation == SQLITE_INSERT ? .insert : operation == SQLITE_DELETE ? .delete : .update
            columnCount = Int(count)
            keyFlags = isKey
            self.iterator = iterator
        }

        /// The positions of the key columns, in the order of the table.
        var keyColumns: [Int] {
            (0..<columnCount).filter { keyFlags[$0] != 0 }
        }

        /// Returns whether a column belongs to the key.
        func isKey(_ column: Int) -> Bool { keyFlags[column] != 0 }

        /// Returns the value before the change; `nil` for inserted rows and unchanged columns outside of the key.
        func old(_ column: Int) -> StoredValue? {
            oldValue(column).map { StoredValue($0) }
        }

        /// Returns the value before the change as an `sqlite3_value` pointer.
        func oldValue(_ column: Int) -> OpaquePointer? {
            kind == .insert ? nil : value(column, sqlite3changeset_old)
        }

        /// Returns the value after the change; `nil` for deleted rows and unchanged columns.
        func new(_ column: Int) -> StoredValue? {
            newValue(column).map { StoredValue($0) }
        }

        /// Returns the value after the change as an `sqlite3_value` pointer.
        func newValue(_ column: Int) -> OpaquePointer? {
            kind == .delete ? nil : value(column, sqlite3changeset_new)
        }

        /// Returns the value in the conflicting row; `nil` if the conflict does not concern an existing row.
        func found(_ column: Int) -> StoredValue? {
            value(column, sqlite3changeset_conflict).map { StoredValue($0) }
        }

        private func value(
            _ column: Int, _ read: (OpaquePointer, CInt, UnsafeMutablePointer<OpaquePointer?>) -> CInt
        ) -> OpaquePointer? {
            var value: OpaquePointer?
            return read(iterator, CInt(column), &value) == SQLITE_OK ? value : nil
        }

        /// The values of the key columns.
        var key: [StoredValue] {
            keyColumns.map { (kind == .insert ? new($0) : old($0)) ?? .null }
        }
    }

    /// Calls a closure for every change, grouped by table.
    ///
    /// - Throws: A `DatabaseError` with the code `SQLITE_CORRUPT` if the bytes are not a changeset.
    func forEach(_ body: (Change) throws -> Void) throws {
        try stream.forEach(body)
    }

    /// The changeset as a stream.
    var stream: ChangesetStream { ChangesetStream(StoredBytes(bytes)) }
}
