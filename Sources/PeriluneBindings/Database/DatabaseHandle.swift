internal import CPeriluneRows
package import GRDB
package import PeriluneLua

/// A database that a script passed to a Swift function.
package struct DatabaseHandle {
    package let database: ScriptDatabase
    /// The row path's representation of the database.
    let pointer: OpaquePointer
    package let state: LuaState

    /// Creates the handle from a database object, or from a block's database handle while the block is running.
    package init?(_ value: LuaValue, in state: LuaState) {
        guard case .userdata = value,
            let pointer = try? state.withUnsafeStack([value], { L, index in pdb_database_at(L, index) })
        else { return nil }
        (database, self.pointer, self.state) = (ScriptDatabase.of(pointer), pointer, state)
    }

    /// Creates the handle from an argument.
    ///
    /// - Parameter place: The name of the function in error messages.
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

    /// The innermost open access to the database in this state.
    var access: UnsafeMutablePointer<pdb_access>? {
        // This cannot fail, because a state that runs a function is open and has stack space.
        try? state.withUnsafeStack { L, _ in pdb_current_access(L, pointer) }
    }

    /// The GRDB connection of the innermost access.
    package var connection: Database? {
        guard let access, let grdb = pdb_access_grdb(access) else { return nil }
        return Unmanaged<Database>.fromOpaque(grdb).takeUnretainedValue()
    }

    /// Whether the innermost access is read-only.
    package var isReadonly: Bool { access?.pointee.is_readonly ?? false }

    /// Runs a closure on the connection of the innermost access. Without an open access, opens one for the closure.
    package func withConnection<Result>(_ body: (Database) throws -> Result) throws -> Result {
        if let connection { return try body(connection) }
        try database.requireOpen()
        // Use the writer, because its temporary tables are not visible on other connections.
        return try database.entering {
            try database.writer.unsafeReentrantWrite { db in
                try db.requireOpen()
                try database.extensions.load(on: db)
                return try body(db)
            }
        }
    }

    /// The access that began the current transaction; `nil` outside transactions.
    var transaction: UnsafeMutablePointer<pdb_access>? {
        guard let innermost = access else { return nil }
        let open = sequence(first: innermost) { $0.pointee.outer }
        return open.filter { $0.pointee.connection == innermost.pointee.connection && $0.pointee.in_transaction }.last
    }

    /// Calls a script function from an SQLite callback, during which scripts cannot use databases.
    package static func calling(
        _ function: LuaFunction, _ arguments: [LuaValue], at place: ScriptPlace, in state: LuaState
    ) throws -> [LuaValue] {
        let former = try state.withUnsafeStack { L, _ in pdb_enter_place(L, place.place) }
        defer { _ = try? state.withUnsafeStack { L, _ in pdb_enter_place(L, former) } }
        return try function.call(arguments)
    }
}

/// An SQLite callback in which scripts cannot use databases.
package enum ScriptPlace {
    case backupProgress, conflict

    fileprivate var place: pdb_place {
        switch self {
        case .backupProgress: PDB_IN_BACKUP_PROGRESS
        case .conflict: PDB_IN_CONFLICT
        }
    }
}
