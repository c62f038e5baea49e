/// The rows of one table before their first change, found by their keys. Keys and values are encoded as in changesets. They are stored
/// consecutively in chunks of memory that hold many rows, so that a row costs no allocation.
final class FormerRows {
    struct Row: BitwiseCopyable {
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

    private let memory: RecordingMemory
    private var list: RecordedList<Row>
    /// Open addressing by the hash of the key: the number of the row, from 1; 0 where none is. As many as a power of two, or none yet.
    private var places: RecordedList<UInt32>
    /// The index of the last searched key, or the index at which it would be inserted.
    private var place = 0
    private var pieces: [UnsafeMutableRawPointer] = []
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    private static let pieceSize = 256 << 10

    /// The memory of a row in addition to its bytes: its record, and its index entries.
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

    /// In the order in which they were first changed. They are there as long as this object.
    var rows: UnsafeBufferPointer<Row> { UnsafeBufferPointer(list.elements) }

    /// Notes another change of the row with this key. Returns whether there is one.
    func note(_ key: UnsafeRawBufferPointer, isIndirect: Bool) -> Bool {
        // An update asks twice for one row.
        guard !places.elements.isEmpty, stands(key, at: place) || find(key) else { return false }
        if !isIndirect { list.elements[Int(places.elements[place]) - 1].isIndirect = false }
        return true
    }

    /// Adds the row with the key that `note` has just been asked for.
    ///
    /// - Parameter bytes: The key, and behind it the values, if there was a row.
    /// - Returns: `false` if there is no memory for it, after which nothing can be added.
    func add(_ bytes: UnsafeRawBufferPointer, keyCount: Int, wasThere: Bool, isIndirect: Bool) -> Bool {
        guard hasPlaces(for: list.elements.count + 1, bytes, keyCount), free.count >= bytes.count || addPiece(atLeast: bytes.count) else { return false }
        let row = Row(
            start: UnsafeRawPointer(free.baseAddress!), count: bytes.count, keyCount: UInt32(keyCount), isIndirect: isIndirect, wasThere: wasThere)
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

    /// Makes room for this number of rows, the last of which has the key at the beginning of the bytes and is not there yet.
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
