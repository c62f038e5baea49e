internal import CPeriluneRows
internal import Foundation

/// The allocator of a recording.
enum RecordingMemory {
    /// Allocates with `malloc`. Only the limit of the recording applies.
    case machine
    /// Allocates through SQLite. The memory counts towards the limit of the run that records.
    case run

    /// - Returns: Uninitialized memory; `nil` if memory runs out or the run has reached its limit.
    func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        switch self {
        case .machine: malloc(byteCount)
        case .run: sqlite3_malloc64(UInt64(byteCount))
        }
    }

    func free(_ memory: UnsafeMutableRawPointer?) {
        switch self {
        case .machine: Foundation.free(memory)
        case .run: sqlite3_free(memory)
        }
    }
}

/// A growable array of bitwise-copyable values, in the memory of a recording.
struct RecordedList<Element: BitwiseCopyable> {
    private(set) var elements = UnsafeMutableBufferPointer<Element>(start: nil, count: 0)
    private var capacity = 0
    let memory: RecordingMemory

    init(in memory: RecordingMemory) {
        self.memory = memory
    }

    /// Appends an element. Returns `false` if memory runs out.
    mutating func append(_ element: Element) -> Bool {
        if elements.count == capacity, !resize(to: max(64, capacity * 2)) { return false }
        elements = UnsafeMutableBufferPointer(start: elements.baseAddress, count: elements.count + 1)
        elements.initializeElement(at: elements.count - 1, to: element)
        return true
    }

    /// Replaces the contents with `count` copies of an element. If memory runs out, returns `false` and leaves the list unchanged.
    mutating func fill(_ count: Int, with element: Element) -> Bool {
        var filled = RecordedList(in: memory)
        guard filled.resize(to: count) else { return false }
        filled.elements = UnsafeMutableBufferPointer(start: filled.elements.baseAddress, count: count)
        filled.elements.initialize(repeating: element)
        release()
        self = filled
        return true
    }

    private mutating func resize(to capacity: Int) -> Bool {
        guard let room = memory.allocate(capacity * MemoryLayout<Element>.stride) else { return false }
        let moved = UnsafeMutableBufferPointer(
            start: room.bindMemory(to: Element.self, capacity: capacity), count: elements.count)
        _ = moved.initialize(fromContentsOf: elements)
        release()
        (elements, self.capacity) = (moved, capacity)
        return true
    }

    /// Frees the memory. The list must not be used afterwards.
    func release() {
        memory.free(elements.baseAddress)
    }
}
