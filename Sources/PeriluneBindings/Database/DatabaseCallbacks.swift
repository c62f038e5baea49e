internal import CPeriluneRecords
internal import CPeriluneRows
internal import Foundation
internal import GRDB
internal import PeriluneLua
internal import PeriluneRecords

/// The Swift functions that the row path calls. They do not raise Lua errors, but leave the error on the Lua stack and return
/// `PLUA_RAISE`.
enum DatabaseCallbacks {
    /// Installs the callbacks in a state, which makes databases available to scripts.
    static func open(in state: LuaState) throws {
        var callbacks = pdb_callbacks(
            enter: { DatabaseCallbacks.enter($0!) },
            nest: { DatabaseCallbacks.nest($0!, grdb: $1!) },
            end_transaction: { DatabaseCallbacks.connection($0!).endTransaction() },
            prepare: { DatabaseCallbacks.prepare($0!, grdb: $1!, sql: $2!, into: $3!) },
            open_batch: { DatabaseCallbacks.openBatch($0!, grdb: $1!, sql: $2!, into: $3!) },
            next: { DatabaseCallbacks.next($0!, grdb: $1!, batch: $2!, into: $3!) },
            run: { DatabaseCallbacks.run($0!, $1!) },
            record: { DatabaseCallbacks.record($0!, grdb: $1!, object: $2!) },
            is_observed: { DatabaseCallbacks.connection($0!).mayBeObserved },
            observe: { TransactionRelay.add($1!, to: DatabaseCallbacks.connection($0!)) },
            stop_observing: { TransactionRelay.remove($1!, from: DatabaseCallbacks.connection($0!)) },
            attach_error: { DatabaseCallbacks.attachError($0!, code: $1, message: $2, sql: $3) },
            did_connect: {
                UnicodeCollation.install(on: $0!)
                OrderedAggregate.install(on: $0!)
                DoubleQuotedStrings.install(on: $0!)
            },
            release: { Unmanaged<AnyObject>.fromOpaque($0!).release() },
            write_float: { DatabaseCallbacks.writeFloat($0, $1!) },
            sql: SQLCallbacks.all)
        try state.withUnsafeStack { L, _ in
            pdb_open(L, &callbacks)
            prec_open(L)
        }
    }

    // MARK: - Accesses

    private static func enter(_ entry: UnsafeMutablePointer<pdb_access_request>) -> CInt {
        let database = ScriptDatabase.of(entry.pointee.database)
        LuaCore.of(entry.pointee.L).drainIfNeeded()
        return guarding(entry.pointee.L) {
            try database.requireOpen()
            try AccessRunner(request: entry, database: database).run()
        }
    }

    private static func nest(_ entry: UnsafeMutablePointer<pdb_access_request>, grdb: UnsafeMutableRawPointer) -> CInt {
        guarding(entry.pointee.L) {
            try AccessRunner.runNested(entry, in: connection(grdb))
        }
    }

    // MARK: - Statements

    private static func prepare(
        _ L: OpaquePointer, grdb: UnsafeMutableRawPointer, sql: UnsafePointer<CChar>,
        into prepared: UnsafeMutablePointer<pdb_prepared>
    ) -> CInt {
        let db = connection(grdb)
        return guarding(L, preparingOn: db) {
            // `makeStatement` would reject text with several statements. The row path prepares the remaining statements in later
            // calls.
            prepared.pointee = pdb_prepared()
            let text = String(cString: sql)
            func compile() throws -> Statement? {
                try DoubleQuotedStrings.compiling(text, on: db) { try db.allStatements(sql: text).next() }
            }
            guard let statement = try DatabasePlaces.of(db).compiling(on: db, compile) else { return }
            try fill(prepared, with: statement, on: db)
            prepared.pointee.has_tail = hasTail(sql, after: statement)
        }
    }

