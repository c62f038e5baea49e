import PeriluneLua
import Testing

/// Hostile scripts that try to crash the process or to leave the sandbox. Only the script itself may fail.
@Suite struct AttackTests {
    private func makeState(_ libraries: LuaLibraries = .sandboxed, limits: LuaLimits = .none) throws -> LuaState {
        let state = try LuaState(libraries: libraries, limits: limits)
        try state.define("fail") { _ in throw HostError() }
        try state.define("call") { try $0.get(1, as: LuaFunction.self).call(Array($0.values.dropFirst())) }
        try state.define("echo") { $0.values }
        try state.define("raise") { throw LuaError.describing($0[1]) }
        let type: LuaUserdataType<String> = try state.makeUserdataType("label")
        try type.method("text") { text, _ in [.string(LuaString(text))] }
        try type.property("size") { .integer(Int64($0.utf8.count)) }
        try state.globals.set("label", .userdata(type.make("host")))
        return state
    }

    private static let attacks = [
        // Uses every host value as self, key and value everywhere.
        "for _, f in ipairs{echo, call, fail, raise, label.text} do for _, v in ipairs{1, 1.5, '', {}, print, label, coroutine.create(print), true} do pcall(f, v, v, v) end end",
        "for _, v in ipairs{echo, label, print, coroutine.create(print), 'x', 1, true} do pcall(getmetatable, v) pcall(setmetatable, v, {}) pcall(rawset, v, 1, 1) pcall(rawget, v, 1) pcall(rawlen, v) pcall(next, v) pcall(ipairs, v) pcall(table.unpack, v) end",
        "local m = getmetatable(label) if m then m.__gc(label) m.__gc(label) end return label.size",
        "local index = label.text index(setmetatable({}, {__index = label, __name = 'label', __metatable = label}))",
        "pcall(function() return label < label end) pcall(function() return label .. label end) pcall(function() return label[{}] end) pcall(function() return label[nil] end) pcall(function() label[0/0] = 1 end)",
        "return ('x'):rep(100, label)",
        "return string.format('%s %q', label, 1) and string.format('%p', label)",
        "return tostring(setmetatable({}, {__name = 'a\\0b\\255'})) .. tostring(setmetatable({}, {__name = 5}))",
        // Error objects.
        "local _, e = pcall(fail) pcall(raise, e) pcall(error, e) pcall(error, {e}) pcall(function() e() end) pcall(function() return #e end) pcall(function() return e + e end) return e == e",
        "local _, e = pcall(fail) local n, t, i = pairs(e) n(t, 'nothing')",
        "local _, e = pcall(fail) local n, t = pairs(e) while true do local k = n(t) t[k] = nil end",
        "local _, e = pcall(fail) return e[nil], e[0/0], e[e], e.payload, e.__index",
        "local _, e = pcall(fail) for i = 1, 300 do e = select(2, pcall(raise, e)) end error(e)",
        "error(setmetatable({}, {__index = function() while true do end end, __pairs = error, __name = 'error', __tostring = error}))",
        "local t = {message = ('x'):rep(1 << 20)} for i = 1, 1000 do t['k' .. i] = i end t.self = t error(t)",
        "error((':'):rep(1 << 20))", "error((':1'):rep(1 << 19))", "error(('x:9:'):rep(1 << 18))",
        "error(':' .. ('9'):rep(1000) .. ': x')",
        "error('x:99999999999999999999: y')",
        // Coroutines.
        "coroutine.close(coroutine.running())", "coroutine.resume(coroutine.running())", "coroutine.wrap(coroutine.running)()",
        "local c c = coroutine.create(function() coroutine.close(c) end) assert(coroutine.resume(c))",
        "local c c = coroutine.create(function() return coroutine.resume(c) end) error(select(3, coroutine.resume(c)))",
        "local main = coroutine.running() coroutine.wrap(function() coroutine.close(main) end)()",
        "local main = coroutine.running() coroutine.wrap(function() error(select(2, coroutine.resume(main))) end)()",
        "local c for i = 1, 30000 do local d = c c = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() if d then coroutine.close(d) end end}) coroutine.yield() end) coroutine.resume(c) end error(select(2, coroutine.close(c)))",
        "local c = coroutine.wrap(function() call(function() coroutine.yield() end) end) c()",
        "local c = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() coroutine.yield() error('later') end}) end) coroutine.resume(c) coroutine.close(c)",
        "call(coroutine.yield)", "call(coroutine.wrap(function() call(coroutine.yield) end))",
        "local t = {} for i = 1, 5000 do t[i] = coroutine.wrap(function() call(function() end) coroutine.yield(t) end) t[i]() end",
        // Calls of host functions from everywhere.
        "load(function() call(fail) end)", "load(function() return call(load, function() return nil end) and nil end)",
        "table.sort({3, 2, 1, 5, 4}, function(a, b) call(table.sort, {2, 1}, function() return true end) return true end)",
        "local t = setmetatable({}, {__lt = function() fail() end, __le = function() fail() end, __eq = function() fail() end}) return t < t",
        "return ('abc'):gsub('.', setmetatable({}, {__index = function(_, k) return call(string.rep, k, 3) end}))",
        "for k in pairs(setmetatable({}, {__pairs = function() return call, fail end})) do end",
        "local x <close> = setmetatable({}, {__close = function() call(function() local y <close> = setmetatable({}, {__close = fail}) fail() end) end}) fail()",
        "warn('@on') warn('x', 'y') warn('@off')",
        "print(setmetatable({}, {__tostring = function() call(error, 'in print') end}))",
        // Extreme numbers.
        "string.rep('x', -1) string.rep('', math.maxinteger) return string.rep('ab', math.maxinteger)",
        "return ('x'):sub(math.mininteger, math.maxinteger), ('x'):byte(math.mininteger, math.maxinteger)",
        "return utf8.char(0x7FFFFFFF), utf8.codepoint('\\xFF', 1, 1)", "return utf8.char(-1)",
        "return utf8.offset('x', math.mininteger)",
        "return select(math.mininteger)", "return select(-1)",
        "return math.random(math.mininteger, math.maxinteger), math.random(0)",
        "return math.tointeger(2^63), 1 // 0", "return math.mininteger // -1, math.mininteger % -1, 1 % 0",
        "return os.date(('%c'):rep(10000))", "return os.date('%Ez')", "return os.date('*t', 1 << 60)",
        "return os.time({year = 1 << 40, month = 1, day = 1})",
        "return os.time({year = 'x'})", "return os.date('!%H', 0/0)",
        "return table.unpack({}, math.mininteger, math.maxinteger)", "return table.unpack({}, 1, 1e7)",
        "return table.concat({}, 'x', 1, 3)",
        "return table.move({1}, 1, math.maxinteger, 2)", "return table.insert({}, math.maxinteger, 1)",
        "table.remove({}, math.mininteger)",
        "local t = table.pack(('x'):byte(1, -1)) return table.unpack(t, -100, 100)",
        "return string.format('%99d%99.99f', 1, 1e308), string.format('%100d', 1)",
        "return string.format(('%s'):rep(10000), table.unpack({}, 1, 200))",
        "return ('x'):format(1, 2), ('%d'):format(1.5)", "return ('%c'):format(1 << 40)", "return string.pack('i17', 1)",
        "return string.unpack('s8', ('\\255'):rep(8))",
        "return string.pack(('!16'):rep(10000))", "return string.unpack('z', 'x', math.maxinteger)",
        "return tonumber(('9'):rep(100000)), tonumber('1e' .. ('9'):rep(1000))",
        "return ('a'):rep(1000):find(('(a)'):rep(40))", "return ('x'):gsub('%', 'x')", "return ('x'):gsub('x', '%9')",
        "return ('x'):find('[' .. ('a'):rep(100000))",
        "return ('x'):find(('('):rep(33))", "return ('a'):rep(300000):find(('a?'):rep(300000))", "return ('x'):find('%f')",
        "return ('x'):match('%b')",
        "for i = math.maxinteger - 1, math.maxinteger do end for i = 1, 0, -math.maxinteger do end for i = 1, 2, 0 do end",
        "collectgarbage('step', math.maxinteger) collectgarbage('incremental', 1, 1, 60) collectgarbage('generational', 100, 100) collectgarbage('setpause', 0) for i = 1, 1000 do local t = {} end",
        // Source text.
        "return load('return ' .. ('('):rep(300) .. ('x'):rep(10))", "assert(load(('do '):rep(300)))",
        "assert(load('local ' .. ('a,'):rep(300) .. 'a'))",
        "assert(load('return ' .. ('-'):rep(10000) .. '1'))", "assert(load('x = ' .. ('{'):rep(250) .. ('}'):rep(250)))",
        "assert(load('goto x'))",
        "assert(load('local a <const> = 1 a = 2'))", "assert(load('local _ENV <const> = {} return x'))()",
        "assert(load(('a.'):rep(20000) .. 'b = 1'))()",
        "local a = {} return a" + String(repeating: ".b", count: 20000),
        "assert(load('return function(' .. ('a,'):rep(300) .. 'a) end'))",
        "assert(load('[' .. ('='):rep(100000) .. '['))", "assert(load('x = \"\\\\u{' .. ('F'):rep(1000) .. '}\"'))",
        "assert(load(('if x then '):rep(250)))",
        "local f = load('return ...') for i = 1, 200 do f = load('return ...', ('n'):rep(i), 't', {}) end return f(table.unpack({}, 1, 250))",
        "local s = {'local t = {}'} for i = 1, 300 do s[#s + 1] = 't[' .. i .. '.5] = ' .. i .. '.25' end assert(load(table.concat(s, '\\n')))()",
    ]

