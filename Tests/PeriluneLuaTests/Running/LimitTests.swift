import CPeriluneShim
import PeriluneLua
import PeriluneTestTools
import Testing

@Suite struct LimitTests {
    private static let spinning = [
        "while true do end",
        "repeat until false",
        "for i = 1, math.huge do end",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(error) end",
        "xpcall(function() while true do end end, function() while true do end end)",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "while true do coroutine.wrap(function() while true do end end)() end",
        "while true do local c = coroutine.create(function() while true do end end) coroutine.resume(c) coroutine.close(c) end",
        "while true do coroutine.resume(coroutine.create(function() end)) end",
        "local function f() coroutine.wrap(function() for i = 1, 10 do end end)() end while true do f() end",
        "local function nest() coroutine.wrap(nest)() end while true do pcall(nest) end",
        "local c <close> = setmetatable({}, {__close = function() while true do end end}) while true do end",
        """
        local c = coroutine.wrap(function()
          local x <close> = setmetatable({}, {__close = function() while true do end end})
          while true do end
        end)
        while true do pcall(c) end
        """,
        "pcall(setmetatable, {}, {__gc = function() while true do end end}) collectgarbage() while true do end",
        "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
        "table.sort({3, 1, 2}, function() while true do end end)",
        "string.gsub('x', '.', function() while true do end end)",
        "load(function() while true do end end)",
        "while true do load(function() return ' ' end) end",
        "string.rep('', 1 << 62) while true do end",
        "return ('a'):rep(20000):find(('.-'):rep(30) .. 'b')",
        "local text, sought = ('a'):rep(1 << 20), ('a'):rep(1 << 19) .. 'b' while true do text:find(sought, 1, true) end",
        "pcall(table.move, {}, 1, 1 << 62, 2) while true do end",
        "local t = setmetatable({}, {__len = function() return 1 << 62 end}) while true do pcall(table.insert, t, 1, 0) pcall(table.concat, t) end",
        "local s = 'x = 0 ' .. ('or 1 '):rep(100) while true do load(s) end",
        "load('return ' .. ('1 or '):rep(150000) .. '1') while true do end",
        "while true do string.format('%s', 1) end",
        "goto on ::on:: goto on",
        "local function f() return f() end f()",
        "while true do pass() end",
        "while true do pcall(fail) end",
        "local f = setmetatable({}, {}) getmetatable(f).__call = f f()",
    ]

    private func limited(_ limits: LuaLimits) throws -> LuaState {
        let state = try LuaState(limits: limits)
        try state.define("pass") { $0.values }
        try state.define("fail") { _ in throw HostError() }
        return state
    }

    /// Checks that the state still works. A time limit of the state is replaced by a long one, in case the machine is busy.
    private func expectUsable(_ state: LuaState) throws {
        state.limitTime(to: .seconds(600))
        #expect(try state.evaluate("local n = 0 for i = 1, 10000 do n = n + i end return n") == 50_005_000)
        #expect(try state.evaluate("return select(2, pcall(error, 'caught'))") == "caught")
        #expect(try state.evaluate("return coroutine.wrap(function() return 3 end)()") == 3)
    }

    @Test(arguments: spinning)
    func `the time limit ends every endless loop`(source: String) throws {
        let state = try limited(LuaLimits(time: .milliseconds(150)))
        let start = ContinuousClock.now
        let error = try failure(of: source, in: state)
        #expect(error.code == .timeout)
        #expect(error.code.isLimit)
        #expect(error.message.contains("0.15 seconds"))
        #expect(ContinuousClock.now - start < .seconds(100), "machines that test may be busy")
        try expectUsable(state)
    }

    @Test(arguments: spinning.dropLast())
    func `the instruction limit ends every endless loop`(source: String) throws {
        let state = try limited(LuaLimits(instructions: 300_000))
        let error = try failure(of: source, in: state)
        #expect(error.code == .budget)
        try expectUsable(state)
    }

