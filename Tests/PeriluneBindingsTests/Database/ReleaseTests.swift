import Foundation
import GRDB
import PeriluneBindings
import PeriluneLuaFileTools
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneTestTools
import Testing

/// The release of a Lua state's database objects, which happens on the database's connections.
@Suite(.patience) struct ReleaseTests {
    private func useAndClose(_ writer: any DatabaseWriter) throws {
        let state = try LuaState(libraries: .trusted)
        try ScriptSetup(database: writer, allowsFiles: true).install(in: state)
        try state.run("db:execute('CREATE TABLE IF NOT EXISTS t (a)') db:fetch_all('SELECT a FROM t') db:fetch_all('SELECT 1')")
        try hold(writer) { state.close() }
    }

    /// Calls a closure while another thread holds the writer connection.
    private func hold(_ writer: any DatabaseWriter, _ body: () throws -> Void) throws {
        let isHeld = DispatchSemaphore(value: 0), mayEnd = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            writer.writeWithoutTransaction { _ in
                isHeld.signal()
                mayEnd.wait()
            }
            hasEnded.signal()
        }
        isHeld.wait()
        defer {
            mayEnd.signal()
            hasEnded.wait()
        }
        try body()
    }

    @Test func `closing a Lua state does not wait for Swift's access to the database queue`() throws {
        let queue = try DatabaseQueue()
        try useAndClose(queue)
        #expect(try queue.read { db in try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema") } == ["t"])
    }

    @Test func `closing a Lua state does not wait for Swift's access to the database pool`() throws {
        let pool = try DatabasePool(path: temporaryPath("released.sqlite"))
        try useAndClose(pool)
        #expect(try pool.read { db in try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema") } == ["t"])
    }

    @Test func `the database objects of a closed Lua state are released when Swift's access ends`() async throws {
        let queue = try DatabaseQueue()
        try useAndClose(queue)
        // SQLite cannot close a connection that has a prepared statement.
        #expect(await eventually { (try? queue.close()) != nil })
    }
}
