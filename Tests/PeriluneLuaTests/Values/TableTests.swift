import PeriluneLua
import Testing

@Suite struct TableTests {
    private let state: LuaState

    init() throws {
        state = try LuaState()
    }

    private func table(_ source: String) throws -> LuaTable {
        try state.evaluate(source)
    }

    @Test func `table values can be set and read with keys of every kind`() throws {
        let table = try state.makeTable()
        for key: LuaValue in ["name", 1, -5, 2.5, true, .string(LuaString([0, 255])), .table(table)] {
            try table.set(key, "value")
            #expect(try table.get(key) == "value")
            try table.rawSet(key, nil)
            #expect(try table.rawGet(key) == .nil)
        }
    }

    @Test func `a float key with an integer value is the integer key`() throws {
        let table = try table("return {'first'}")
        #expect(try table.get(1.0) == "first")
    }

    @Test func `nil and NaN cannot be keys`() throws {
        let table = try state.makeTable()
        for key: LuaValue in [nil, .number(.nan)] {
            #expect(throws: LuaError.self) { try table.set(key, 1) }
            #expect(throws: LuaError.self) { try table.rawSet(key, 1) }
            #expect(try table.get(key) == .nil)
        }
    }

    @Test func `get and set call metamethods, rawGet and rawSet do not`() throws {
        let table = try table(
            """
            log = {}
            return setmetatable({}, {
              __index = function(_, key) return key .. '!' end,
              __newindex = function(_, key, value) log[key] = value end,
              __len = function() return 42 end,
            })
            """)
        #expect(try table.get("x") == "x!")
        #expect(try table.rawGet("x") == .nil)
        try table.set("x", 1)
        #expect(try state.evaluate("return log.x") == 1)
        try table.rawSet("x", 2)
        #expect(try table.get("x") == 2)
        #expect(try table.count() == 42)
    }

    @Test func `errors in metamethods are thrown with their position`() throws {
        let table = try table(
            """
            return setmetatable({}, {
              __index = function() error('no reading') end,
              __newindex = function() error({ kind = 'frozen' }) end,
              __len = function() return 'many' end,
            })
            """)
        let reading = try #require(#expect(throws: LuaError.self) { try table.get("x") })
        #expect(reading.message == "no reading")
        #expect(reading.line == 2)
        let writing = try #require(#expect(throws: LuaError.self) { try table.set("x", 1) })
        #expect(writing.kind == "frozen")
        #expect(writing.line == 3)
        #expect(throws: LuaError.self) { try table.count() }
    }

    @Test func `pairs returns all keys and values without calling metamethods`() throws {
        let table = try table("return setmetatable({10, 20, x = 'y'}, {__pairs = error})")
        let pairs = try table.pairs()
        #expect(pairs.count == 3)
        #expect(pairs.contains { $0.key == 1 && $0.value == 10 })
        #expect(pairs.contains { $0.key == "x" && $0.value == "y" })
    }

    @Test func `array stops at the first nil`() throws {
        #expect(try table("return {1, 2, nil, 4}").array() == [1, 2])
        #expect(try table("return {}").array().isEmpty)
    }

    @Test func `Swift can access a metatable despite __metatable`() throws {
        let table = try table("return setmetatable({}, {__metatable = 'locked'})")
        #expect(try table.metatable()?.get("__metatable") == "locked")
        try table.setMetatable(nil)
        #expect(try table.metatable().map { .table($0) } == LuaValue?.none)
        let metatable = try state.makeTable()
        try metatable.set("__index", .function(state.load("return 7")))
        try table.setMetatable(metatable)
        #expect(try table.get("anything") == 7)
    }

    @Test func `the error of a failed conversion contains the actual value`() throws {
        let error = #expect(throws: LuaError.self) { try self.table("return {1.5}").get(1, as: Int.self) }
        #expect(error?.code == .conversion)
        #expect(error?.message.contains("1.5") == true)
    }

    @Test func `an extreme size hint allocates no memory`() throws {
        let table = try state.makeTable(arrayCount: .max, fieldCount: -1)
        #expect(try table.count() == 0)
        #expect(state.memoryInBytes < 64 << 20)
    }
}