    @Test func `limits that are not reached change nothing`() throws {
        let limits = LuaLimits(memoryInBytes: 64 << 20, time: .seconds(60), instructions: 100_000_000)
        let state = try limited(limits)
        #expect(state.limits == limits)
        try expectUsable(state)
    }

    @Test(.unless(.thread, "the sanitizer holds signals back, so that every limit has the hook"))
    func `only an instruction limit installs a hook, which slows Lua down`() throws {
        for (limits, isHooked) in [
            (LuaLimits(memoryInBytes: 64 << 20, time: .seconds(600), diskInBytes: 1 << 30, isCancellable: true), false),
            (LuaLimits(time: .seconds(600), instructions: 100_000_000), true),
        ] {
            let state = try limited(limits)
            var found: [Bool] = []
            try state.define("look") { _ in
                found.append(lua_gethook(plua_running_context().pointee.running) != nil)
                return []
            }
            try state.run("look() local co = coroutine.wrap(function() look() coroutine.yield() look() end) co() co() look()")
            try state.run("look()")
            #expect(found == [Bool](repeating: isHooked, count: 5))
        }
    }

    @Test func `if Lua states call each other, a time limit ends only its own state`() throws {
        let outer = try limited(LuaLimits(time: .seconds(600)))
        let inner = try limited(LuaLimits(time: .milliseconds(50)))
        try outer.define("call") { _ in
            let error = try failure(of: "while true do end", in: inner)
            #expect(error.code == .timeout)
            return []
        }
        #expect(try outer.evaluate("call() for i = 1, 100000 do end call() return 1") == 1)

        let patient = try limited(LuaLimits(time: .seconds(600)))
        let hasty = try limited(LuaLimits(time: .milliseconds(50)))
        try hasty.define("call") { _ in
            let count: Int = try patient.evaluate("local n = 0 for i = 1, 3000000 do n = n + 1 end return n")
            #expect(count == 3_000_000)
            return []
        }
        #expect(try failure(of: "while true do pcall(call) end", in: hasty).code == .timeout)
        #expect(try patient.evaluate("return 1") == 1)
    }

    @Test func `each run has the whole time limit`() throws {
        let state = try limited(LuaLimits(instructions: 100_000))
        for _ in 0..<20 { try state.run("for i = 1, 20000 do end") }
        try state.globals.set("f", .function(state.load("for i = 1, 20000 do end")))
        #expect(throws: LuaError.self) { try state.run("for i = 1, 20 do f() end") }
    }

    @Test func `nested runs share the limit of the outer run`() throws {
        let state = try limited(LuaLimits(instructions: 100_000))
        try state.define("call") { try $0.get(1, as: LuaFunction.self).call([]) }
        let error = try failure(of: "for i = 1, 100 do pcall(call, function() for i = 1, 20000 do end end) end", in: state)
        #expect(error.code == .budget)
    }

    @Test func `the clock is checked after each call of a Swift function`() throws {
        let state = try limited(LuaLimits(time: .seconds(600)))
        var calls = 0
        try state.define("slow") { _ in
            calls += 1
            // Simulates a function that exceeds the time limit.
            plua_running_context().pointee.deadline = 1
            return []
        }
        #expect(try failure(of: "slow() slow() slow()", in: state).code == .timeout)
        #expect(calls == 1)
    }

    @Test func `metamethods that Swift calls are limited`() throws {
        let state = try limited(LuaLimits(instructions: 100_000))
        let table: LuaTable = try state.evaluate(
            "local function spin() while true do end end return setmetatable({}, {__index = spin, __newindex = spin, __len = spin})"
        )
        #expect(#expect(throws: LuaError.self) { try table.get("x") }?.code == .budget)
        #expect(#expect(throws: LuaError.self) { try table.set("x", 1) }?.code == .budget)
        #expect(#expect(throws: LuaError.self) { try table.count() }?.code == .budget)
        try expectUsable(state)
    }

