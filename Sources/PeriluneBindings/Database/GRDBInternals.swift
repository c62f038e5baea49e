internal import CPeriluneSQLite
internal import Dispatch
package import GRDB
@_spi(Reflection) internal import Swift

// All code that depends on GRDB internals, which are private fields read from memory and underscored names. This is why the package
// is pinned to GRDB 7.10. If another version changes an internal, GRDBInternalsTests names it.

extension Database {
    private static let transactionObservations = HiddenArray(
        at: "observationBroker", "transactionObservations", in: Database.self)

    /// Whether transaction observers may be registered.
    ///
    /// Read from `Database.observationBroker.transactionObservations`. The result is true if this field is missing, which only
    /// costs time.
    package var mayBeObserved: Bool {
        Self.transactionObservations?.count(in: self) != 0
    }
}

/// The savepoints that Swift code has opened on a connection.
///
/// Read from `Database.observationBroker.savepointStack.savepoints`.
package struct OpenSavepoints {
    private static let savepoints = HiddenArray(at: "observationBroker", "savepointStack", "savepoints", in: Database.self)

    private unowned let db: Database
    private let savepoints: HiddenArray

    /// Returns `nil` if this version of GRDB stores the savepoints elsewhere.
    package init?(on db: Database) {
        guard let savepoints = Self.savepoints, savepoints.count(in: db) != nil else { return nil }
        self.db = db
        self.savepoints = savepoints
    }

    /// The number of open savepoints.
    package var count: Int { savepoints.count(in: db) ?? 0 }
}

/// The dispatch queue on which GRDB serializes the accesses to a connection. Its state shows whether an access is running.
///
/// Read from `DatabaseQueue.writer.queue` and `DatabasePool.writer.queue`.
struct AccessQueue: Sendable {
    private static let ofQueues = HiddenObject(at: "writer", "queue", in: DatabaseQueue.self)
    private static let ofPools = HiddenObject(at: "writer", "queue", in: DatabasePool.self)

    private let state: DispatchQueueState

    /// Returns `nil` if GRDB stores the queue elsewhere, or if the state of dispatch queues cannot be read.
    init?(of writer: any DatabaseWriter) {
        let field = writer is DatabasePool ? Self.ofPools : Self.ofQueues
        guard writer is DatabasePool || writer is DatabaseQueue, let queue = field?.find(in: writer) as? DispatchQueue,
            let state = DispatchQueueState(of: queue)
        else { return nil }
        self.state = state
    }

    /// Whether an access could begin immediately, because the queue is free or this thread owns it.
    var isFree: Bool { state.isFree }
}

/// The readers of a pool, for checking whether one is free.
///
/// Read from `DatabasePool.readerPool`: `itemsSemaphore` counts the free readers, each busy reader has entered `itemsGroup`, and
/// barriers run on `barrierQueue`.
struct PoolReaders: Sendable {
    private static let semaphore = HiddenObject(at: "readerPool", "itemsSemaphore", in: DatabasePool.self)
    private static let group = HiddenObject(at: "readerPool", "itemsGroup", in: DatabasePool.self)
    private static let barrier = HiddenObject(at: "readerPool", "barrierQueue", in: DatabasePool.self)

    private let semaphore: DispatchSemaphore
    private let group: DispatchGroup
    private let barrier: DispatchQueueState

    /// Returns `nil` if GRDB stores the readers elsewhere or the pool is closed.
    init?(of pool: DatabasePool) {
        guard let semaphore = Self.semaphore?.find(in: pool) as? DispatchSemaphore,
            let group = Self.group?.find(in: pool) as? DispatchGroup,
            let barrier = (Self.barrier?.find(in: pool) as? DispatchQueue).flatMap({ DispatchQueueState(of: $0) })
        else { return nil }
        (self.semaphore, self.group, self.barrier) = (semaphore, group, barrier)
    }

    /// Waits for a free reader until the timeout. Returns whether a reader is free.
    func waitForOne(_ timeout: DispatchTime) -> Bool {
        guard barrier.isFree, semaphore.wait(timeout: timeout) == .success else { return false }
        semaphore.signal()
        return true
    }

    /// Waits until no reader is in use or the timeout expires. Returns whether all readers are free.
    func waitForAll(_ timeout: DispatchTime) -> Bool {
        barrier.isFree && group.wait(timeout: timeout) == .success
    }
}

/// The state of a dispatch queue, which shows whether a thread owns the queue. libdispatch has no public function for this check.
///
/// Read from libdispatch's field `dq_state`, whose lower half contains the id of the owning thread.
///
/// `@unchecked Sendable`: reads of the field are atomic.
private struct DispatchQueueState: @unchecked Sendable {
    private static let wrapped = HiddenField("__wrapped", of: DispatchQueue.self)

    private let queue: DispatchQueue
    /// The libdispatch object, which the Swift queue retains.
    private let object: UnsafeRawPointer

    /// Returns `nil` if this version of libdispatch stores the queue state elsewhere.
    init?(of queue: DispatchQueue) {
        guard Self.isKnown else { return nil }
        self.init(unchecked: queue)
    }