    private static func openBatch(
        _ L: OpaquePointer, grdb: UnsafeMutableRawPointer, sql: UnsafePointer<CChar>,
        into batch: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> CInt {
        let db = connection(grdb)
        return guarding(L, preparingOn: db) {
            let statements = try db.allStatements(sql: String(cString: sql))
            batch.pointee = Unmanaged.passRetained(statements).toOpaque()
        }
    }

    private static func next(
        _ L: OpaquePointer, grdb: UnsafeMutableRawPointer, batch: UnsafeMutableRawPointer,
        into prepared: UnsafeMutablePointer<pdb_prepared>
    ) -> CInt {
        let statements = Unmanaged<SQLStatementCursor>.fromOpaque(batch).takeUnretainedValue()
        let db = connection(grdb)
        return guarding(L, preparingOn: db) {
            guard let statement = try statements.next() else {
                prepared.pointee = pdb_prepared()
                return
            }
            try fill(prepared, with: statement, on: db)
        }
    }

    /// Returns whether the text contains further statements.
    private static func hasTail(_ sql: UnsafePointer<CChar>, after statement: Statement) -> Bool {
        let rest = UnsafeRawPointer(sql).advanced(by: strlen(sqlite3_sql(statement.sqliteStatement)))
        return !SQLScreening.isBlank(
            UnsafeBufferPointer(
                start: rest.assumingMemoryBound(to: UInt8.self), count: strlen(sql) - (rest - UnsafeRawPointer(sql))))
    }

    private static func fill(_ prepared: UnsafeMutablePointer<pdb_prepared>, with statement: Statement, on db: Database) throws {
        let runner = StatementRunner(try DatabasePlaces.of(db).place(statement, in: db))
        if let isReading = runner.carriesReading {
            prepared.pointee.is_carrier = true
            prepared.pointee.is_readonly = isReading
            prepared.pointee.sql = UnsafePointer(runner.source)
        }
        prepared.pointee.handle = runner.statement.sqliteStatement
        prepared.pointee.object = Unmanaged.passRetained(runner).toOpaque()
    }

    private static func run(_ object: UnsafeMutableRawPointer, _ run: UnsafeMutablePointer<pdb_execution>) -> CInt {
        let runner = Unmanaged<StatementRunner>.fromOpaque(object).takeUnretainedValue()
        do {
            try CommitCheck.checking(run.pointee.committing.map { connection($0) }) {
                try runner.run { pdb_take_row(run) }
            }
            return 0
        } catch {
            return raise(error, on: run.pointee.L)
        }
    }

    private static func record(
        _ L: OpaquePointer, grdb: UnsafeMutableRawPointer, object: UnsafeMutableRawPointer
    ) -> CInt {
        let runner = Unmanaged<StatementRunner>.fromOpaque(object).takeUnretainedValue()
        return guarding(L) {
            RegionRecorder.add(runner.statement.databaseRegion, in: L)
            try connection(grdb).registerAccess(to: runner.statement.databaseRegion)
        }
    }

    private static func writeFloat(_ value: Double, _ text: UnsafeMutablePointer<CChar>) {
        var decimal = FloatLiteral.decimal(value)
        decimal.withUTF8 { digits in
            let count = min(digits.count, Int(PDB_FLOAT_SIZE) - 1)
            UnsafeMutableRawPointer(text).copyMemory(from: digits.baseAddress!, byteCount: count)
            text[count] = 0
        }
    }

    // MARK: - Errors

    /// Attaches a `DatabaseError` to the error object that the row path created.
    private static func attachError(
        _ L: OpaquePointer, code: CInt, message: UnsafePointer<CChar>?, sql: UnsafePointer<CChar>?
    ) {
        let error = DatabaseError(
            resultCode: ResultCode(rawValue: code), message: message.map { String(cString: $0) },
            sql: sql.map { String(cString: $0) })
        LuaCore.of(L).entering(L) { LuaCore.of(L).attachToErrorObject(error) }
    }

    /// Adds a suggestion to the error object on top of the stack if it is about an unknown name in SQL. Called before the rollback of the
    /// failed transaction.
    static func suggestName(forErrorOn L: OpaquePointer, _ db: Database) {
        let core = LuaCore.of(L)
        core.entering(L) {
            guard let fields = core.fieldsOfErrorObject() else { return }
            try? NameSuggestion.add(to: fields, db)
        }
    }

    /// Runs a closure. If it throws, leaves the corresponding Lua error on the stack.
    ///
    /// - Parameter db: The connection on which the closure prepares a statement, from which the position of a syntax error is read.
    private static func guarding(_ L: OpaquePointer, preparingOn db: Database? = nil, _ body: () throws -> Void) -> CInt {
        do {
            try body()
            return 0
        } catch {
            return raise(error, on: L, offset: db.map { sqlite3_error_offset($0.sqliteConnection) } ?? -1)
        }
    }

    private static func raise(_ error: any Error, on L: OpaquePointer, offset: CInt = -1) -> CInt {
        // A block has failed, and its error is already on the stack.
        if error is BodyFailure { return CInt(PLUA_RAISE) }
        let core = LuaCore.of(L)
        core.entering(L) {
            guard let error = error as? DatabaseError else { return core.push(error) }
            // The row path adds the script's position.
            SQLiteError(error: error, offset: offset).pushErrorObject(on: L)
            core.attachToErrorObject(error)
        }
        return CInt(PLUA_RAISE)
    }

    /// Stores an error that replaces the SQLite error of the running statement.
    static func keep(_ error: any Error, on L: OpaquePointer) {
        let core = LuaCore.of(L)
        core.entering(L) {
            core.push(error)
            pdb_keep_pending_error(L)
        }
    }

    private static func connection(_ grdb: UnsafeMutableRawPointer) -> Database {
        Unmanaged<Database>.fromOpaque(grdb).takeUnretainedValue()
    }
}

/// The failure of a block, which causes a rollback. The block's error is on the Lua stack.
struct BodyFailure: Error {}
