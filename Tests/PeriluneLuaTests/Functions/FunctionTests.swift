import CPeriluneShim
import PeriluneLua
import Testing

@Suite struct FunctionTests {
    private let state: LuaState

    init() throws {
        state = try LuaState()
    }

    // MARK: - Lua functions

    @Test func `a Lua function returns all its results to Swift`() throws {
        let values = try state.load("return 1, nil, 'x', nil").call([])
        #expect(values == [1, .nil, "x", .nil])
    }

    @Test func `a typed call of a Lua function converts arguments and results`() throws {
        let repeated: String = try state.load("local s, n = ...; return s:rep(n)")("ab", 3)
        #expect(repeated == "ababab")
        let list: [Int] = try state.load("local t = ...; t[#t + 1] = 9; return t")([1, 2])
        #expect(list == [1, 2, 9])
    }

    @Test func `a result that cannot be converted is an error`() throws {
        let function = try state.load("return 'x'")
        let error = #expect(throws: LuaError.self) { let _: Int = try function() }
        #expect(error?.code == .conversion)
    }

    @Test func `half a million arguments and results are allowed, and more are an error`() throws {
        let function = try state.load("return ...")
        let values = [LuaValue](repeating: 1, count: 300_000)
        #expect(try function.call(values).count == 300_000)
        #expect(throws: LuaError.self) { try function.call([LuaValue](repeating: 1, count: 1_000_001)) }
        #expect(throws: LuaError.self) { try function.call([LuaValue](repeating: 1, count: 999_990)) }
        #expect(try function.call([2]) == [2])
    }

    @Test func `a million results of a script are returned or refused with an error`() throws {
        try state.define("count") { [.integer(Int64($0.values.count))] }
        #expect(try state.evaluate("return select('#', table.unpack({}, 1, 900000))") == 900_000)
        #expect(try state.evaluate("return count(table.unpack({}, 1, 900000))") == 900_000)
        #expect(throws: LuaError.self) { try state.run("return count(table.unpack({}, 1, 999990))") }
        try expectSurvives(state) { try state.run("return table.unpack({}, 1, 999970)") }
    }

    // MARK: - Swift functions

    @Test func `a Swift function receives its arguments and returns results`() throws {
        try state.define("swap") { [$0[2], $0[1]] }
        #expect(try state.run("return swap(1, 'x')") == ["x", 1])
    }

    @Test func `missing arguments of a Swift function are nil, and the argument count is exact`() throws {
        try state.define("probe") { [.integer(Int64($0.count)), $0[5]] }
        #expect(try state.run("return probe(nil, nil)") == [2, .nil])
    }

    @Test func `a typed function receives Swift values`() throws {
        try state.globals.set("add", .function(state.makeFunction("add") { (a: Int, b: Int) in a + b }))
        try state.globals.set("shout", .function(state.makeFunction("shout") { (s: String) in s.uppercased() }))
        #expect(try state.evaluate("return shout('a') .. add(1, 2)") == "A3")
    }

    @Test func `a typed function may return nothing`() throws {
        var seen: [String] = []
        let function = try state.makeFunction("note") { (text: String) in seen.append(text) }
        #expect(try function.call(["x"]).isEmpty)
        #expect(seen == ["x"])
    }

    @Test func `an argument that does not fit is reported with function, position and type`() throws {
        try state.globals.set("add", .function(state.makeFunction("math.add") { (a: Int, b: Int) in a + b }))
        let error = try failure(of: "add(1, 'x')", in: state)
        #expect(error.message == "math.add: argument 2: expected an integer, got the string \"x\"")
        #expect(error.kind == "argument")
        #expect(error.line == 1)
        #expect(try failure(of: "add(1)", in: state).message == "math.add: argument 2: expected an integer, got nil")
        #expect(try failure(of: "add(1, 2^70)", in: state).message.contains("argument 2: expected an integer from"))
    }

    @Test func `a type mismatch error distinguishes a missing argument from nil`() throws {
        try state.define("f") { throw $0.mismatch(1, expected: "a date") }
        #expect(try failure(of: "f()", in: state).message == "f: argument 1: expected a date, got no value")
        #expect(try failure(of: "f(nil)", in: state).message.hasSuffix("got nil"))
        #expect(try failure(of: "f(setmetatable({}, {__name = 'a moon'}))", in: state).message.hasSuffix("got a moon"))
    }

    @Test func `a Swift function can call back and call itself through Lua`() throws {
        try state.define("apply") { arguments in
            let function: LuaFunction = try arguments.get(1)
            return try function.call([arguments[2]])
        }
        #expect(try state.evaluate("return apply(function(x) return x * 2 end, 21)") == 42)
        #expect(
            try state.evaluate(
                "local function f(n) return n == 0 and 0 or 1 + apply(f, n - 1) end return f(20)") == 20)
    }

    @Test func `endless recursion through Swift ends with an error`() throws {
        try state.define("again") { try $0.get(1, as: LuaFunction.self).call([$0[1]]) }
        let error = try failure(of: "local function f() return again(f) end f()", in: state)
        #expect(error.message.contains("stack overflow"))
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test func `a Swift function works from inside coroutines, sort, gsub and metamethods`() throws {
        try state.define("less") { [.boolean(try $0.get(1, as: Int.self) < $0.get(2))] }
        #expect(try state.evaluate("local t = {3, 1, 2}; table.sort(t, less); return t") == [1, 2, 3])
        try state.define("up") { [.string(LuaString(try $0.get(1, as: String.self).uppercased()))] }
        #expect(try state.evaluate("return (('abc'):gsub('%w', up))") == "ABC")
        #expect(try state.evaluate("return coroutine.wrap(function() return up('x') end)()") == "X")
        #expect(try state.evaluate("return setmetatable({}, {__index = function(_, k) return up(k) end}).key") == "KEY")
        #expect(
            try state.evaluate(
                "local r; do local c <close> = setmetatable({}, {__close = function() r = up('c') end}) end return r") == "C")
    }

    @Test func `results from another Lua state are refused`() throws {
        let other = try LuaState()
        let foreign = try other.makeTable()
        try state.define("f") { _ in [.table(foreign)] }
        let error = try failure(of: "f()", in: state)
        #expect(error.message.contains("another Lua state"))
    }

    @Test func `the arguments of a Swift function refer to their Lua state`() throws {
        try state.define("make") { [.table(try $0.state.makeTable())] }
        #expect(try state.evaluate("return type(make())") == "table")
    }

    // MARK: - C functions

    @Test func `a C function can be called and returns its results`() throws {
        try state.globals.set("place", .function(state.makeFunction(c: plua_position)))
        #expect(try state.run("\nreturn place()", named: "here.lua") == ["here.lua", 2])
        let table = try state.makeTable()
        try table.setFunction("place", c: plua_position)
        try state.globals.set("t", .table(table))
        #expect(try state.run("\n\nreturn t.place()", named: "here.lua") == ["here.lua", 3])
    }

    @Test func `an error that a C function raises can be caught by the script`() throws {
        try state.globals.set("fail", .function(state.makeFunction(c: plua_raise_error)))
        #expect(
            try state.evaluate("local _, e = pcall(fail, 'odd', 'it failed') return e.kind .. ': ' .. e.message")
                == "odd: it failed")
        let error = try failure(of: "fail('odd', 'it failed')", in: state)
        #expect(error.kind == "odd")
    }
}