    private init?(unchecked queue: DispatchQueue) {
        guard let field = Self.wrapped, field.type is OpaquePointer.Type else { return nil }
        self.queue = queue
        object = (UnsafeRawPointer(Unmanaged.passUnretained(queue).toOpaque()) + field.offset).load(as: UnsafeRawPointer.self)
    }

    private var owner: UInt32 { withExtendedLifetime(queue) { psql_queue_owner(object) } }

    var isFree: Bool {
        let owner = owner
        return owner == 0 || owner == psql_thread_number()
    }

    /// Whether the queue state is at the expected address, as tested with a queue whose owner is known.
    private static let isKnown: Bool = {
        let queue = DispatchQueue(label: "perilune.probe", qos: .userInitiated)
        guard let state = DispatchQueueState(unchecked: queue), state.owner == 0 else { return false }
        return queue.sync { state.owner == psql_thread_number() } && state.owner == 0
    }()
}

/// A stored property of a class, found by name.
private struct HiddenField: Sendable {
    let offset: Int
    let type: Any.Type

    /// Returns `nil` if the class has no such field.
    init?(_ name: String, of owner: AnyClass) {
        let ofClasses = _EachFieldOptions(rawValue: 1)
        var found: (offset: Int, type: Any.Type)?
        _forEachField(of: owner, options: ofClasses) { field, offset, type, _ in
            if String(cString: field) == name { found = (offset, type) }
            return found == nil
        }
        guard let found else { return nil }
        (offset, type) = found
    }

    /// The class of the field's value.
    var objectType: AnyClass? { type as? AnyClass ?? (type as? any OptionalObject.Type)?.objectType }
}

/// An object found by following a path of fields. The field offsets are resolved once per class.
private struct HiddenObject: Sendable {
    private let offsets: [Int]
    /// The class of the object.
    let type: AnyClass

    /// Returns `nil` if a field of the path is missing or is not an object.
    init?(at path: String..., in root: AnyClass) {
        self.init(path, root)
    }

    init?(_ path: [String], _ root: AnyClass) {
        var offsets: [Int] = [], owner: AnyClass = root
        for name in path {
            guard let field = HiddenField(name, of: owner), let next = field.objectType else { return nil }
            offsets.append(field.offset)
            owner = next
        }
        (self.offsets, type) = (offsets, owner)
    }

    /// Returns the address of the object; `nil` if an object on the path is missing.
    func address(in object: AnyObject) -> UnsafeRawPointer? {
        var address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        for offset in offsets {
            guard let next = (address + offset).load(as: UnsafeRawPointer?.self) else { return nil }
            address = next
        }
        return address
    }

    func find(in object: AnyObject) -> AnyObject? {
        withExtendedLifetime(object) {
            address(in: object).map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
        }
    }
}

/// A private array found by following a path of fields.
///
/// The field offsets are resolved once per class. `Mirror` would search names and types on each access, which takes 60,000
/// instructions, more than a whole transaction.
private struct HiddenArray: Sendable {
    private let owner: HiddenObject
    private let offset: Int
    private let type: any FoundArray.Type

    /// Returns `nil` if a field of the path is missing or is not an object, or if the last field is not an array.
    init?(at path: String..., in root: AnyClass) {
        guard let owner = HiddenObject(path.dropLast(), root), let field = HiddenField(path[path.count - 1], of: owner.type),
            let type = field.type as? any FoundArray.Type
        else { return nil }
        (self.owner, offset, self.type) = (owner, field.offset, type)
    }

    /// Returns the number of elements; `nil` if an object on the path is missing.
    func count(in object: AnyObject) -> Int? {
        // The root object retains the other objects and belongs to the calling thread, so the path cannot change during the read.
        withExtendedLifetime(object) { owner.address(in: object).map { type.count(at: $0 + offset) } }
    }
}

private protocol FoundArray: SendableMetatype {
    static func count(at address: UnsafeRawPointer) -> Int
}

extension Array: FoundArray {
    fileprivate static func count(at address: UnsafeRawPointer) -> Int {
        address.assumingMemoryBound(to: Self.self).pointee.count
    }
}

private protocol OptionalObject {
    static var objectType: AnyClass { get }
}

extension Optional: OptionalObject where Wrapped: AnyObject {
    fileprivate static var objectType: AnyClass { Wrapped.self }
}

/// An iterator over the rows of a statement, which uses GRDB but does not decode values.
///
/// It conforms to the public protocol `DatabaseCursor`, whose requirements have underscored names (`_statement`, `_isDone`,
/// `_element`). GRDB's cursors cannot be used, because they reset the arguments that the row path has bound.
package final class StatementSteps {
    private let cursor: Cursor

    package init(_ statement: Statement) {
        cursor = Cursor(statement)
    }

    /// Executes the statement until it returns no more rows.
    ///
    /// - Parameter takeRow: Called for each row.
    package func forEach(_ takeRow: () -> Void) throws {
        cursor._isDone = false
        try cursor.forEach { takeRow() }
    }

    private final class Cursor: DatabaseCursor {
        typealias Element = Void

        let _statement: Statement
        var _isDone = false

        init(_ statement: Statement) {
            _statement = statement
        }

        func _element(sqliteStatement: SQLiteStatement) {}
    }
}
