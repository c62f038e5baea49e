internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// A database as a function of Swift has it that a script has called with it.
struct DatabaseHandle {
    let database: ScriptDatabase
    /// What the row path knows of it.
    let pointer: OpaquePointer
    let state: LuaState

    /// The database behind a value: a database object, or a handle that is alive.
    init?(_ value: LuaValue, in state: LuaState) {
        guard case .userdata = value,
            let pointer = try? state.withUnsafeStack([value], { L, index in pdb_database_at(L, index) })
        else { return nil }
        (database, self.pointer, self.state) = (ScriptDatabase.of(pointer), pointer, state)
    }

    /// The database that a function is given.
    ///
    /// - Parameter place: What messages call the argument.
    init(_ arguments: LuaArguments, _ position: Int, for place: String) throws {
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
    var connection: Database? {
        guard let access, let grdb = pdb_access_grdb(access) else { return nil }
        return Unmanaged<Database>.fromOpaque(grdb).takeUnretainedValue()
    }
}
