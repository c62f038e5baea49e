internal import CPeriluneSQLite
internal import Dispatch
package import GRDB
@_spi(Reflection) internal import Swift

// All that Perilune has of GRDB beside what GRDB promises: what it keeps to itself, read where it is, and names with an underscore.
// The package is pinned to GRDB 7.10 for its sake; GRDBInternalsTests fail by the name of the part that another version lacks.

extension Database {
    private static let transactionObservations = HiddenArray(at: "observationBroker", "transactionObservations", in: Database.self)

    /// Whether observers of transactions may be registered.
    ///
    /// Read of `Database.observationBroker.transactionObservations`. Where that is not found, the answer is yes, which costs time but
    /// nothing else.
    package var mayBeObserved: Bool {
        Self.transactionObservations?.count(in: self) != 0
    }
}

/// The savepoints that Swift has opened on a connection.
///
/// Read of `Database.observationBroker.savepointStack.savepoints`.
package struct OpenSavepoints {
    private static let savepoints = HiddenArray(at: "observationBroker", "savepointStack", "savepoints", in: Database.self)

    private unowned let db: Database
    private let savepoints: HiddenArray

    /// `nil` if GRDB keeps them elsewhere.
    package init?(on db: Database) {
        guard let savepoints = Self.savepoints, savepoints.count(in: db) != nil else { return nil }
        self.db = db
        self.savepoints = savepoints
    }

    /// How many are open.
    package var count: Int { savepoints.count(in: db) ?? 0 }
}

/// The queue on which GRDB serializes the accesses to a connection, to find out whether one of them is under way.
///
/// Read of `DatabaseQueue.writer.queue` and `DatabasePool.writer.queue`.
struct AccessQueue: Sendable {
    private static let ofQueues = HiddenObject(at: "writer", "queue", in: DatabaseQueue.self)
    private static let ofPools = HiddenObject(at: "writer", "queue", in: DatabasePool.self)

    private let state: DispatchQueueState

    /// `nil` if GRDB keeps it elsewhere, or if the state of a dispatch queue cannot be read.
    init?(of writer: any DatabaseWriter) {
        let field = writer is DatabasePool ? Self.ofPools : Self.ofQueues
        guard writer is DatabasePool || writer is DatabaseQueue, let queue = field?.find(in: writer) as? DispatchQueue,
            let state = DispatchQueueState(of: queue)
        else { return nil }
        self.state = state
    }

    /// Whether an access could begin at once: no thread has the queue, or this one has.
    var isFree: Bool { state.isFree }
}

/// The readers of a pool, to find out whether one of them is free.
///
/// Read of `DatabasePool.readerPool`: `itemsSemaphore`, which counts the free ones, `itemsGroup`, which the busy ones have entered, and
/// `barrierQueue`.
struct PoolReaders: Sendable {
    private static let semaphore = HiddenObject(at: "readerPool", "itemsSemaphore", in: DatabasePool.self)
    private static let group = HiddenObject(at: "readerPool", "itemsGroup", in: DatabasePool.self)
    private static let barrier = HiddenObject(at: "readerPool", "barrierQueue", in: DatabasePool.self)

    private let semaphore: DispatchSemaphore
    private let group: DispatchGroup
    private let barrier: DispatchQueueState

    /// `nil` if GRDB keeps them elsewhere, or if the pool is closed.
    init?(of pool: DatabasePool) {
        guard let semaphore = Self.semaphore?.find(in: pool) as? DispatchSemaphore,
            let group = Self.group?.find(in: pool) as? DispatchGroup,
            let barrier = (Self.barrier?.find(in: pool) as? DispatchQueue).flatMap({ DispatchQueueState(of: $0) })
        else { return nil }
        (self.semaphore, self.group, self.barrier) = (semaphore, group, barrier)
    }

    /// Waits a moment for a reader. Returns whether one is free.
    func waitForOne(_ timeout: DispatchTime) -> Bool {
        guard barrier.isFree, semaphore.wait(timeout: timeout) == .success else { return false }
        semaphore.signal()
        return true
    }

    /// Waits a moment until no reader is in use. Returns whether that is so.
    func waitForAll(_ timeout: DispatchTime) -> Bool {
        barrier.isFree && group.wait(timeout: timeout) == .success
    }
}

/// The state of a dispatch queue, which says whether a thread has it. There is no function for that: a thread that asks for a queue has to
/// wait, whatever happens in the meantime.
///
/// Read of the field `dq_state` of libdispatch, whose lower half is the number of the thread that has the queue.
///
/// `@unchecked Sendable`: the field is read atomically.
private struct DispatchQueueState: @unchecked Sendable {
    private static let wrapped = HiddenField("__wrapped", of: DispatchQueue.self)

    private let queue: DispatchQueue
    /// The object of libdispatch, which belongs to the queue.
    private let object: UnsafeRawPointer

    /// `nil` if another version of libdispatch keeps it elsewhere.
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

    /// Whether the state is where it is expected: found out with a queue whose owner is known.
    private static let isKnown: Bool = {
        let queue = DispatchQueue(label: "perilune.probe", qos: .userInitiated)
        guard let state = DispatchQueueState(unchecked: queue), state.owner == 0 else { return false }
        return queue.sync { state.owner == psql_thread_number() } && state.owner == 0
    }()
}

/// A field of a class, by its name.
private struct HiddenField: Sendable {
    let offset: Int
    let type: Any.Type

    /// `nil` if there is none.
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

    /// The class of the objects that it holds.
    var objectType: AnyClass? { type as? AnyClass ?? (type as? any OptionalObject.Type)?.objectType }
}

/// An object to which fields lead from another one, each found by its name, once for a class.
private struct HiddenObject: Sendable {
    private let offsets: [Int]
    /// The class of the object.
    let type: AnyClass

    /// `nil` if there is no such field on the way, or if one holds no object.
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

    /// The address of the object; `nil` where there is none on the way.
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

/// An array that an object keeps to itself, or that another object keeps to which it leads.
///
/// It is found by the names of fields, once for a class. `Mirror`, which looks for names and types at each reading, takes 60,000
/// instructions for one: more than a whole transaction.
private struct HiddenArray: Sendable {
    private let owner: HiddenObject
    private let offset: Int
    private let type: any FoundArray.Type

    /// `nil` if there is no such field on the way, if one holds no object, or if the last one holds no array.
    init?(at path: String..., in root: AnyClass) {
        guard let owner = HiddenObject(path.dropLast(), root), let field = HiddenField(path[path.count - 1], of: owner.type),
            let type = field.type as? any FoundArray.Type
        else { return nil }
        (self.owner, offset, self.type) = (owner, field.offset, type)
    }

    /// How many elements it has; `nil` where there is no object on the way.
    func count(in object: AnyObject) -> Int? {
        // The object keeps alive what it leads to, and nothing changes it meanwhile: it belongs to the thread that asks.
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

/// Steps a statement through GRDB, again and again, without taking its values.
///
/// `DatabaseCursor` is public; what a type needs to be one (`_statement`, `_isDone`, `_element`) has underscores. A cursor of GRDB's own
/// would reset the arguments, which the row path has bound.
package final class StatementSteps {
    private let cursor: Cursor

    package init(_ statement: Statement) {
        cursor = Cursor(statement)
    }

    /// Steps to the end.
    ///
    /// - Parameter takeRow: Called for each row that the statement returns.
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
