import Foundation
import GRDB
import PeriluneBindings
import PeriluneLuaFileTools
import PeriluneLua
import PeriluneLuaFileTools
import PeriluneTestTools
import Testing

/// What a state has of a database is released with it, on the connections of that database.
@Suite(.patience) struct ReleaseTests {
    private func useAndClose(_ writer: any DatabaseWriter) throws {
        let state = try LuaState(libraries: .trusted)
        try ScriptSetup(database: writer, allowsFiles: true).install(in: state)
        try state.run("db:execute('CREATE TABLE IF NOT EXISTS t (a)') db:fetch_all('SELECT a FROM t') db:fetch_all('SELECT 1')")
        try hold(writer) { state.close() }
    }

    /// Calls a closure while another thread has the connection that writes.
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

    @Test func `closing a state does not wait until an access of Swift to its queue has ended`() throws {
        let queue = try DatabaseQueue()
        try useAndClose(queue)
        #expect(try queue.read { db in try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema") } == ["t"])
    }

    @Test func `closing a state does not wait until an access of Swift to its pool has ended`() throws {
        let pool = try DatabasePool(path: temporaryPath("released.sqlite"))
        try useAndClose(pool)
        #expect(try pool.read { db in try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema") } == ["t"])
    }

    @Test func `what a state has kept is released once the access has ended`() async throws {
        let queue = try DatabaseQueue()
        try useAndClose(queue)
        // A statement that is still there would keep SQLite from closing the connection.
        #expect(await eventually { (try? queue.close()) != nil })
    }
}
