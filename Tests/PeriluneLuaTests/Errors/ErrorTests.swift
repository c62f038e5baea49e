import PeriluneLua
import Testing

@Suite struct ErrorTests {
    private let state: LuaState

    init() throws {
        state = try LuaState()
        try state.define("fail") { throw HostError(number: try $0.get(1, as: Int?.self) ?? 1) }
        try state.define("call") { try $0.get(1, as: LuaFunction.self).call(Array($0.values.dropFirst())) }
    }

    // MARK: - Errors of scripts

    @Test func `a syntax error names file and line`() throws {
        let error = try failure(of: "local x = 1\nlocal y = = 2", in: state)
        #expect(error.code == .syntax)
        #expect(error.file == "test.lua")
        #expect(error.line == 2)
        #expect(error.message.contains("unexpected symbol"))
        #expect(error.description.hasPrefix("test.lua:2: unexpected symbol"))
    }

    @Test func `indexing nil fails with a runtime error that names the field`() throws {
        let error = try failure(of: "\n\nlocal user\nreturn user.name", in: state)
        #expect(error.code == .runtime)
        #expect(error.message.contains("user"))
        #expect(error.file == "test.lua")
        #expect(error.line == 4)
    }

    @Test func `an error has a traceback with functions, files and lines`() throws {
        let error = try failure(
            of:
                "local function inner()\n  error('broken')\nend\nlocal function outer()\n  inner()\n  return 1\nend\nouter()\nreturn 1",
            in: state)
        let traceback = try #require(error.traceback)
        #expect(traceback.contains("test.lua:2: in upvalue 'inner'"))
        #expect(traceback.contains("test.lua:5: in local 'outer'"))
        #expect(traceback.contains("test.lua:8: in main chunk"))
    }

    @Test func `an error that is raised without a position has a traceback`() throws {
        let error = try failure(of: "\nerror('plain', 0)", in: state)
        #expect(error.message == "plain")
        #expect(error.file == nil)
        #expect(error.traceback?.contains("test.lua:2: in main chunk") == true)
    }

    @Test func `a thrown table keeps its plain fields and gets a position`() throws {
        let error = try failure(
            of: "\nerror({ kind = 'refused', message = 'no credit', amount = 12, deep = {}, ok = false })", in: state)
        #expect(error.code == .runtime)
        #expect(error.kind == "refused")
        #expect(error.message == "no credit")
        #expect(error.fields["amount"] == .integer(12))
        #expect(error.fields["ok"] == .boolean(false))
        #expect(error.fields["deep"] == [])
        #expect(error.file == "test.lua")
        #expect(error.line == 2)
        #expect(error.traceback?.contains("test.lua:2") == true)
    }

