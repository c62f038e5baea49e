internal import CPeriluneSQLite
internal import Foundation
internal import GRDB

/// A changeset, or its inverse, that SQLite reads from memory or streams from a file.
struct ChangesetStream {
    let bytes: StoredBytes
    /// Whether the stream is the inverse of `bytes`.
    private(set) var isInverted = false

    init(_ bytes: StoredBytes) {
        self.bytes = bytes
    }

    /// Returns the inverse of the changeset.
    func inverted() -> ChangesetStream {
        var inverse = self
        inverse.isInverted.toggle()
        return inverse
    }

    /// Returns the tables and the numbers of changes.
    ///
    /// - Throws: A `DatabaseError` with the code `SQLITE_CORRUPT` if the bytes are not a changeset, or ``StorageError``.
    func outline() throws -> ChangesetOutline {
        guard let outline = try ChangesetStructure.outline(of: bytes) else { throw Self.error(SQLITE_CORRUPT) }
        return outline
    }

    /// Calls a closure for every change, grouped by table.
    ///
    /// - Throws: A `DatabaseError` with the code `SQLITE_CORRUPT` if the bytes are not a changeset, or ``StorageError``.
    func forEach(_ body: (Changeset.Change) throws -> Void) throws {
        guard bytes.count > 0 else { return }
        let flags = CInt(isInverted ? PSQL_CHANGESET_START_INVERTED : 0)
        if let data = bytes.memory {
            try data.withUnsafeBytes { buffer in
                var iterator: OpaquePointer?
                let code = sqlite3changeset_start_v2(
                    &iterator, CInt(buffer.count), UnsafeMutableRawPointer(mutating: buffer.baseAddress), flags)
                try Self.iterate(iterator, code, body)
            }
        } else {
            let input = ChangesetInput(bytes)
            var iterator: OpaquePointer?
            let code = sqlite3changeset_start_v2_strm(&iterator, ChangesetInput.read, input.context, flags)
            try withExtendedLifetime(input) {
                do { try Self.iterate(iterator, code, body) } catch { throw input.error ?? error }
            }
        }
    }

    private static func iterate(_ iterator: OpaquePointer?, _ code: CInt, _ body: (Changeset.Change) throws -> Void) throws {
        guard code == SQLITE_OK, let iterator else { throw error(code) }
        do {
            while sqlite3changeset_next(iterator) == SQLITE_ROW { try body(Changeset.Change(iterator)) }
        } catch {
            sqlite3changeset_finalize(iterator)
            throw error
        }
        let code = sqlite3changeset_finalize(iterator)
        guard code == SQLITE_OK else { throw error(code) }
    }

    private static func error(_ code: CInt) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: "not an SQLite changeset")
    }

    // MARK: - Applying

    /// The callbacks that SQLite calls while applying a changeset.
    struct ApplicationCallbacks {
        /// Returns 1 to apply the changes of a table, or 0 to skip them.
        let filter: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> CInt
        /// Returns SQLite's code for the resolution of a conflict.
        let resolve: @convention(c) (UnsafeMutableRawPointer?, CInt, OpaquePointer?) -> CInt
        let context: UnsafeMutableRawPointer
    }

    /// Applies the changes with SQLite.
    ///
    /// - Parameter usesSavepoint: Whether SQLite undoes the changes after a failure. Otherwise, the caller must roll back the transaction.
    /// - Returns: SQLite's result code.
    /// - Throws: ``StorageError``.
    func apply(to connection: OpaquePointer?, usesSavepoint: Bool, _ callbacks: ApplicationCallbacks) throws -> CInt {
        guard bytes.count > 0 else { return SQLITE_OK }
        var flags = CInt(isInverted ? PSQL_CHANGESET_APPLY_INVERTED : 0)
        if !usesSavepoint { flags |= CInt(PSQL_CHANGESET_APPLY_WITHOUT_SAVEPOINT) }
        if let data = bytes.memory {
            return data.withUnsafeBytes { buffer in
                sqlite3changeset_apply_v2(
                    connection, CInt(buffer.count), UnsafeMutableRawPointer(mutating: buffer.baseAddress), callbacks.filter,
                    callbacks.resolve,
                    callbacks.context, nil, nil, flags)
            }
        }
        let input = ChangesetInput(bytes)
        let code = sqlite3changeset_apply_v2_strm(
            connection, ChangesetInput.read, input.context, callbacks.filter, callbacks.resolve, callbacks.context, nil, nil,
            flags)
        if let error = input.error { throw error }
        return code
    }
}

/// A reader that streams stored bytes to SQLite.
private final class ChangesetInput {
    private let bytes: StoredBytes
    /// A buffer, because SQLite requests only about a thousand bytes at a time.
    private var piece = [UInt8](repeating: 0, count: 64 << 10)
    private var (position, end) = (0, 0)
    /// The offset in the stored bytes at which the buffer is refilled.
    private var offset = 0
    private(set) var error: (any Error)?

    init(_ bytes: StoredBytes) {
        self.bytes = bytes
    }

    /// An unretained pointer to this object for SQLite's callback, valid while the object exists.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let read: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<CInt>?) -> CInt = {
        context, start, length in
        let input = Unmanaged<ChangesetInput>.fromOpaque(context!).takeUnretainedValue()
        do {
            length!.pointee = CInt(try input.read(into: UnsafeMutableRawBufferPointer(start: start, count: Int(length!.pointee))))
            return SQLITE_OK
        } catch {
            input.error = error
            return SQLITE_IOERR
        }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if position == end {
            (position, end) = (0, try piece.withUnsafeMutableBytes { try bytes.copy(from: offset, into: $0) })
            offset += end
        }
        let count = min(buffer.count, end - position)
        piece.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count])) }
        position += count
        return count
    }
}
