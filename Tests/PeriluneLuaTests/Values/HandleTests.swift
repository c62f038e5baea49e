import PeriluneLua
import Testing

@Suite struct HandleTests {
    @Test func `a Swift handle keeps its Lua value alive`() throws {
        let state = try LuaState()
        let table: LuaTable = try state.evaluate("return {7}")
        state.collectGarbage()
        #expect(try table.get(1) == 7)
    }

    @Test func `a released handle frees its Lua value`() throws {
        let state = try LuaState()
        try state.run("weak = setmetatable({}, {__mode = 'v'}) weak[1] = {}")
        do {
            let table: LuaTable = try state.evaluate("weak[1] = {} return weak[1]")
            state.collectGarbage()
            #expect(try state.evaluate("return weak[1] ~= nil") == true)
            _ = try table.count()
        }
        state.collectGarbage()
        #expect(try state.evaluate("return weak[1] == nil") == true)
    }

    @Test func `handles may be released on any thread`() async throws {
        let state = try LuaState()
        nonisolated(unsafe) var tables = try (0..<1000).map { _ in try state.makeTable() }
        await Task.detached { tables.removeAll() }.value
        state.collectGarbage()
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test func `using a handle of a closed Lua state throws`() throws {
        let state = try LuaState()
        let table = try state.makeTable()
        let function = try state.load("return 1")
        let type: LuaUserdataType<Int> = try state.makeUserdataType("number")
        let userdata = LuaValue.userdata(try type.make(1))
        state.close()
        state.close()
        let uses: [() throws -> Void] = [
            { _ = try table.get(1) }, { try table.set(1, 2) }, { _ = try table.rawGet(1) }, { try table.rawSet(1, 2) },
            { _ = try table.count() }, { _ = try table.pairs() }, { _ = try table.array() }, { _ = try table.metatable() },
            { try table.setMetatable(nil) }, { try function.call([]) }, { let _: Int = try function() },
            { _ = try type.make(2) }, { _ = try type.value(of: userdata) }, { try state.run("return 1") },
            { _ = try state.globals }, { _ = try state.makeTable() },
            {
                _ = try state.encode(1 as Int?); _ = try state.encode([1])
            },
            { _ = try function.call(decoding: Int.self) }, { _ = try state.makeFunction("f") { _ in [] } },
            { try type.method("m") { _, _ in [] } }, { try type.property("p") { _ in nil } },
        ]
        for use in uses { #expect(throws: LuaError.self) { try use() } }
        #expect(throws: LuaError.self) { try LuaDecoder().decode([Int].self, from: .table(table)) }
        #expect(LuaValue.table(table) != .table(table))
        #expect(!type.matches(userdata))
        #expect(state.memoryInBytes == 0)
        state.collectGarbage()
    }

    @Test func `handles may outlive their Lua state`() throws {
        var state: LuaState? = try LuaState()
        let table = try #require(try state?.makeTable())
        state = nil
        let error = #expect(throws: LuaError.self) { try table.get(1) }
        #expect(error?.code == .usage)
    }

    @Test func `handles from another Lua state are refused everywhere`() throws {
        let state = try LuaState()
        let other = try LuaState()
        let table = try state.makeTable()
        let foreign = LuaValue.table(try other.makeTable())
        let uses: [() throws -> Void] = [
            { try table.set(1, foreign) }, { try table.set(foreign, 1) }, { _ = try table.get(foreign) },
            { try table.rawSet(1, foreign) }, { _ = try table.rawGet(foreign) },
            { try state.load("return 1").call([foreign]) },
            { _ = try state.load("return 1", environment: LuaTable.fromLua(foreign)) },
            { try table.setMetatable(LuaTable.fromLua(foreign)) },
            { _ = try state.encode([foreign]) },
        ]
        for use in uses {
            let error = #expect(throws: LuaError.self) { try use() }
            #expect(error?.code == .usage)
        }
        #expect(foreign != .table(table))
        #expect(try table.count() == 0)
    }

    @Test func `an error from another Lua state can be thrown through a script`() throws {
        let state = try LuaState()
        let other = try LuaState()
        try state.define("across") { _ in try other.run("error({ kind = 'far', message = 'away' })") }
        let error = try failure(of: "across()", in: state)
        #expect(error.kind == "far")
        #expect(error.message == "away")
        #expect(try state.evaluate("local _, e = pcall(across) return e.kind") == "far")
    }

    @Test func `closing a Lua state waits for its running script`() throws {
        let state = try LuaState()
        try state.define("close") { [unowned state] _ in
            state.close()
            return [.table(try state.makeTable())]
        }
        #expect(try state.evaluate("local t = close() t.x = 1 return t.x") == 1)
        #expect(throws: LuaError.self) { try state.run("return 1") }
    }

    @Test func `releasing a Lua state waits for its running script`() throws {
        var state: LuaState? = try LuaState()
        try state?.define("drop") { _ in
            state = nil
            return []
        }
        let function = try #require(try state?.load("drop() local t = {} for i = 1, 1000 do t[i] = {} end return #t"))
        #expect(try function.call([]) == [1000])
        #expect(throws: LuaError.self) { try function.call([]) }
    }

    // MARK: - Release

    @Test func `Swift functions and values are released after their last use in Lua`() throws {
        let state = try LuaState()
        let type: LuaUserdataType<Watched> = try state.makeUserdataType("watched")
        weak var inFunction: Watched?
        weak var inUserdata: Watched?
        do {
            let (first, second) = (Watched(), Watched())
            (inFunction, inUserdata) = (first, second)
            try state.define("f") { [first] _ in
                _ = first; return []
            }
            try state.globals.set("u", .userdata(type.make(second)))
        }
        #expect(inFunction != nil && inUserdata != nil)
        try state.run("f, u = nil")
        state.collectGarbage()
        #expect(inFunction == nil)
        #expect(inUserdata == nil)
    }

    @Test func `a Lua state releases everything when it is released`() throws {
        weak var object: Watched?
        weak var weakState: LuaState?
        do {
            let state = try LuaState()
            weakState = state
            let watched = Watched()
            object = watched
            let type: LuaUserdataType<Watched> = try state.makeUserdataType("watched")
            try type.method("self") { [watched] _, arguments in
                _ = watched; return [arguments[0 + 1]]
            }
            let table = try state.makeTable()
            // A cycle through Lua: the function retains the table, and the table retains the function.
            try table.setFunction("f") { _ in [.table(table), .userdata(try type.make(watched))] }
            try state.globals.set("t", .table(table))
            try state.run("t.f()")
            _ = try? state.run("local ok, e = pcall(t.f) kept = e t.f(error)")
        }
        #expect(weakState == nil)
        #expect(object == nil)
    }

    @Test func `a Lua state is released even if the script caught its last error`() throws {
        weak var core: AnyObject?
        do {
            let state = try LuaState()
            core = state.core
            try state.define("call") { try $0.get(1, as: LuaFunction.self).call([]) }
            try state.run("pcall(call, function() error('caught') end)")
        }
        #expect(core == nil)
    }

    @Test func `a thrown Swift error is released with the error object`() throws {
        struct Holding: Error { nonisolated(unsafe) let object: Watched }
        let state = try LuaState()
        weak var object: Watched?
        try state.define("fail") { _ in
            let watched = Watched()
            object = watched
            throw Holding(object: watched)
        }
        try state.run("local ok, e = pcall(fail) e = nil")
        state.collectGarbage()
        #expect(object == nil)
        try state.run("_, kept = pcall(fail)")
        state.collectGarbage()
        #expect(object != nil)
        state.close()
        #expect(object == nil)
    }
}