    @Test(arguments: [
        "error()", "error(nil)", "error(false)", "error(12)", "error(1.5)", "error(print)",
        "error(coroutine.create(print))", "error(setmetatable({}, {__tostring = function() error('again') end}))",
        "error(setmetatable({}, {__index = function() error('again') end}))", "error('\\0\\255')", "error('')",
    ])
    func `any raised value arrives as an error and can be raised again`(source: String) throws {
        let error = try failure(of: source, in: state)
        #expect(error.code == .runtime)
        try state.define("again") { _ in throw error }
        #expect(throws: LuaError.self) { try state.run("again()") }
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test func `a raised value returns to Lua unchanged`() throws {
        let same: Bool = try state.evaluate(
            "local t = {}; local ok, e = pcall(call, function() error(t) end); return rawequal(t, e)")
        #expect(same)
    }

    @Test func `an error in an error handler becomes an error`() throws {
        let results = try state.run("return xpcall(error, function() error('in handler') end, 'x')")
        #expect(results.first == false)
        let deep = try state.run("return xpcall(error, function(e) local function f() return f() .. '' end f() end)")
        #expect(deep.first == false)
    }

    @Test(arguments: [
        "local function f() return 1 + f() end f()",
        "local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x",
        "local s = string.rep('(', 5000) .. string.rep(')', 5000) assert(load('return ' .. s))",
        "local s = 'return ' .. string.rep('{', 5000) assert(load(s))",
        "local m = {} m.__concat = function(a, b) return a .. b end local a = setmetatable({}, m) return a .. a",
        "local m = {} m.__eq = function(a, b) return a == b end return setmetatable({}, m) == setmetatable({}, m)",
        "local function f(s) return s:gsub('.', f) end f('x')",
        "local function f() return pcall(f) end return f() and error('unwound')",
        "local co; local function f() co = coroutine.wrap(f) return co() end f()",
        "return string.rep('x', 1 << 50)",
    ])
    func `endless recursion and extreme sizes raise errors, and the Lua state stays usable`(source: String) throws {
        _ = try failure(of: source, in: state)
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test func `a stack overflow error has a traceback`() throws {
        let error = try failure(of: "local function f() return 1 + f() end\nf()", in: state)
        #expect(error.message.contains("stack overflow"))
        #expect(error.traceback?.contains("test.lua:1") == true)
    }

    // MARK: - Errors of Swift

    @Test func `a Swift error is thrown unchanged, with the traceback`() throws {
        let error = try failure(of: "local function f()\n  fail(7)\nend\nf()\nreturn 1", in: state)
        #expect(error.code == .host)
        #expect(error.underlying as? HostError == HostError(number: 7))
        #expect(error.line == 2)
        #expect(error.traceback?.contains("test.lua:2") == true)
        #expect(error.traceback?.contains("test.lua:4") == true)
    }

    @Test func `a Swift error is caught as an error object with kind, message, position and text`() throws {
        let values = try state.run(
            """
            local ok, e = pcall(function() fail(3) end)
            return ok, e.kind, e.message, e.line, tostring(e), type(e), e.nothing, 'failed: ' .. e
            """, named: "test.lua")
        #expect(values[0] == false)
        #expect(values[1] == "host")
        #expect(values[2] == "HostError(number: 3)")
        #expect(values[3] == 1)
        #expect(values[4] == "test.lua:1: HostError(number: 3)")
        #expect(values[5] == "userdata")
        #expect(values[6] == .nil)
        #expect(values[7] == "failed: test.lua:1: HostError(number: 3)")
    }

    @Test(arguments: [
        "local ok, e = pcall(fail, 5) error(e)",
        "local ok, e = pcall(fail, 5) error(e, 0)",
        "local ok, e = xpcall(fail, function(e) return e end, 5) error(e)",
        "call(fail, 5)",
        "call(function() call(function() fail(5) end) end)",
        "local ok, e = pcall(call, fail, 5) call(error, e)",
        "coroutine.wrap(function() fail(5) end)()",
        "local c = coroutine.create(fail) local ok, e = coroutine.resume(c, 5) error(e)",
        "coroutine.wrap(function() coroutine.wrap(function() call(fail, 5) end)() end)()",
        "local c <close> = setmetatable({}, {__close = function() fail(5) end})",
        "local c <close> = setmetatable({}, {__close = function(_, e) error(e) end}) fail(5)",
        "local t = setmetatable({}, {__index = function() fail(5) end}) return t.x",
        "table.sort({1, 2}, function() fail(5) end)",
        "string.gsub('x', '.', function() fail(5) end)",
        "for _ in fail, 5 do end",
    ])
    func `a Swift error keeps its identity on any path through Lua`(source: String) throws {
        let error = try failure(of: source, in: state)
        #expect(error.underlying as? HostError == HostError(number: 5))
        #expect(error.traceback != nil)
    }

    @Test func `a rethrown Swift error keeps its first traceback`() throws {
        let error = try failure(
            of: "local function deep()\n  fail(1)\nend\ncall(function()\n  deep()\n  return 1\nend)\nreturn 1", in: state)
        #expect(error.traceback?.contains("test.lua:2") == true)
        #expect(error.line == 2)
    }

    @Test func `the traceback of a coroutine continues in its resumer`() throws {
        let error = try failure(
            of:
                "local inner = coroutine.wrap(function()\n fail(1)\nend)\nlocal outer = coroutine.wrap(function()\n inner()\n return 1\nend)\nouter()\nreturn 1",
            in: state)
        for line in [2, 5, 8] { #expect(error.traceback?.contains("test.lua:\(line)") == true) }
        #expect(error.line == 2)
    }

    @Test func `a caught error does not affect a later error with the same message`() throws {
        let error = try failure(
            of: "pcall(call, function()\n error('same', 0)\nend)\nlocal x = 1\nerror('same', 0)", in: state)
        #expect(error.traceback?.contains("test.lua:5") == true)
        #expect(error.traceback?.contains("test.lua:2") == false)
    }

    @Test func `a self-describing error provides fields for the script`() throws {
        struct Missing: LuaErrorDescribing {
            var luaKind: String { "record_not_found" }
            var luaMessage: String { "there is no user 7" }
            var luaFields: [String: ScriptValue] { ["id": .integer(7)] }
        }
        try state.define("find") { _ in throw Missing() }
        let values = try state.run("local _, e = pcall(find) return e.kind, e.id, e.message")
        #expect(values == ["record_not_found", 7, "there is no user 7"])
        let error = try failure(of: "find()", in: state)
        #expect(error.kind == "record_not_found")
        #expect(error.fields["id"] == .integer(7))
        #expect(error.underlying is Missing)
    }

    @Test func `error objects are read-only`() throws {
        #expect(try state.evaluate("local _, e = pcall(fail) return getmetatable(e)") == false)
        #expect(try state.evaluate("local _, e = pcall(fail) return (pcall(function() e.kind = 'x' end))") == false)
        #expect(
            try state.evaluate(
                "local _, e = pcall(fail) local n = 0 for k in pairs(e) do n = n + 1 end return n") == 4)
        #expect(
            try state.evaluate(
                "local _, e = pcall(fail) local _, t = pairs(e) t.kind = 'x' return e.kind") == "host")
    }

    @Test func `the iterator of an error object accepts only tables`() throws {
        for value in ["5", "nil", "print", "e", "coroutine.create(print)", "''"] {
            let error = try failure(of: "local _, e = pcall(fail) local next = pairs(e) next(\(value))", in: state)
            #expect(error.code == .runtime, "\(value)")
        }
    }

    @Test func `an error in a finalizer is a warning`() throws {
        #expect(
            try state.evaluate(
                "setmetatable({}, {__gc = function() error('late') end}) collectgarbage() return 1") == 1)
    }