    @Test func `the compilation of a chunk is limited in time and in size`() throws {
        let state = try limited(LuaLimits(time: .milliseconds(100)))
        let long = "return " + String(repeating: "1 or ", count: 150_000) + "1"
        #expect(#expect(throws: LuaError.self) { try state.load(long) }?.code == .timeout)
        state.limitTime(to: .seconds(600))
        #expect(#expect(throws: LuaError.self) { try state.load(String(repeating: " ", count: 2 << 20)) }?.code == .memory)
        try expectUsable(state)
    }

    @Test func `a coroutine that a limit has ended is dead, and others are usable`() throws {
        let state = try limited(LuaLimits(instructions: 100_000))
        try state.run("good = coroutine.wrap(function() for i = 1, 1e9 do coroutine.yield(i) end end) good()")
        _ = try failure(of: "bad = coroutine.create(function() while true do end end) coroutine.resume(bad)", in: state)
        #expect(try state.evaluate("return coroutine.status(bad)") == "dead")
        for expected in 2..<50 { #expect(try state.evaluate("return good()") == expected) }
    }

    // MARK: - Memory

    private static let hoarding = [
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "return string.rep('x', 100 << 20)",
        "return ('x'):rep(1000, ('y'):rep(1 << 20))",
        "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1000) .. i end while true do local u = {} for i = 1, 1000 do u[i] = table.concat(t, t[1]) end t = u end",
        "while true do pcall(string.rep, 'x', 100 << 20) end",
        "local t = {} while true do pcall(function() while true do t[#t + 1] = ('x'):rep(1000) .. #t end end) end",
        "local t = {} while true do coroutine.resume(coroutine.create(function() while true do t[#t + 1] = {} end end)) end",
        "xpcall(function() local t = {} while true do t[#t + 1] = {} end end, function() local t = {} while true do t[#t + 1] = {} end end)",
        "local c <close> = setmetatable({}, {__close = function() while true do end end}) local t = {} while true do t[#t + 1] = {} end",
        "local t = {} while true do t[#t + 1] = coroutine.create(print) end",
        "return ('x'):rep(1 << 20):gsub('x', ('y'):rep(1 << 10))",
        "local t = {} for i = 1, 1e6 do t[i] = i end return table.pack(table.unpack(t, 1, 900000)), table.pack(table.unpack(t, 1, 900000))",
        "local parts = {} for i = 1, 200 do parts[i] = ('x'):rep(1 << 18) end return table.concat(parts):rep(100)",
        "return string.format('%99.99f'):rep(1 << 30)",
        "local s = ('return {' .. ('{},'):rep(30000) .. '}') local t = {} while true do t[#t + 1] = load(s) end",
    ]

    @Test(arguments: hoarding)
    func `the memory limit ends every unbounded allocation`(source: String) throws {
        let state = try limited(LuaLimits(memoryInBytes: 8 << 20))
        let error = try failure(of: source, in: state)
        if source.contains("%99.99f") { return }
        #expect(error.code == .memory)
        #expect(error.message.contains("8 MB"))
        state.collectGarbage()
        #expect(state.memoryInBytes < 8 << 20)
        try expectUsable(state)
    }

    @Test func `garbage does not count toward the memory limit`() throws {
        let state = try limited(LuaLimits(memoryInBytes: 4 << 20))
        #expect(try state.evaluate("local n = 0 for i = 1, 200000 do n = n + #(('x'):rep(500) .. i) end return n") > 0)
        #expect(
            try state.evaluate("local n = 0 for i = 1, 200 do local s = ('x'):rep(1 << 20) n = n + #s end return n") == 200 << 20)
    }

    /// Fills memory with blocks of increasing size, starting at 45 bytes, and keeps every n-th block.
    private static func phases(_ count: Int, keeping n: String) -> String {
        """
        local kept = {}
        for step = 1, \(count) do
          local size = math.floor(40 * 1.125 ^ step)
          local list, text = {}, ("x"):rep(size - 10)
          for i = 1, 3000000 // (size + 16) do
            list[i] = text .. ("%09d"):format(i)
            if i % (\(n)) == 0 then kept[#kept + 1] = list[i] end
          end
        end
        return 1
        """
    }

