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

/// An array that an object keeps to itself, or that another object keeps to which it leads.
///
/// It is found by the names of fields, once for a class. `Mirror`, which looks for names and types at each reading, takes 60,000
/// instructions for one: more than a whole transaction.
private struct HiddenArray: Sendable {
    /// Where in each object the reference to the next one is.
    private let references: [Int]
    private let offset: Int
    private let type: any FoundArray.Type

    /// `nil` if there is no such field on the way, if one holds no object, or if the last one holds no array.
    init?(at path: String..., in root: AnyClass) {
        var references: [Int] = [], owner: AnyClass = root
        for name in path.dropLast() {
            guard let field = Self.field(name, of: owner), let next = Self.objectType(field.type) else { return nil }
            references.append(field.offset)
            owner = next
        }
        guard let field = Self.field(path[path.count - 1], of: owner), let type = field.type as? any FoundArray.Type else { return nil }
        (self.references, offset, self.type) = (references, field.offset, type)
    }

    /// How many elements it has; `nil` where there is no object on the way.
    func count(in object: AnyObject) -> Int? {
        // The object keeps alive what it leads to, and nothing changes it meanwhile: it belongs to the thread that asks.
        withExtendedLifetime(object) { () -> Int? in
            var address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
            for reference in references {
                guard let next = (address + reference).load(as: UnsafeRawPointer?.self) else { return nil }
                address = next
            }
            return type.count(at: address + offset)
        }
    }

    private static func field(_ name: String, of type: AnyClass) -> (offset: Int, type: Any.Type)? {
        let ofClasses = _EachFieldOptions(rawValue: 1)
        var found: (offset: Int, type: Any.Type)?
        _forEachField(of: type, options: ofClasses) { field, offset, type, _ in
            if String(cString: field) == name { found = (offset, type) }
            return found == nil
        }
        return found
    }

    /// The class of the objects that a field holds.
    private static func objectType(_ type: Any.Type) -> AnyClass? {
        type as? AnyClass ?? (type as? any OptionalObject.Type)?.objectType
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
