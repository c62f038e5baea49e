import CPeriluneShim
import Testing

@testable import PeriluneLua

@Suite struct RaisedValueTests {
    private struct Late: LuaErrorDescribing {
        let luaKind = "late"
        let luaMessage = "too late"
    }

    /// An error whose object is created in C.
    private struct Pushed: LuaErrorPushing {
        let underlying: any Error = Late()

        func pushErrorObject(on L: OpaquePointer) {
            plua_push_empty_error(L)
            _ = lua_pushstring(L, "pushed")
            plua_set_error_field(L, "kind")
        }
    }

    private func makeState(throwing error: @escaping (LuaState) throws -> any Error) throws -> LuaState {
        let state = try LuaState()
        try state.globals.setFunction("fail") { arguments in throw try error(arguments.state) }
        return state
    }

    @Test func `scripts and Swift see a field that is added to an error object`() throws {
        let state = try makeState { state in
            let value = state.errorValue(of: Late())
            try state.errorFields(of: value)?.rawSet("migration", "0001")
            return LuaError(raising: value, in: state)
        }
        #expect(try state.run("local _, e = pcall(fail) return e.kind, e.message, e.migration") == ["late", "too late", "0001"])
        let error = #expect(throws: LuaError.self) { try state.run("fail()", named: "a.lua") }
        #expect(error?.fields["migration"] == "0001")
        #expect(error?.underlying is Late)
        #expect(error?.file == "a.lua")
    }

    @Test func `a value that a script raised can be raised again unchanged`() throws {
        let state = try LuaState()
        try state.globals.setFunction("again") { arguments in
            do {
                return try arguments.get(1, as: LuaFunction.self).call([])
            } catch let error as LuaError {
                let value = try #require(error.raisedValue)
                guard case .table(let table) = value else { throw error }
                try table.rawSet("seen", true)
                throw try LuaError(raising: value, in: arguments.state, after: error)
            }
        }
        let results = try state.run(
            "local thrown = {} local _, e = pcall(again, function() error(thrown) end) return rawequal(e, thrown), e.seen")
        #expect(results == [true, true])
    }

    @Test func `an error object from C gets its position and keeps its underlying error`() throws {
        let state = try makeState { _ in Pushed() }
        let error = #expect(throws: LuaError.self) { try state.run("\nfail()", named: "a.lua") }
        #expect(error?.kind == "pushed")
        #expect(error?.underlying is Late)
        #expect(error?.file == "a.lua")
        #expect(error?.line == 2)
    }

    @Test func `only error objects have fields, and only errors from Lua have a value`() throws {
        let state = try LuaState()
        #expect(try state.errorFields(of: "text").map { LuaValue.table($0) } == nil)
        #expect(try state.errorFields(of: .table(state.makeTable())).map { LuaValue.table($0) } == nil)
        #expect(LuaError(.usage, "x").raisedValue == nil)
        let error = #expect(throws: LuaError.self) { try state.run("error('text', 0)") }
        #expect(error?.raisedValue == "text")
        state.close()
        #expect(error?.raisedValue == nil)
    }
}
