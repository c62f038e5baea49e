/// The rows of one table before their first change, found by their keys. Keys and values are encoded as in changesets. Many rows
/// are stored consecutively in each chunk of memory, so that a row needs no allocation of its own.
final class FormerRows {
    struct Row: BitwiseCopyable {
        fileprivate let start: UnsafeRawPointer
        /// The number of bytes of the key and the values, which follow the key.
        fileprivate let count: Int
        fileprivate let keyCount: UInt32
        /// Whether only triggers and foreign key actions have changed the row.
        fileprivate(set) var isIndirect: Bool
        fileprivate let wasThere: Bool

        var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: Int(keyCount)) }
        /// The encoded values; `nil` if the row did not exist.
        var values: UnsafeRawBufferPointer? {
            wasThere ? UnsafeRawBufferPointer(start: start + Int(keyCount), count: count - Int(keyCount)) : nil
        }
    }

    private let memory: RecordingMemory
    private var list: RecordedList<Row>
    /// A hash table with open addressing, by key. Its entries are the numbers of the rows from 1, or 0 if free. Its size is a
    /// power of two, or 0 before the first row.
    private var places: RecordedList<UInt32>
    /// The index of the last searched key in `places`, or the index at which the key would be inserted.
    private var place = 0
    private var pieces: [UnsafeMutableRawPointer] = []
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    private static let pieceSize = 256 << 10

    /// The memory of a row in addition to its bytes: the record and the index entries.
    static let memoryOfRow = MemoryLayout<Row>.stride + 3 * MemoryLayout<UInt32>.stride

    init(in memory: RecordingMemory) {
        self.memory = memory
        (list, places) = (RecordedList(in: memory), RecordedList(in: memory))
    }

    deinit {
        for piece in pieces { memory.free(piece) }
        list.release()
        places.release()
    }

    /// The rows in the order of their first changes, valid while this object exists.
    var rows: UnsafeBufferPointer<Row> { UnsafeBufferPointer(list.elements) }

    /// Records another change of the row with a key. Returns whether the row is known.
    func note(_ key: UnsafeRawBufferPointer, isIndirect: Bool) -> Bool {
        // An update searches for the same row twice.
        guard !places.elements.isEmpty, stands(key, at: place) || find(key) else { return false }
        if !isIndirect { list.elements[Int(places.elements[place]) - 1].isIndirect = false }
        return true
    }

    /// Adds the row with the key of the last call of `note`.
    ///
    /// - Parameter bytes: The key, followed by the values if the row existed.
    /// - Returns: `false` if memory runs out. No more rows can be added then.
    func add(_ bytes: UnsafeRawBufferPointer, keyCount: Int, wasThere: Bool, isIndirect: Bool) -> Bool {
        guard hasPlaces(for: list.elements.count + 1, bytes, keyCount),
            free.count >= bytes.count || addPiece(atLeast: bytes.count)
        else { return false }
        let row = Row(
            start: UnsafeRawPointer(free.baseAddress!), count: bytes.count, keyCount: UInt32(keyCount), isIndirect: isIndirect,
            wasThere: wasThere)
        guard list.append(row) else { return false }
        free.copyMemory(from: bytes)
        free = UnsafeMutableRawBufferPointer(rebasing: free[bytes.count...])
        places.elements[place] = UInt32(list.elements.count)
        return true
    }

    private func stands(_ key: UnsafeRawBufferPointer, at place: Int) -> Bool {
        let number = Int(places.elements[place])
        return number > 0 && list.elements[number - 1].key.hasSameBytes(as: key)
    }

    private func find(_ key: UnsafeRawBufferPointer) -> Bool {
        place = firstPlace(of: key)
        while places.elements[place] > 0 {
            if stands(key, at: place) { return true }
            place = (place + 1) & (places.elements.count - 1)
        }
        return false
    }

    private func firstPlace(of key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return hasher.finalize() & (places.elements.count - 1)
    }

    /// Makes room for a number of rows. If the hash table grows, searches again for the new key, at the beginning of `bytes`.
    /// Returns `false` if memory runs out.
    private func hasPlaces(for count: Int, _ bytes: UnsafeRawBufferPointer, _ keyCount: Int) -> Bool {
        guard count * 4 > places.elements.count * 3 else { return true }
        guard places.fill(max(64, places.elements.count * 2), with: 0) else { return false }
        for (index, row) in list.elements.enumerated() {
            var place = firstPlace(of: row.key)
            while places.elements[place] > 0 { place = (place + 1) & (places.elements.count - 1) }
            places.elements[place] = UInt32(index + 1)
        }
        _ = find(UnsafeRawBufferPointer(rebasing: bytes[..<keyCount]))
        return true
    }

    private func addPiece(atLeast count: Int) -> Bool {
        let size = max(count, Self.pieceSize)
        guard let piece = memory.allocate(size) else { return false }
        pieces.append(piece)
        free = UnsafeMutableRawBufferPointer(start: piece, count: size)
        return true
    }
}
