import PeriluneLua
import Testing

/// Runs code with the first, second, third, ... allocation failing, until it succeeds.
@Suite struct FailingAllocatorTests {
    /// - Parameter prepare: Runs first, without failing allocations.
    private func failEveryAllocation(
        limits: LuaLimits = .none, isDeterministic: Bool = false, prepare: (LuaState) throws -> Void = { _ in },
        _ body: (LuaState) throws -> Void
    ) throws {
        weak var watched: Watched?
        for number in 0..<10_000 {
            let state = try LuaState(limits: limits, isDeterministic: isDeterministic)
            let object = Watched()
            watched = object
            try state.define("fail") { [object] _ in
                _ = object; throw HostError()
            }
            try state.define("call") { try $0.get(1, as: LuaFunction.self).call(Array($0.values.dropFirst())) }
            try state.define("echo") { $0.values }
            try prepare(state)
            state.core.failAllocation(at: number)
            do {
                try body(state)
            } catch let error as LuaError {
                #expect([.memory, .errorHandling, .host, .runtime, .usage].contains(error.code), "\(number): \(error)")
            }
            let isDone = state.core.isAllocationToFail
            state.core.failAllocation(at: nil)
            state.collectGarbage()
            #expect(try state.evaluate("local t = {} for i = 1, 100 do t[i] = tostring(i) end return #table.concat(t)") == 192)
            state.close()
            if isDone { break }
            try #require(number < 9999, "it never succeeds")
        }
        #expect(watched == nil)
    }

    private static let scripts = [
        "local t = {} for i = 1, 50 do t[i] = {name = 'n' .. i} end return #t",
        "local ok, e = pcall(error, {kind = 'x'}) return e.kind",
        "local ok, e = pcall(fail) return tostring(e) .. e.kind",
        "local ok, e = pcall(fail) for k, v in pairs(e) do k = k .. tostring(v) end",
        "local ok, e = xpcall(fail, debug.traceback) return tostring(e)",
        "return xpcall(function() error('x') end, function(e) return e .. e end)",
        "fail()",
        "error({kind = 'thrown', message = 'm'})",
        "error('text')",
        "return coroutine.wrap(function(...) local x = coroutine.yield(...) return x end)(1, 2, 3)",
        "local c = coroutine.create(function() fail() end) return coroutine.resume(c)",
        "coroutine.wrap(function() coroutine.wrap(function() fail() end)() end)()",
        "local c = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() end}) coroutine.yield() end) coroutine.resume(c) return coroutine.close(c)",
        "local c <close> = setmetatable({}, {__close = function() echo('x' .. tostring({})) end}) fail()",
        "return call(function(...) return call(echo, ...) end, 1, 'x', {})",
        "call(function() call(function() fail() end) end)",
        "return load('local a = 1 return function() return a end')()()",
        "return load('syntax error here')",
        "return load(function() return nil end, 'name', 't', {})",
        "return ('abc'):gsub('%w', function(c) return c .. c end)",
        "return ('abc'):rep(100, ','), ('a,b'):find(',', 1, true), ('x'):format(1), string.format('%q %s %d', 'a', {}, 5)",
        "local r = {} for w in ('a b c'):gmatch('%a') do r[#r + 1] = w end return table.concat(r, ', ')",
        "local t = {5, 3, 1} table.sort(t, function(a, b) return a < b end) table.insert(t, 1, 0) table.remove(t) return table.unpack(table.move(t, 1, 3, 2))",
        "return table.pack(table.unpack({1, 2, 3}, 1, 200)).n",
        "return setmetatable({}, {__index = function(_, k) return k .. k end}).key",
        "return tostring(setmetatable({}, {__tostring = function() return 'x' .. 1 end})), tostring(1.5), 1 .. 2",
        "local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(200)",
        "call(rawlen, {})",
        "collectgarbage() return collectgarbage('count')",
        "setmetatable({}, {__gc = function() local s = 'x' .. tostring({}) end}) collectgarbage()",
        "return echo(table.unpack({}, 1, 300))",
    ]

    @Test(arguments: scripts)
    func `a script survives every failing allocation`(source: String) throws {
        try failEveryAllocation { try $0.run(source, named: "test.lua") }
    }

    @Test(arguments: scripts.filter { !$0.contains("__gc") })
    func `a limited script survives every failing allocation`(source: String) throws {
        try failEveryAllocation(limits: LuaLimits(memoryInBytes: 64 << 20, time: .seconds(60), instructions: 50_000_000)) {
            try $0.run(source, named: "test.lua")
        }
    }

