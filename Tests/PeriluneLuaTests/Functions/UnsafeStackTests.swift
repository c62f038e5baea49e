import CPeriluneShim
import Testing

@testable import PeriluneLua

@Suite struct UnsafeStackTests {
    @Test func `C functions find their arguments on the stack, and leftover values are removed`() throws {
        let state = try LuaState()
        let top = lua_gettop(state.core.L)
        let sum = try state.withUnsafeStack([.integer(2), .integer(3)]) { L, index in
            for value in 0..<5 { lua_pushinteger(L, lua_Integer(value)) }
            return lua_tointegerx(L, index, nil) + lua_tointegerx(L, index + 1, nil)
        }
        #expect(sum == 5)
        #expect(lua_gettop(state.core.L) == top)
    }

    @Test func `in a Swift function, the arguments are at the bottom of the stack`() throws {
        let state = try LuaState()
        let function = try state.makeFunction("second") { arguments in
            [.integer(try arguments.state.withUnsafeStack { L, _ in lua_tointegerx(L, 2, nil) })]
        }
        try state.globals.set("second", .function(function))
        #expect(try state.run("return second(1, 2), coroutine.wrap(function() return second(3, 4) end)()") == [2, 4])
    }

    @Test func `an error in the closure leaves the stack unchanged`() throws {
        struct Failure: Error {}
        let state = try LuaState()
        let top = lua_gettop(state.core.L)
        #expect(throws: Failure.self) {
            try state.withUnsafeStack([true]) { L, _ in
                lua_pushnil(L)
                throw Failure()
            }
        }
        #expect(lua_gettop(state.core.L) == top)
    }

    @Test func `values that C functions push onto the stack are returned`() throws {
        let state = try LuaState()
        let value = try state.makeValue { L in
            lua_createtable(L, 1, 0)
            lua_pushinteger(L, 7)
            lua_rawseti(L, -2, 1)
        }
        guard case .table(let table) = value else { throw LuaError(.conversion, value.typeName) }
        #expect(try table.array() == [7])
    }

    @Test func `values from another Lua state and closed states are refused`() throws {
        let (state, other) = (try LuaState(), try LuaState())
        let table = LuaValue.table(try other.makeTable())
        let error = #expect(throws: LuaError.self) { try state.withUnsafeStack([table]) { _, _ in } }
        #expect(error?.code == .usage)
        state.close()
        #expect(throws: LuaError.self) { try state.withUnsafeStack { _, _ in } }
        #expect(throws: LuaError.self) { try state.makeValue { L in lua_pushnil(L) } }
    }

    @Test func `the error value of a C function that returns a status is popped from the stack`() throws {
        let state = try LuaState()
        let failing = try state.load("error({ message = 'no', kind = 'odd' })")
        let error = try state.withUnsafeStack([.function(failing)]) { L, _ in
            state.takeUnsafeError(status: plua_pcall(L, 0, 0))
        }
        #expect(error.message == "no")
        #expect(error.kind == "odd")
    }
}