    @Test func `freed memory is reused for blocks of a different size`() throws {
        let state = try limited(LuaLimits(memoryInBytes: 8 << 20))
        #expect(try state.evaluate(Self.phases(60, keeping: "1 << 40")) == 1)
    }

    @Test func `memory blocks that prevent the reuse of their pages count as whole pages`() throws {
        let state = try limited(LuaLimits(memoryInBytes: 8 << 20))
        #expect(try failure(of: Self.phases(25, keeping: "15000 // size"), in: state).code == .memory)
        try expectUsable(state)
    }

    @Test(arguments: [nil, 64 << 20] as [Int?])
    func `memory blocks of all sizes keep their contents when they are resized`(limit: Int?) throws {
        let state = try LuaState(limits: LuaLimits(memoryInBytes: limit))
        let source = """
            local random, blocks = 7, {}
            local function pick(n) random = (random * 48271) % 2147483647 return random % n + 1 end
            for step = 1, 20000 do
              local i = pick(300)
              local block = blocks[i]
              if block and block.list then
                for _ = 1, pick(40) do block.list[#block.list + 1] = i end
                for k = 1, #block.list do if block.list[k] ~= i then return "list " .. i end end
                if #block.list > 9000 then blocks[i] = nil end
              elseif block and block.text ~= string.char(i % 256):rep(#block.text) then return "text " .. i
              else blocks[i] = pick(3) == 1 and { list = { i } } or { text = string.char(i % 256):rep(pick(pick(10) == 1 and 200000 or 3000)) } end
            end
            return "sound"
            """
        #expect(try state.evaluate(source) == "sound")
    }

    @Test func `values from Swift count toward the memory limit and end the run instead of the process`() throws {
        let state = try limited(LuaLimits(memoryInBytes: 4 << 20))
        try state.define("bulk") { _ in [.string(LuaString([UInt8](repeating: 65, count: 32 << 20)))] }
        let error = try failure(of: "local s = bulk() local n = 0 for i = 1, 100000 do n = n + 1 end return #s + n", in: state)
        #expect(error.code == .memory)
        try expectUsable(state)
    }

    @Test(arguments: [true, false])
    func `a Swift function that fills tables ends at the limit`(isRaw: Bool) throws {
        let state = try limited(LuaLimits(memoryInBytes: 4 << 20))
        var made: Int64 = 0
        try state.define("tables") { arguments in
            let list = try arguments.state.makeTable()
            while made < 1_000_000 {
                made += 1
                let (key, value) = (LuaValue.integer(made), LuaValue.table(try arguments.state.makeTable()))
                if isRaw { try list.rawSet(key, value) } else { try list.set(key, value) }
            }
            return [.table(list)]
        }
        #expect(try failure(of: "tables()", in: state).code == .memory)
        // A table takes 56 bytes, and its slot in the list takes 16.
        #expect(made < (8 << 20) / 56)
        try expectUsable(state)
    }

    @Test(arguments: [Int.min, -1, 0, 1, .max])
    func `extreme limits are safe`(number: Int) throws {
        for limits in [
            LuaLimits(memoryInBytes: number), LuaLimits(instructions: number),
            LuaLimits(time: .seconds(number)), LuaLimits(time: .nanoseconds(number)),
        ] {
            guard let state = try? LuaState(limits: limits) else { continue }
            for source in ["local t = {} for i = 1, 10000 do t[i] = {} end", "return 1"] {
                let result = Result { try state.run(source) }
                guard case .failure(let error) = result else { continue }
                #expect((error as? LuaError)?.code.isLimit == true, "\(limits): \(error)")
            }
        }
    }

    // MARK: - Refused operations

    @Test func `a limited Lua state refuses finalizers`() throws {
        let state = try limited(LuaLimits(instructions: 1_000_000))
        let error = try failure(of: "setmetatable({}, {__gc = function() end})", in: state)
        #expect(error.kind == "limited")
    }

    @Test func `the metatable of strings is inaccessible in a limited Lua state`() throws {
        let state = try limited(LuaLimits(instructions: 1_000_000))
        #expect(try state.evaluate("return getmetatable('')") == false)
    }
}