    @Test func `a Swift error in a finalizer does not affect the script`() throws {
        try state.run("setmetatable({}, {__gc = fail}) collectgarbage() collectgarbage()")
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test func `an error that Swift throws while Lua unwinds replaces the first error`() throws {
        let error = try failure(
            of: "local c <close> = setmetatable({}, {__close = function() fail(2) end}) error('first')", in: state)
        #expect(error.underlying as? HostError == HostError(number: 2))
    }

    @Test func `errors in a host library are attributed to the calling script`() throws {
        let library = try state.loadLibrary(
            "return { check = function(x)\n\n if not x then error({ message = 'needs x' }) end end }", named: "checks")
        try state.globals.set("checks", library.call([])[0])
        let error = try failure(of: "\nchecks.check()\nreturn 1", in: state)
        #expect(error.file == "test.lua")
        #expect(error.line == 2)
    }

    @Test func `a cancellation that Swift throws has the kind cancelled`() throws {
        try state.define("wait") { _ in throw CancellationError() }
        #expect(try state.evaluate("local _, e = pcall(wait) return e.kind") == "cancelled")
    }

    @Test func `the value of an error is the value that a script would have caught`() throws {
        let state = try LuaState()
        guard case .table(let raised)? = try state.run("raised = {} return raised").first else { throw HostError() }
        let error = try failure(of: "error(raised)", in: state)
        #expect(state.errorValue(of: error) == .table(raised))
        let kind: String = try state.load("local e = ... return e.kind .. ' ' .. e.message")(
            state.errorValue(of: HostError(number: 3)))
        #expect(kind == "host HostError(number: 3)")
        state.close()
        #expect(state.errorValue(of: error) == .nil)
    }

    @Test(arguments: ["error(('x'):rep(3 << 20), 0)", "error({ message = ('x'):rep(3 << 20) })"])
    func `with limits, a message is cut to a megabyte; without limits, it is complete`(_ source: String) throws {
        #expect(try failure(of: source, in: LuaState()).message.utf8.count == 3 << 20)
        #expect(try failure(of: source, in: LuaState(limits: LuaLimits(time: .seconds(60)))).message.utf8.count == 1 << 20)
    }
}
