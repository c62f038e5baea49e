internal import CPeriluneRows
package import GRDB
package import PeriluneLua

/// A database as a function of Swift has it that a script has called with it.
package struct DatabaseHandle {
    package let database: ScriptDatabase
    /// What the row path knows of it.
    let pointer: OpaquePointer
    package let state: LuaState

    /// The database behind a value: a database object, or a handle that is alive.
    package init?(_ value: LuaValue, in state: LuaState) {
        guard case .userdata = value,
            let pointer = try? state.withUnsafeStack([value], { L, index in pdb_database_at(L, index) })
        else { return nil }
        (database, self.pointer, self.state) = (ScriptDatabase.of(pointer), pointer, state)
    }

    /// The database that a function is given.
    ///
    /// - Parameter place: What messages call the argument.
    package init(_ arguments: LuaArguments, _ position: Int, for place: String) throws {
        let (value, state) = (arguments[position], try arguments.state)
        if let found = DatabaseHandle(value, in: state) {
            self = found
            return
        }
        guard case .userdata = value, try state.withUnsafeStack([value], { L, index in pdb_is_database(L, index) }) else {
            throw BindingError("argument", "\(place): expected a database, got \(value.shortDescription)")
        }
        throw BindingError("dead_handle", "this database handle was used after its block ended")
    }

    /// The innermost access to the database that is open in the state.
    var access: UnsafeMutablePointer<pdb_access>? {
        // A state that runs a function is open, and has room.
        try? state.withUnsafeStack { L, _ in pdb_current_access(L, pointer) }
    }

    /// GRDB's connection in that access.
    package var connection: Database? {
        guard let access, let grdb = pdb_access_grdb(access) else { return nil }
        return Unmanaged<Database>.fromOpaque(grdb).takeUnretainedValue()
    }

    /// Whether that access may only read.
    package var isReadonly: Bool { access?.pointee.is_readonly ?? false }

    /// Runs a closure on that connection, or in a short access of its own.
    package func withConnection<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try SchemaBinding.withConnection(of: self, body)
    }

    /// The access that began the transaction of the innermost one; `nil` outside of transactions.
    var transaction: UnsafeMutablePointer<pdb_access>? {
        guard let innermost = access else { return nil }
        let open = sequence(first: innermost) { $0.pointee.outer }
        return open.filter { $0.pointee.connection == innermost.pointee.connection && $0.pointee.in_transaction }.last
    }

    /// Calls a function of a script while SQLite calls Swift: no database may be used in it.
    package static func calling(
        _ function: LuaFunction, _ arguments: [LuaValue], at place: ScriptPlace, in state: LuaState
    ) throws -> [LuaValue] {
        let former = try state.withUnsafeStack { L, _ in pdb_enter_place(L, place.place) }
        defer { _ = try? state.withUnsafeStack { L, _ in pdb_enter_place(L, former) } }
        return try function.call(arguments)
    }
}

/// Where a function of a script runs that may not use a database.
package enum ScriptPlace {
    case backupProgress, conflict

    fileprivate var place: pdb_place {
        switch self {
        case .backupProgress: PDB_IN_BACKUP_PROGRESS
        case .conflict: PDB_IN_CONFLICT
        }
    }
}