    @Test(arguments: attacks)
    func `no hostile script crashes the process`(source: String) throws {
        for (libraries, limits) in [
            (LuaLibraries.sandboxed, LuaLimits.none), (.trusted, .none),
            (.sandboxed, LuaLimits(memoryInBytes: 64 << 20, time: .seconds(10), instructions: 20_000_000)),
        ] {
            let spins = source.contains("while true do end") || source.contains("rep('', ")
            if spins, limits == .none { continue }
            let state = try makeState(libraries, limits: limits)
            try expectSurvives(state) { try state.run(source.replacing("print(", with: "tostring("), named: "attack.lua") }
            #expect(try state.evaluate("return coroutine.wrap(function() return echo(1) end)()") == 1)
            state.collectGarbage()
        }
    }

    @Test(arguments: attacks)
    func `no hostile script crashes the process when it runs asynchronously`(source: String) async throws {
        let state = try makeState(limits: LuaLimits(memoryInBytes: 64 << 20, time: .seconds(10), instructions: 20_000_000))
        try state.globals.set("echo", .function(state.makeAsyncFunction("echo", Operation { $0 })))
        _ = try? await state.runAsync(source.replacing("print(", with: "tostring("), named: "attack.lua")
        let value = try await state.runAsync("return echo(1)")
        #expect(value == [1])
    }

