import PeriluneLua
import Testing

@Suite struct LibraryTests {
    private static let dangers = [
        "io", "dofile", "loadfile", "require", "package", "os.execute", "os.exit", "os.getenv", "os.remove", "os.rename",
        "os.tmpname", "os.setlocale", "debug.getmetatable", "debug.setmetatable", "debug.sethook", "debug.getregistry",
        "debug.getupvalue", "debug.setupvalue", "debug.getinfo", "debug.getlocal", "debug.upvaluejoin",
        "debug.getuservalue", "string.dump",
    ]

    @Test(arguments: dangers)
    func `a sandboxed Lua state lacks functions that access the outside or the state's internals`(name: String) throws {
        for limits in [LuaLimits.none, LuaLimits(instructions: 100_000)] {
            let state = try LuaState(limits: limits)
            #expect(try state.run("return \(name)").first == .nil)
        }
    }

    @Test(arguments: [
        "string.format", "table.concat", "math.floor", "utf8.char", "coroutine.wrap", "os.time", "os.date", "os.clock",
        "os.difftime", "debug.traceback", "pcall", "xpcall", "error", "assert", "select", "next", "pairs", "ipairs", "load",
        "setmetatable", "getmetatable", "rawget", "rawset", "rawequal", "rawlen", "tostring", "tonumber", "type", "print",
        "collectgarbage", "warn",
    ])
    func `a sandboxed Lua state has the safe functions`(name: String) throws {
        let state = try LuaState()
        #expect(try state.evaluate("return type(\(name))") == "function")
    }

    @Test(arguments: [
        "type(io.open)", "type(os.getenv)", "type(dofile)", "type(loadfile)", "type(debug.getregistry)", "type(debug.sethook)",
        "type(string.dump)", "type(require)", "type(package.loadlib)", "type(package.searchpath)",
        "type(package.preload) == 'table' and 'function'",
        "type(getmetatable('').__index) == 'table' and 'function'",
        "package.loaded.os == os and package.loaded._G == _G and 'function'",
    ])
    func `a trusted state has all Lua libraries`(expression: String) throws {
        #expect(try LuaState(libraries: .trusted).evaluate("return \(expression)") == "function")
    }

    @Test func `a trusted state loads its own bytecode`() throws {
        let state = try LuaState(libraries: .trusted)
        #expect(try state.evaluate("return load(string.dump(function() return 7 end))()") == 7)
        #expect(try state.run("return load(string.dump(function() end), 'x', 't')").first == .nil)
    }

    @Test func `a trusted state can configure the collector and use finalizers`() throws {
        let state = try LuaState(libraries: .trusted)
        #expect(try state.evaluate("return collectgarbage('generational')") == "incremental")
        #expect(try state.evaluate("return collectgarbage('isrunning')") == true)
        #expect(try state.evaluate("setmetatable({}, { __gc = function() ran = true end }) collectgarbage() return ran") == true)
    }

    @Test func `a trusted state has hooks`() throws {
        let state = try LuaState(libraries: .trusted)
        #expect(
            try state.evaluate(
                "local lines = 0 debug.sethook(function() lines = lines + 1 end, 'l')\nlocal x = 1\ndebug.sethook() return lines")
                == 2)
    }

    @Test(arguments: [
        ("debug.sethook(print, 'l')", "debug.sethook is not available"),
        ("debug.setmetatable({}, { __gc = print })", "a metatable with __gc is not allowed"),
        ("collectgarbage('stop')", "option 'stop' is not allowed here"),
        ("assert(load(string.dump(function() end)))", "attempt to load a binary chunk"),
    ])
    func `limits remove functions that could evade them from a trusted Lua state`(source: String, message: String) throws {
        let state = try LuaState(libraries: .trusted, limits: LuaLimits(instructions: 1_000_000))
        let error = try failure(of: source, in: state)
        #expect(error.message.contains(message))
    }

    @Test func `package.loaded contains the restricted libraries`() throws {
        let state = try LuaState(libraries: [.sandboxed, .package])
        #expect(try state.evaluate("return package.loaded.os == os and package.loaded.os.execute == nil") == true)
    }

    @Test func `a Lua state without libraries can run scripts`() throws {
        let state = try LuaState(libraries: [])
        #expect(try state.evaluate("return print == nil and 1 + 1") == 2)
    }

    // MARK: - Text chunks only

    private static let bytecode = "string.char(0x1B) .. 'Lua' .. string.char(0x54, 0, 0x19, 0x93, 13, 10, 26, 10)"

    @Test(arguments: [
        "load(\(bytecode))", "load(\(bytecode), 'x', 'b')", "load(\(bytecode), 'x', 'bt')",
        "load(\(bytecode), 'x', 'tb', {})", "load(function() return \(bytecode) end)",
        "load(\(bytecode), 'x', setmetatable({}, {__tostring = function() return 'b' end}))",
    ])
    func `load refuses bytecode in every mode`(source: String) throws {
        for limits in [LuaLimits.none, LuaLimits(instructions: 100_000)] {
            let state = try LuaState(libraries: [.sandboxed, .files], limits: limits)
            #expect(
                try state.evaluate("local ok, f = pcall(function() return (\(source)) end) return not ok or f == nil") == true)
        }
    }

    @Test func `loading bytecode from Swift is refused`() throws {
        let state = try LuaState()
        let error = #expect(throws: LuaError.self) {
            try state.load(LuaString([0x1B, 0x4C, 0x75, 0x61, 0x54, 0, 0x19, 0x93, 13, 10, 26, 10]))
        }
        #expect(error?.code == .syntax)
        #expect(error?.message.contains("binary chunk") == true)
    }

    @Test func `load accepts text, a reader, a name and an environment`() throws {
        for limits in [LuaLimits.none, LuaLimits(instructions: 100_000)] {
            let state = try LuaState(limits: limits)
            #expect(try state.evaluate("return load('return ...')(5)") == 5)
            #expect(try state.evaluate("return load('return x', 'c', 't', {x = 6})()") == 6)
            #expect(
                try state.evaluate(
                    "local parts, i = {'return ', '7'}, 0 return load(function() i = i + 1 return parts[i] end)()") == 7)
            #expect(try state.run("return load('x =')").first == .nil)
            #expect(try state.run("return load('x = = 1', '=named')")[1] == "named:1: unexpected symbol near '='")
            #expect(try state.evaluate("return load('return x', 'c', nil, nil) ~= nil") == true)
        }
    }

    // MARK: - Separation of states

    @Test func `changes to the libraries of one Lua state do not affect another`() throws {
        let first = try LuaState()
        let second = try LuaState()
        try first.run("string.upper = nil string.format = nil string.rep = print")
        #expect(try second.evaluate("return ('a'):upper()") == "A")
    }
}
