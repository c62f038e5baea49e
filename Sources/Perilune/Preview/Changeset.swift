internal import CPeriluneSQLite
package import Foundation
internal import GRDB

/// The net changes of rows between two moments, as SQLite's session extension writes them.
package struct Changeset: Sendable, Equatable {
    package let bytes: Data

    package init(bytes: Data) {
        self.bytes = bytes
    }

    /// Takes over what C has made.
    init(taking start: UnsafeMutableRawPointer?, length: CInt) {
        guard let start, length > 0 else {
            bytes = Data()
            return
        }
        bytes = Data(
            bytesNoCopy: start, count: Int(length), deallocator: .custom { start, _ in psql_free_changeset(start) })
    }

    package var isEmpty: Bool { bytes.isEmpty }

    /// The changeset that undoes this one.
    package func inverted() throws -> Changeset {
        guard !isEmpty else { return self }
        return try bytes.withUnsafeBytes { buffer in
            var start: UnsafeMutableRawPointer?
            var length: CInt = 0
            let code = psql_invert_changeset(buffer.baseAddress, CInt(buffer.count), &start, &length)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            return Changeset(taking: start, length: length)
        }
    }

    /// A change of one row, to be used only while it is visited.
    struct Change {
        let pointer: UnsafePointer<psql_row_change>

        var table: String { String(cString: pointer.pointee.table) }
        var columnCount: Int { Int(pointer.pointee.column_count) }
        var kind: RowChange.Kind {
            switch pointer.pointee.kind {
            case PSQL_ROW_INSERTED: .inserted
            case PSQL_ROW_DELETED: .deleted
            default: .updated
            }
        }

        /// The positions of the key's columns, in the order of the table.
        var keyColumns: [Int] {
            (0..<columnCount).filter { pointer.pointee.is_key[$0] != 0 }
        }

        func old(_ column: Int) -> PreviewValue? {
            psql_row_change_old(pointer, CInt(column)).map { PreviewValue($0) }
        }

        func new(_ column: Int) -> PreviewValue? {
            psql_row_change_new(pointer, CInt(column)).map { PreviewValue($0) }
        }

        /// The values of the key's columns.
        var key: [PreviewValue] {
            keyColumns.map { (kind == .inserted ? new($0) : old($0)) ?? .null }
        }
    }

    /// Visits every change, those of a table one after the other.
    ///
    /// - Throws: A `DatabaseError` with the code `SQLITE_CORRUPT` if the bytes are no changeset.
    func forEach(_ body: (Change) throws -> Void) throws {
        guard !isEmpty else { return }
        try withoutActuallyEscaping(body) { body in
            let visitor = Visitor(body: body)
            let code = bytes.withUnsafeBytes { buffer in
                psql_read_changeset(
                    buffer.baseAddress, CInt(buffer.count),
                    { context, change in
                        Unmanaged<Visitor>.fromOpaque(context!).takeUnretainedValue().visit(Change(pointer: change!))
                    }, Unmanaged.passUnretained(visitor).toOpaque())
            }
            if let failure = visitor.failure { throw failure }
            guard code == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "not a changeset of SQLite")
            }
        }
    }

    private final class Visitor {
        private let body: (Change) throws -> Void
        private(set) var failure: (any Error)?

        init(body: @escaping (Change) throws -> Void) {
            self.body = body
        }

        func visit(_ change: Change) -> Bool {
            do {
                try body(change)
                return true
            } catch {
                failure = error
                return false
            }
        }
    }
}