    @Test func `finalizers may call host functions that have been released`() throws {
        let state = try makeState()
        for isCollected in [true, false] {
            try state.run(
                """
                seen = {}
                guard = setmetatable({}, {__gc = function(t)
                  seen[1] = select(2, pcall(t.f)).kind
                  seen[2] = pcall(function() return t.u:text() end)
                end})
                """)
            do {
                // Lua finalizes objects in reverse order of their creation.
                let type: LuaUserdataType<Int> = try state.makeUserdataType("late")
                try type.method("text") { _, _ in [] }
                let guardTable: LuaTable = try state.evaluate("return guard")
                try guardTable.setFunction("f") { $0.values }
                try guardTable.set("u", .userdata(type.make(1)))
            }
            guard isCollected else { break }
            try state.run("guard = nil")
            state.collectGarbage()
            #expect(try state.evaluate("return seen[1]") == "dead_handle")
            #expect(try state.evaluate("return seen[2]") == false)
        }
        state.close()
    }

    @Test func `a finalizer may change the table that Swift is traversing`() throws {
        let state = try makeState()
        try state.run("t = {} for i = 1, 2000 do t['k' .. i] = {i} end")
        let table: LuaTable = try state.evaluate("return t")
        for round in 0..<4 {
            try state.run(
                """
                for i = 1, 200 do
                  setmetatable({}, {__gc = function() for k in next, t do t[k] = nil break end for j = 1, 50 do t[{}] = {} end end})
                end
                """)
            #expect(try table.pairs().count > 0, "\(round)")
            // The finalizers may have removed values and added tables as keys.
            try expectSurvives(state) { _ = try LuaDecoder().decode([String: [Int]].self, from: .table(table)) }
        }
    }

    @Test func `a finalizer may close the state, raise errors and start runs`() throws {
        let state = try makeState()
        try state.define("shut") {
            try $0.state.close(); return []
        }
        try state.run(
            "for i = 1, 100 do setmetatable({}, {__gc = function() call(function() local t = {} end) shut() error('x') end}) end")
        state.collectGarbage()
        #expect(throws: LuaError.self) { for _ in 0..<100 { _ = try state.makeTable() } }
    }

    @Test func `a failing chain of many fields does not overflow a script thread`() throws {
        let source = "local a = {} return a" + String(repeating: ".b", count: 500_000)
        try LuaThread().run {
            let state = try makeState(limits: LuaLimits(time: .seconds(60)))
            _ = try failure(of: source, in: state)
        }
    }

    @Test func `a Swift deinitializer may call back into the state`() throws {
        final class Caller {
            let state: LuaState
            init(_ state: LuaState) { self.state = state }
            deinit {
                _ = try? state.run("return 1")
                state.collectGarbage()
                state.close()
            }
        }
        let state = try makeState()
        let type: LuaUserdataType<Caller> = try state.makeUserdataType("caller")
        try state.globals.set("c", .userdata(type.make(Caller(state))))
        try state.run("c = nil collectgarbage()")
        _ = try? state.run("return 1")
        #expect(throws: LuaError.self) { try state.run("return 1") }
    }
}

extension LuaError {
    /// An error from the host that describes its argument.
    fileprivate static func describing(_ value: LuaValue) -> any Error {
        struct Described: LuaErrorDescribing {
            let value: String
            var luaKind: String { "described" }
            var luaMessage: String { value }
        }
        return Described(value: value.typeName)
    }
}
