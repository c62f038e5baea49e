/// The rows of one table as they were when they were first changed, found by their keys.
///
/// Keys and values are written as in changesets. They stand one behind the other in pieces of memory that hold many rows, so that a row
/// costs no allocation.
final class FormerRows {
    struct Row {
        fileprivate let start: UnsafeRawPointer
        /// With the key at the beginning.
        fileprivate let count: Int
        fileprivate let keyCount: UInt32
        /// Whether triggers and foreign keys alone have changed it.
        fileprivate(set) var isIndirect: Bool
        fileprivate let wasThere: Bool

        var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: Int(keyCount)) }
        /// `nil`: there was none.
        var values: UnsafeRawBufferPointer? {
            wasThere ? UnsafeRawBufferPointer(start: start + Int(keyCount), count: count - Int(keyCount)) : nil
        }
    }

    /// In the order in which they were first changed.
    private(set) var rows: [Row] = []
    /// Open addressing by the hash of the key: the number of the row, from 1; 0 where none is. As many as a power of two.
    private var places = [UInt32](repeating: 0, count: 64)
    /// Where the key that was looked for last stands, or would stand.
    private var place = 0
    private var pieces: [UnsafeMutableRawPointer] = []
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    private static let pieceSize = 256 << 10

    /// How much memory a row takes beside its bytes: itself, and its places.
    static let memoryOfRow = MemoryLayout<Row>.stride + 3 * MemoryLayout<UInt32>.stride

    deinit { for piece in pieces { piece.deallocate() } }

    /// Notes another change of the row with this key. Returns whether there is one.
    func note(_ key: UnsafeRawBufferPointer, isIndirect: Bool) -> Bool {
        // An update asks twice for one row.
        guard stands(key, at: place) || find(key) else { return false }
        if !isIndirect { rows[Int(places[place]) - 1].isIndirect = false }
        return true
    }

    /// Adds the row with the key that `note` has just been asked for.
    ///
    /// - Parameter bytes: The key, and behind it the values, if there was a row.
    func add(_ bytes: UnsafeRawBufferPointer, keyCount: Int, wasThere: Bool, isIndirect: Bool) {
        if free.count < bytes.count { addPiece(atLeast: bytes.count) }
        free.copyMemory(from: bytes)
        rows.append(
            Row(start: UnsafeRawPointer(free.baseAddress!), count: bytes.count, keyCount: UInt32(keyCount), isIndirect: isIndirect, wasThere: wasThere))
        free = UnsafeMutableRawBufferPointer(rebasing: free[bytes.count...])
        places[place] = UInt32(rows.count)
        if rows.count * 4 > places.count * 3 { grow() }
    }

    private func stands(_ key: UnsafeRawBufferPointer, at place: Int) -> Bool {
        let number = Int(places[place])
        return number > 0 && rows[number - 1].key.hasSameBytes(as: key)
    }

    private func find(_ key: UnsafeRawBufferPointer) -> Bool {
        place = firstPlace(of: key)
        while places[place] > 0 {
            if stands(key, at: place) { return true }
            place = (place + 1) & (places.count - 1)
        }
        return false
    }

    private func firstPlace(of key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return hasher.finalize() & (places.count - 1)
    }

    private func grow() {
        places = [UInt32](repeating: 0, count: places.count * 2)
        for (index, row) in rows.enumerated() {
            var place = firstPlace(of: row.key)
            while places[place] > 0 { place = (place + 1) & (places.count - 1) }
            places[place] = UInt32(index + 1)
        }
    }

    private func addPiece(atLeast count: Int) {
        let size = max(count, Self.pieceSize)
        let piece = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
        pieces.append(piece)
        free = UnsafeMutableRawBufferPointer(start: piece, count: size)
    }
}
