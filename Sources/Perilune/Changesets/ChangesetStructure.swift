package import Foundation

/// Reads a changeset by itself, to the last byte: SQLite trusts what it is given, and can be made to go on for ever.
///
/// - SeeAlso: "Changeset format" in SQLite's `sqlite3session.c`: for each table a header, then changes with the values before and after.
package struct ChangesetStructure {
    private var rest: Data.SubSequence
    /// Of the table whose changes are read: which of its columns make up the key.
    private var isKey: [Bool] = []

    private let deletedRow: Row

    /// Whether bytes are a changeset that is as SQLite makes them, or as ``SeenRows`` makes them: deletions that leave columns out.
    package static func isSound(_ bytes: Data, ofSeenRows: Bool = false) -> Bool {
        var structure = ChangesetStructure(rest: bytes[...], deletedRow: ofSeenRows ? .former : .whole)
        while !structure.rest.isEmpty {
            guard structure.takeEntry() else { return false }
        }
        return true
    }

    private init(rest: Data.SubSequence, deletedRow: Row) {
        (self.rest, self.deletedRow) = (rest, deletedRow)
    }

    /// A header or a change.
    private mutating func takeEntry() -> Bool {
        switch takeByte() {
        case UInt8(ascii: "T"): takeHeader()
        case 18: takeIndirection() && takeValues(.whole)
        case 9: takeIndirection() && takeValues(deletedRow)
        case 23: takeIndirection() && takeValues(.former) && takeValues(.changed)
        default: false
        }
    }

    /// The number of columns, for each whether it belongs to the key, and the name of the table.
    private mutating func takeHeader() -> Bool {
        guard let count = takeVariableInteger(), (1...32_767).contains(count), let flags = takeBytes(count) else { return false }
        isKey = flags.map { $0 != 0 }
        guard isKey.contains(true), flags.allSatisfy({ $0 <= count }) else { return false }
        guard let end = rest.firstIndex(of: 0), end > rest.startIndex else { return false }
        let name = rest[..<end]
        rest = rest[rest.index(after: end)...]
        return String(validating: name, as: UTF8.self) != nil
    }

    private mutating func takeIndirection() -> Bool {
        guard !isKey.isEmpty, let byte = takeByte() else { return false }
        return byte <= 1
    }

    /// Which values of a row there must be.
    private enum Row {
        /// All.
        case whole
        /// The key, and what has changed.
        case former
        /// What has changed, which is not the key.
        case changed
    }

    private mutating func takeValues(_ row: Row) -> Bool {
        for isKey in isKey {
            guard let type = takeByte(), takeValue(ofType: type) else { return false }
            let isThere = type != 0
            switch row {
            case .whole where !isThere: return false
            case .whole where isKey && type == 5: return false
            case .former where isKey && (!isThere || type == 5): return false
            case .changed where isKey && isThere: return false
            default: break
            }
        }
        return true
    }

    private mutating func takeValue(ofType type: UInt8) -> Bool {
        switch type {
        case 0, 5: return true
        case 1, 2: return takeBytes(8) != nil
        case 3, 4:
            guard let length = takeVariableInteger() else { return false }
            return takeBytes(length) != nil
        default: return false
        }
    }

    // MARK: - Bytes

    private mutating func takeByte() -> UInt8? { rest.popFirst() }

    private mutating func takeBytes(_ count: Int) -> Data.SubSequence? {
        guard count <= rest.count else { return nil }
        let bytes = rest.prefix(count)
        rest = rest.dropFirst(count)
        return bytes
    }

    /// Seven bits a byte, the highest first; less than 2^31.
    private mutating func takeVariableInteger() -> Int? {
        var value = 0
        for _ in 0..<5 {
            guard let byte = takeByte() else { return nil }
            value = value << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return value < 1 << 31 ? value : nil }
        }
        return nil
    }
}