    private static let orderedScripts = [
        "local t, s = {5, 3, b = 1, a = 2, [true] = 3, [1.5] = 4}, '' for k, v in pairs(t) do s = s .. tostring(k) t[k] = nil end return s, next(t)",
        "local t = {} for i = 1, 60 do t['key' .. i] = i end local n = 0 for k in pairs(t) do t[k] = nil n = n + 1 end return n",
        "local k, n = next({c = 1, a = 2, b = 3}), 0 while k do k = next({c = 1, a = 2, b = 3}, k) n = n + 1 end return n",
        "local t = {} for i = 1, 5 do t[{}] = i t[function() return i end] = i t[coroutine.create(print)] = i end for k in pairs(t) do k = tostring(k) end",
        "local t = setmetatable({x = 1}, {__pairs = function(t) return next, t end, __gc = function() end}) for k in pairs(t) do k = k .. tostring(t) end",
        "local t = {} for i = 1, 150 do t[i] = (i * 37) % 150 end table.sort(t) return t[1], string.format('%p', t)",
        "local made = {} for i = 1, 3 do made[i] = setmetatable({}, {__close = function() end}) end local a <close> = made[1] return tostring(a), tostring(made)",
    ]

    @Test(arguments: scripts + orderedScripts)
    func `a script in a deterministic Lua state survives every failing allocation`(source: String) throws {
        try failEveryAllocation(isDeterministic: true) { try $0.run(source, named: "test.lua") }
    }

    @Test(arguments: orderedScripts)
    func `a limited script in a deterministic Lua state survives every failing allocation`(source: String) throws {
        let limits = LuaLimits(memoryInBytes: 64 << 20, time: .seconds(60), instructions: 50_000_000)
        try failEveryAllocation(limits: limits, isDeterministic: true) { try $0.run(source, named: "test.lua") }
    }

    @Test func `Swift operations survive every failing allocation`() throws {
        try failEveryAllocation { state in
            let table = try state.makeTable()
            for i in 1...20 as ClosedRange<Int64> {
                try table.set(.integer(i), .string(LuaString("value \(i)")))
                try table.rawSet(.string(LuaString("key \(i)")), .number(0.5))
            }
            _ = try table.get("key 1")
            _ = try table.count()
            _ = try table.pairs()
            _ = try table.array()
            try table.setFunction("f") { $0.values }
            try state.globals.set("t", .table(table))
            try state.run("t.f(t, t.f)")
        }
    }

    @Test func `metamethods survive every failing allocation`() throws {
        try failEveryAllocation { state in
            let table: LuaTable = try state.evaluate(
                """
                return setmetatable({}, {__index = function(_, k) return k .. 1 end,
                  __newindex = function(t, k, v) rawset(t, k .. 2, {v}) end, __len = function() return #(('x'):rep(50)) end})
                """)
            _ = try table.get("x")
            try table.set("x", 1)
            _ = try table.count()
        }
    }

    @Test func `userdata survives every failing allocation`() throws {
        try failEveryAllocation { state in
            let type: LuaUserdataType<Int> = try state.makeUserdataType("number")
            try type.method("double") { number, _ in [.integer(Int64(number * 2))] }
            try type.property("value") { .integer(Int64($0)) }
            try type.metamethod("__add") { [type] in [.userdata(try type.make(try type.value(of: $0[1]) + 1))] }
            try state.globals.set("n", .userdata(type.make(4)))
            try state.run("return (n + 1).value, n:double(), pcall(function() return n.nothing end)")
            try state.withScope { scope in
                try state.globals.set("s", .userdata(type.make(5, in: scope)))
                try state.run("return s.value")
            }
            try state.run("return s.value")
        }
    }

    @Test func `modules survive every failing allocation`() throws {
        try failEveryAllocation { state in
            try state.addModuleResolver { name in
                name == "m" ? .source("return { x = require('n') }", name: "m.lua") : .source("return 'n'", name: "n.lua")
            }
            try state.run("return require('m').x, pcall(require, 'm')")
        }
    }

    @Test func `asynchronous calls survive every failing allocation`() async throws {
        for number in 0..<5000 {
            let state = try LuaState()
            try state.globals.set("later", .function(state.makeAsyncFunction("later", Operation { $0 })))
            state.core.failAllocation(at: number)
            do {
                try await state.runAsync(
                    "local a = later('a' .. 1) coroutine.wrap(function() later({a}) pcall(later, error) end)() return later()")
            } catch {
                #expect(error.code == .memory || error.code == .runtime, "\(number): \(error)")
            }
            let isDone = state.core.isAllocationToFail
            state.core.failAllocation(at: nil)
            #expect(try state.evaluate("return 1") == 1)
            if isDone { return }
        }
        Issue.record("it never succeeded")
    }

    @Test func `encoding and decoding survive every failing allocation`() throws {
        try failEveryAllocation { state in
            let value = try state.encode(["a": [1, 2, 3], "b": []])
            _ = try LuaDecoder().decode([String: [Int]].self, from: value)
        }
    }
}
