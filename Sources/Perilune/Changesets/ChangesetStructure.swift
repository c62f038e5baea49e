package import Foundation

/// Validates a changeset to the last byte. SQLite trusts its input, and malformed bytes can make it loop forever.
///
/// - SeeAlso: "Changeset format" in SQLite's `sqlite3session.c`: for each table a header, then changes with the values before and after.
package struct ChangesetStructure {
    private var scanner: ByteScanner
    /// For each column of the current table, whether it belongs to the key.
    private var isKey: [Bool] = []
    private var outline = ChangesetOutline()

    private let deletedRow: Row

    /// Whether bytes are a changeset that is as SQLite makes them, or as ``SeenRows`` makes them: deletions that leave columns out.
    package static func isSound(_ bytes: Data, ofSeenRows: Bool = false) -> Bool {
        (try? outline(of: StoredBytes(bytes), ofSeenRows: ofSeenRows)) != nil
    }

    /// Returns an outline of a changeset.
    ///
    /// - Parameter ofSeenRows: Whether it must have the form that ``SeenRows`` writes.
    /// - Returns: `nil` if the bytes are not sound.
    /// - Throws: ``StorageError`` if they cannot be read.
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

    /// A header or a change.
    private mutating func takeEntry(_ byte: UInt8) throws -> Bool {
        switch byte {
        case UInt8(ascii: "T"): try takeHeader()
        case 18: try takeIndirection(.inserted) && takeValues(.whole)
        case 9: try takeIndirection(.deleted) && takeValues(deletedRow)
        case 23: try takeIndirection(.updated) && takeValues(.former) && takeValues(.changed)
        default: false
        }
    }

    /// The number of columns, for each whether it belongs to the key, and the name of the table.
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

    /// Bytes up to a zero.
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

    /// Which values of a row there must be.
    private enum Row {
        /// All.
        case whole
        /// The key, and the changed columns.
        case former
        /// The changed columns without the key.
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

    /// Seven bits a byte, the highest first; less than 2^31.
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
