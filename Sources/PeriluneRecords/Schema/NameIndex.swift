/// A hash table of names, which compares them as SQLite does: by bytes, ignoring the case of ASCII letters. Lookups do not allocate.
struct NameIndex: Sendable {
    private var names: [[UInt8]] = []
    /// For each slot, the position of a name plus one, or 0 if the slot is free. Collisions use the next slots. The size is a power of two.
    private var slots: [Int32]

    /// Creates an index of names. Among equal names, lookups find the first.
    init(_ list: some Collection<String>) {
        var size = 8
        while size < list.count * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        names.reserveCapacity(list.count)
        for name in list { add(Array(name.utf8)) }
    }

    private mutating func add(_ name: [UInt8]) {
        names.append(name)
        let position = Int32(names.count)
        name.withUnsafeBufferPointer { bytes in
            var slot = Self.hash(bytes) & (slots.count - 1)
            while slots[slot] != 0 {
                if Self.areEqual(names[Int(slots[slot]) - 1], bytes) { return }
                slot = (slot + 1) & (slots.count - 1)
            }
            slots[slot] = position
        }
    }

    func position(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        var slot = Self.hash(name) & (slots.count - 1)
        while slots[slot] != 0 {
            let position = Int(slots[slot]) - 1
            if Self.areEqual(names[position], name) { return position }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    func position(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { position(of: $0) }
    }

    private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt32 = 2_166_136_261
        for byte in name { hash = (hash ^ UInt32(byte.foldedByte)) &* 16_777_619 }
        return Int(hash ^ (hash >> 15))
    }

    private static func areEqual(_ a: [UInt8], _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        for index in 0..<b.count where a[index].foldedByte != b[index].foldedByte { return false }
        return true
    }

}

extension UInt8 {
    /// The byte with ASCII letters converted to lower case, as SQLite compares names.
    @inline(__always) var foldedByte: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension String {
    /// A text that is equal for two names if and only if SQLite considers the names equal. ASCII letters become lower case. Each other byte
    /// becomes a separate character, because Swift considers `é` and `e` with a combining accent equal. Use it for comparison only, never
    /// for display, and do not fold it twice.
    package var foldedName: String {
        guard utf8.contains(where: { $0 > 0x7f }) else { return String(decoding: utf8.map(\.foldedByte), as: UTF8.self) }
        return String(String.UnicodeScalarView(utf8.map { Unicode.Scalar($0.foldedByte) }))
    }
}
