internal import CPeriluneCluster
internal import GRDB
internal import GRDBSQLite
internal import PeriluneRecords

/// A local statement that represents a remote statement. It takes the same values and returns the same rows.
final class Carrier {
    /// The local statement, which is valid as long as this object exists.
    private(set) var statement: Statement!
    let remote: RemoteStatement
    private let connection: OpaquePointer
    private weak var db: Database?
    private let name: String

    /// - Parameters:
    ///   - compiled: The original statement, compiled on the local connection.
    ///   - engine: The engine that runs the remote statement. It is not retained.
    init(_ sql: String, isReading: Bool, for compiled: OpaquePointer, by engine: any RemoteEngine, in db: Database) throws {
        let shape = Shape(compiled)
        let scan = StatementScan(sql)
        remote = RemoteStatement(
            sql: sql, source: String(cString: sqlite3_sql(compiled)), columnCount: shape.columns.count,
            parameterCount: shape.parameters.count,
            isReading: isReading, insertion: try isReading ? .none : Self.insertion(of: scan, in: db),
            watched: try isReading ? nil : scan.target.flatMap { try WatchedValues(sql, into: $0, compiled, in: db) },
            engine: engine)
        self.db = db
        connection = db.sqliteConnection!
        name = CarrierNames.make(for: remote.source)
        let code = pcl_define_carrier(
            connection, name, shape.declaration, CInt(shape.columns.count), CInt(shape.parameters.count),
            Unmanaged.passUnretained(remote).toOpaque(), CarrierCalls.pointer)
        guard code == SQLITE_OK else {
            CarrierNames.remove(name)
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        do {
            statement = try db.makeStatement(sql: shape.sql(name))
        } catch {
            pcl_remove_carrier(connection, name)
            CarrierNames.remove(name)
            throw error
        }
    }

    deinit {
        statement = nil
        CarrierNames.remove(name)
        // Closing the connection has already dropped the virtual table.
        if db?.sqliteConnection != nil { pcl_remove_carrier(connection, name) }
    }

    /// Returns whether the statement inserts rows whose row ids are known afterward.
    private static func insertion(of scan: StatementScan, in db: Database) throws -> RemoteStatement.Insertion {
        guard scan.inserts, let target = scan.target else { return .none }
        let hasRowIDs = try Bool.fetchOne(
            db, sql: "SELECT type <> 'view' AND NOT wr FROM pragma_table_list(?)", arguments: [target])
        // Inserts by the triggers of a view do not set `last_insert_rowid()`.
        return hasRowIDs != true ? .none : scan.mayUpdate ? .perhaps : .always
    }

    /// The columns and parameters of the carrier's virtual table.
    private struct Shape {
        var columns: [(name: String, type: String)] = []
        /// The source text of the parameters: `?1`, `:name`.
        var parameters: [String] = []

        init(_ compiled: OpaquePointer) {
            columns = (0..<sqlite3_column_count(compiled)).map { column in
                (String(cString: sqlite3_column_name(compiled, column)), Self.type(sqlite3_column_decltype(compiled, column)))
            }
            parameters = (0..<sqlite3_bind_parameter_count(compiled)).map { index in
                sqlite3_bind_parameter_name(compiled, index + 1).map { String(cString: $0) } ?? "?\(index + 1)"
            }
        }

        /// Returns the declared type for the virtual table, which lets readers recognize booleans. Leaves out types that have a
        /// special meaning in the declaration of a virtual table.
        private static func type(_ declared: UnsafePointer<CChar>?) -> String {
            guard let declared else { return "" }
            let text = String(cString: declared)
            let isPlain = text.utf8.allSatisfy {
                ($0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z"))
                    || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
                    || [UInt8(ascii: " "), UInt8(ascii: "_")].contains($0)
            }
            return isPlain && !text.lowercased().contains("hidden") ? text.quotedName : ""
        }

        var declaration: String {
            let values = columns.indices.map { "c\($0) \(columns[$0].type)" }
            let hidden = parameters.indices.map { "p\($0)\(columns.isEmpty ? "" : " HIDDEN")" }
            return "CREATE TABLE x(\(((columns.isEmpty ? ["unused"] : values) + hidden).joined(separator: ", ")))"
        }

        func sql(_ name: String) -> String {
            if columns.isEmpty { return "INSERT INTO \(name) VALUES (\((["NULL"] + parameters).joined(separator: ", ")))" }
            let selected = columns.indices.map { "c\($0) AS \(columns[$0].name.quotedName)" }.joined(separator: ", ")
            // Compare the parameters with IS. Arguments of a table-valued function would be compared with `=`, under which NULL is
            // not equal to NULL.
            let values = parameters.indices.map { "p\($0) IS \(parameters[$0])" }.joined(separator: " AND ")
            return "SELECT \(selected) FROM \(name)\(values.isEmpty ? "" : " WHERE " + values)"
        }
    }
}

/// The functions that the carriers' virtual tables call when a carrier runs.
private enum CarrierCalls {
    /// Never freed, because all carriers share it.
    nonisolated(unsafe) static let pointer: UnsafePointer<pcl_carrier_calls> = {
        let calls = UnsafeMutablePointer<pcl_carrier_calls>.allocate(capacity: 1)
        calls.initialize(
            to: pcl_carrier_calls(
                read: { CarrierCalls.read($0!, $1, $2, $3!, $4!) },
                next_page: { CarrierCalls.nextPage($0!, $1!, $2!) },
                end: { CarrierCalls.end($1!) },
                write: { CarrierCalls.write($0!, $1, $2, $3!, $4!) },
                retain: { UnsafeMutableRawPointer(Unmanaged<RemoteStatement>.fromOpaque($0!).retain().toOpaque()) },
                release: { Unmanaged<RemoteStatement>.fromOpaque($0!).release() }))
        return UnsafePointer(calls)
    }()

    /// The object that the C code retains while rows are being read.
    private final class Rows {
        let source: any RemoteRows

        init(_ source: any RemoteRows) { self.source = source }
    }

    private static func statement(_ pointer: UnsafeMutableRawPointer) -> RemoteStatement {
        Unmanaged<RemoteStatement>.fromOpaque(pointer).takeUnretainedValue()
    }

    private static func read(
        _ pointer: UnsafeMutableRawPointer, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?,
        _ rows: UnsafeMutablePointer<pcl_rows>,
        _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> CInt {
        let statement = statement(pointer)
        return attempt(statement, message) { engine in
            let source = try engine.rows(of: RemoteCall(statement: statement, count: count, values: values))
            rows.pointee.source = Unmanaged.passRetained(Rows(source)).toOpaque()
            source.show(in: &rows.pointee)
            if let inserted = source.insertedRowID { engine.local.noteInsertion(inserted) }
        }
    }

    private static func nextPage(
        _ pointer: UnsafeMutableRawPointer, _ rows: UnsafeMutablePointer<pcl_rows>,
        _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> CInt {
        attempt(statement(pointer), message) { _ in
            let source = Unmanaged<Rows>.fromOpaque(rows.pointee.source).takeUnretainedValue().source
            try source.advance()
            source.show(in: &rows.pointee)
        }
    }

    private static func end(_ rows: UnsafeMutablePointer<pcl_rows>) {
        let source = Unmanaged<Rows>.fromOpaque(rows.pointee.source).takeRetainedValue().source
        rows.pointee = pcl_rows()
        source.end()
    }

    private static func write(
        _ pointer: UnsafeMutableRawPointer, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?,
        _ rowID: UnsafeMutablePointer<Int64>,
        _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> CInt {
        let statement = statement(pointer)
        return attempt(statement, message) { engine in
            if let inserted = try engine.run(RemoteCall(statement: statement, count: count, values: values)).rowID {
                rowID.pointee = inserted
            }
        }
    }

    /// Runs a closure, and converts an error to an SQLite result code and message.
    private static func attempt(
        _ statement: RemoteStatement, _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
        _ body: (any RemoteEngine) throws -> Void
    ) -> CInt {
        func fail(_ code: CInt, _ text: String) -> CInt {
            message.pointee = text.withCString { pcl_copy_message($0) }
            return code
        }
        guard let engine = statement.engine else { return fail(SQLITE_MISUSE, "the database is closed") }
        do {
            try body(engine)
            return SQLITE_OK
        } catch let error as RemoteError {
            let code = CInt(truncatingIfNeeded: error.code)
            return fail(code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_ERROR : code, error.message)
        } catch let failure as ClusterFailure {
            engine.local.noteFailure(failure)
            return fail(failure.code, failure.message)
        } catch {
            return fail(SQLITE_IOERR, "the connection to the database was lost")
        }
    }
}
