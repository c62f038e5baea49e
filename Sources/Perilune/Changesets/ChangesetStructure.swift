package import Foundation

/// A validator for the bytes of a changeset. SQLite does not validate changesets, and can loop endlessly if the bytes are malformed.
///
/// - SeeAlso: "Changeset format" in SQLite's `sqlite3session.c`. Each table has a header, followed by changes with the values before and
///   after.
package struct ChangesetStructure {
    private var scanner: ByteScanner
    /// Whether each column of the current table belongs to the key.
    private var isKey: [Bool] = []
    private var outline = ChangesetOutline()

    private let deletedRow: Row

    /// Returns whether bytes are a valid changeset.
    ///
    /// - Parameter ofSeenRows: Whether the bytes must have the form written by ``SeenRows``, with deletions that omit changed columns.
    package static func isSound(_ bytes: Data, ofSeenRows: Bool = false) -> Bool {
        (try? outline(of: StoredBytes(bytes), ofSeenRows: ofSeenRows)) != nil
    }

    /// Validates a changeset and returns its outline.
    ///
    /// - Parameter ofSeenRows: Whether the bytes must have the form written by ``SeenRows``.
    /// - Returns: `nil` if the bytes are not a valid changeset.
    /// - Throws: ``StorageError`` if the bytes cannot be read.
    static func outline(of bytes: StoredBytes, ofSeenRows: Bool = false) throws -> ChangesetOutline? {
        var structure = ChangesetStructure(scanner: ByteScanner(bytes), deletedRow: ofSeenRows ? .former : .whole)
        while let byte = try structure.scanner.next() {
            guard try structure.takeEntry(byte) else { return nil }
        }
        return structure.outline
    }

    private init(scanner: ByteScanner, deletedRow: Row) {
        (self.scanner, self.deletedRow) = (scanner, deletedRow)
    }

    /// Reads a header or a change. This method and the following ones return `false` or `nil` for malformed bytes.
    private mutating func takeEntry(_ byte: UInt8) throws -> Bool {
        switch byte {
        case UInt8(ascii: "T"): try takeHeader()
        case 18: try takeIndirection(.insert) && takeValues(.whole)
        case 9: try takeIndirection(.delete) && takeValues(deletedRow)
        case 23: try takeIndirection(.update) && takeValues(.former) && takeValues(.changed)
        default: false
        }
    }

    /// Reads a table header: the number of columns, a key flag for each column, and the name of the table.
    private mutating func takeHeader() throws -> Bool {
        guard let count = try takeVariableInteger(), (1...32_767).contains(count) else { return false }
        isKey = []
        for _ in 0..<count {
            guard let flag = try scanner.next(), flag <= count else { return false }
            isKey.append(flag != 0)
        }
        guard isKey.contains(true) else { return false }
        guard let name = try takeName(), !name.isEmpty, let name = String(validating: name, as: UTF8.self) else { return false }
        outline.begin(name, isKey: isKey)
        return true
    }

    /// Reads a zero-terminated name.
    private mutating func takeName() throws -> [UInt8]? {
        var name: [UInt8] = []
        while let byte = try scanner.next() {
            if byte == 0 { return name }
            name.append(byte)
        }
        return nil
    }

    private mutating func takeIndirection(_ kind: RowChange.Kind) throws -> Bool {
        guard !isKey.isEmpty, let byte = try scanner.next() else { return false }
        outline.count(kind)
        return byte <= 1
    }

    /// The part of a row that must be present.
    private enum Row {
        /// All values must be present.
        case whole
        /// The values before the change. Key columns must be present; unchanged columns may be omitted.
        case former
        /// The values after the change. Unchanged columns and all key columns are omitted.
        case changed
    }

    private mutating func takeValues(_ row: Row) throws -> Bool {
        for index in isKey.indices {
            guard let type = try scanner.next(), try takeValue(ofType: type) else { return false }
            let isThere = type != 0
            switch row {
            case .whole where !isThere: return false
            case .whole where isKey[index] && type == 5: return false
            case .former where isKey[index] && (!isThere || type == 5): return false
            case .changed where isKey[index] && isThere: return false
            case .changed where isThere: outline.noteUpdated(index)
            default: break
            }
        }
        return true
    }

    private mutating func takeValue(ofType type: UInt8) throws -> Bool {
        switch type {
        case 0, 5: return true
        case 1, 2: return try scanner.skip(8)
        case 3, 4:
            guard let length = try takeVariableInteger() else { return false }
            return try scanner.skip(length)
        default: return false
        }
    }

    /// Reads a variable-length integer below 2^31: seven bits per byte, the most significant bits first.
    private mutating func takeVariableInteger() throws -> Int? {
        var value = 0
        for _ in 0..<5 {
            guard let byte = try scanner.next() else { return nil }
            value = value << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return value < 1 << 31 ? value : nil }
        }
        return nil
    }
}
