import CPeriluneCluster
import GRDB
import GRDBSQLite
@testable import PeriluneCluster
import Testing

/// Carrier tables over an engine that is not dqlite and has a different data format.
struct RemoteEngineTests {
    /// Records its calls. Its pages are not messages: a page is a list of numbers, one row after the other.
    private final class Numbers: RemoteEngine {
        var pages: [[Int64]] = [], asked: [Int64] = [], written: [Int64] = [], ended = 0
        var transaction = TransactionState.none
        var local = LocalConnection()

        func rows(of call: RemoteCall) throws -> any RemoteRows {
            asked += numbers(call)
            return Rows(self)
        }

        func run(_ call: RemoteCall) throws -> RemoteResult {
            written += numbers(call)
            return RemoteResult(rowID: 7, changes: 1)
        }

        func begin(_ kind: TransactionKind) throws {}
        func commit() throws {}
        func rollBack() {}

        private func numbers(_ call: RemoteCall) -> [Int64] {
            (0..<Int(call.count)).map { sqlite3_value_int64(call.values![$0]) }
        }

        final class Rows: RemoteRows {
            private let engine: Numbers
            private var page = 0
            private var bytes: UnsafeMutableBufferPointer<Int64>
            let insertedRowID: Int64? = nil

            init(_ engine: Numbers) {
                self.engine = engine
                bytes = .allocate(capacity: 0)
                load()
            }

            deinit { bytes.deallocate() }

            private func load() {
                bytes.deallocate()
                bytes = .allocate(capacity: engine.pages[page].count)
                _ = bytes.initialize(from: engine.pages[page])
            }

            func show(in rows: inout pcl_rows) {
                let isLast = page + 1 == engine.pages.count
                rows.page = pcl_reader(
                    bytes: UnsafeRawPointer(bytes.baseAddress!).assumingMemoryBound(to: UInt8.self), length: bytes.count * 8,
                    offset: 0)
                if isLast {
                    rows.next_row = { Numbers.Rows.next($0, $1, $2, PCL_END_OF_ROWS) }
                } else {
                    rows.next_row = { Numbers.Rows.next($0, $1, $2, PCL_END_OF_PAGE) }
                }
            }

            private static func next(
                _ page: UnsafeMutablePointer<pcl_reader>?, _ count: CInt, _ values: UnsafeMutablePointer<pcl_value>?,
                _ end: pcl_step
            ) -> pcl_step {
                guard let page, page.pointee.offset < page.pointee.length else { return end }
                for column in 0..<Int(count) {
                    values![column].type = UInt8(PCL_INTEGER)
                    values![column].integer = UnsafeRawPointer(page.pointee.bytes!).load(
                        fromByteOffset: page.pointee.offset, as: Int64.self)
                    page.pointee.offset += 8
                }
                return PCL_ROW
            }

            func advance() throws {
                page += 1
                load()
            }

            func end() { engine.ended += 1 }
        }
    }

    private func carrying<Result>(_ sql: String, isReading: Bool, by engine: Numbers, _ body: (Statement) throws -> Result) throws
        -> Result
    {
        let queue = try DatabaseQueue()
        return try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
            let compiled = try db.makeStatement(sql: sql)
            let carrier = try withExtendedLifetime(compiled) {
                try Carrier(sql, isReading: isReading, for: compiled.sqliteStatement, by: engine, in: db)
            }
            return try body(carrier.statement)
        }
    }

    @Test func `rows are read however they are divided into pages`() throws {
        let engine = Numbers()
        engine.pages = [[1, 10, 2, 20], [3, 30]]
        let rows = try carrying("SELECT id, n FROM t WHERE n > ? AND n < ?", isReading: true, by: engine) { statement in
            try Row.fetchAll(statement, arguments: [5, 50]).map { [$0["id"], $0["n"]] as [Int64] }
        }
        #expect(rows == [[1, 10], [2, 20], [3, 30]])
        #expect(engine.asked == [5, 50])
        #expect(engine.ended == 1)
    }

    @Test func `values are sent to the engine, and the inserted row id is returned`() throws {
        let engine = Numbers()
        let id = try carrying("INSERT INTO t (n) VALUES (?)", isReading: false, by: engine) { statement in
            try statement.execute(arguments: [11])
            return sqlite3_last_insert_rowid(sqlite3_db_handle(statement.sqliteStatement))
        }
        #expect(engine.written == [11])
        #expect(id == 7)
    }
}
