/// The rows of one table before their first change, in a hash table by key. Keys and values have the encoding of changesets. Rows are
/// stored consecutively in large chunks of memory to avoid an allocation for each row.
final class FormerRows {
    struct Row: BitwiseCopyable {
        fileprivate let start: UnsafeRawPointer
        /// The size of the key and the values together, in bytes. The values follow the key.
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
    /// The slots of a hash table with open addressing. A slot contains the number of a row, from 1, or 0 if it is free. The number of slots
    /// is a power of two, or 0 before the first row.
    private var places: RecordedList<UInt32>
    /// The slot of the key that was searched last, or the free slot into which this key would be inserted.
    private var place = 0
    private var pieces: [UnsafeMutableRawPointer] = []
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    private static let pieceSize = 256 << 10

    /// The approximate memory overhead of a row: its `Row` structure and its share of the hash table.
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

    /// The rows, in the order of their first changes. Valid while this object exists.
    var rows: UnsafeBufferPointer<Row> { UnsafeBufferPointer(list.elements) }

    /// Records a further change of a row. Returns `false` if the key is unknown, in which case the caller must call `add`.
    func note(_ key: UnsafeRawBufferPointer, isIndirect: Bool) -> Bool {
        // Checks the last slot first, because an update looks up the same key twice.
        guard !places.elements.isEmpty, stands(key, at: place) || find(key) else { return false }
        if !isIndirect { list.elements[Int(places.elements[place]) - 1].isIndirect = false }
        return true
    }

    /// Adds the row whose key was passed to the last call of `note`.
    ///
    /// - Parameter bytes: The key, followed by the values if the row existed.
    /// - Returns: `false` if memory runs out. No further rows can be added afterwards.
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

    /// Grows the hash table if a number of rows needs more slots, and then searches again for the new key, at the beginning of `bytes`.
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
