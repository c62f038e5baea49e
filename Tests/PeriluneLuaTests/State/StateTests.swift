import PeriluneLua
import Testing

@Suite struct StateTests {
    @Test func `a chunk receives arguments and returns values`() throws {
        let state = try LuaState()
        let sum = try state.load("local a, b = ...; return a + b", named: "sum.lua")
        let result: Int = try sum(1, 2)
        #expect(result == 3)
    }

    @Test func `globals persist between runs`() throws {
        let state = try LuaState()
        try state.run("x = 5")
        #expect(try state.evaluate("return x") == 5)
        #expect(try state.globals.get("x") == 5)
    }

    @Test func `the garbage collector is stopped while a Lua state loads and runs afterwards`() throws {
        let state = try LuaState()
        let source = """
            local weak = setmetatable({ {} }, { __mode = "v" })
            for i = 1, ... do local garbage = { i } end
            return weak[1] == nil
            """
        func isCollected(_ count: Int) throws -> Bool { try state.load(source)(count) }
        #expect(try state.loading { try isCollected(10_000) } == false)
        #expect(try isCollected(100_000) == true)
        // A failure in `loading` restarts the collector, too.
        #expect(throws: LuaError.self) { try state.loading { try state.run("error('stop')") } }
        #expect(try isCollected(100_000) == true)
        #expect(throws: LuaError.self) {
            try state.loading { state.close() }; try state.loading {}
        }
    }

    /// Allocates garbage while a text of the given size is alive. Returns the maximum memory in use, in kilobytes.
    private static let maximumUse = """
        local size = ...
        local live, most = ("x"):rep(size), 0
        for i = 1, 400000 do
          local garbage = { i }
          if i % 100 == 0 then most = math.max(most, collectgarbage("count")) end
        end
        return most
        """

    @Test(arguments: [
        (0, 0, 3_600...4_700), (3 << 20, 0, 5_600...8_000), (0, 32 << 20, 1_800...2_500), (0, 8 << 20, 400...1_200),
    ])
    func `garbage is collected when the memory has doubled, but not before 4 MB or a sixteenth of the limit`(
        live: Int, limit: Int, expected: ClosedRange<Int>
    ) throws {
        let state = try LuaState(limits: LuaLimits(memoryInBytes: limit == 0 ? nil : limit))
        let most: Double = try state.load(Self.maximumUse)(live)
        #expect(expected.contains(Int(most)), "\(most)")
    }

    @Test func `a pause that a script sets for the garbage collector is kept`() throws {
        let state = try LuaState(libraries: .trusted)
        try state.run("collectgarbage('setpause', 320) collectgarbage()")
        let most: Double = try state.load(Self.maximumUse)(0)
        #expect(most < 3_000, "\(most)")
        #expect(try state.evaluate("return collectgarbage('setpause', 200)") == 320)
    }

    @Test func `a chunk with an environment sees only the environment`() throws {
        let state = try LuaState()
        let environment = try state.makeTable()
        try environment.set("x", 3)
        let chunk = try state.load("y = x return x, print", environment: environment)
        #expect(try chunk.call([]) == [3, .nil])
        #expect(try environment.get("y") == 3)
        #expect(try state.globals.get("y") == .nil)
    }

    @Test(arguments: [
        "#!/usr/bin/env perilune\nreturn ...", "\u{FEFF}return ...", "\u{FEFF}#!x\nreturn ...", "# only\nreturn ...",
    ])
    func `a leading line with a hash and a byte order mark are skipped`(source: String) throws {
        let state = try LuaState()
        #expect(try state.load(source).call([1]) == [1])
    }

    @Test func `line numbers include the skipped first line`() throws {
        #expect(try failure(of: "#!/usr/bin/env perilune\nerror('x')", in: LuaState()).line == 2)
    }

    @Test(arguments: ["", "#", "#!", "\n", "-- nothing", "\0"])
    func `source text without code runs or is a syntax error`(source: String) throws {
        let state = try LuaState()
        do {
            #expect(try state.run(source).isEmpty)
        } catch {
            #expect(error.code == .syntax)
            #expect(source == "\0")
        }
    }

    @Test func `errors show the name of a chunk, even an unusual one`() throws {
        let state = try LuaState()
        for name in ["a b.lua", "grüße.lua", "C:/x.lua", "=x", "@x", "", String(repeating: "long/", count: 30) + "x.lua"] {
            let error = #expect(throws: LuaError.self) { try state.run("error('broken')", named: name) }
            #expect(error?.message == "broken", "\(name)")
            #expect(error?.line == 1, "\(name)")
        }
    }

    @Test func `collecting garbage frees memory`() throws {
        let state = try LuaState()
        try state.run("t = {} for i = 1, 100000 do t[i] = {} end")
        let before = state.memoryInBytes
        try state.run("t = nil")
        state.collectGarbage()
        #expect(state.memoryInBytes < before / 2)
    }

    @Test func `a closed Lua state uses no memory and cannot be cancelled`() throws {
        let state = try LuaState()
        let cancellation = state.cancellation
        state.close()
        cancellation.cancel()
        state.listen(for: 12)
        #expect(state.memoryInBytes == 0)
    }

    // MARK: - os.exit

    @Test(arguments: [("", 0), ("true", 0), ("false", 1), ("3", 3), ("-1", -1), ("1 << 40", 0)] as [(String, Int64)])
    func `os.exit ends the run with its status, not the process`(argument: String, status: Int64) throws {
        let state = try LuaState(libraries: .trusted)
        let error = try failure(of: "os.exit(\(argument))", in: state)
        #expect(error.code == .exit)
        #expect(error.fields["status"] == .integer(status))
        #expect(try state.evaluate("return 1") == 1)
    }

    @Test(arguments: [
        "pcall(os.exit, 2) while true do end",
        "while true do pcall(os.exit, 2) end",
        "pcall(pcall, pcall, os.exit, 2) while true do end",
        "xpcall(os.exit, function(e) return e end, 2) while true do end",
        "local c = coroutine.create(function() os.exit(2) end) coroutine.resume(c) while true do end",
        "local c = coroutine.wrap(function() pcall(os.exit, 2) while true do end end) pcall(c) while true do end",
        "do local c <close> = setmetatable({}, {__close = function() os.exit(2) end}) end while true do end",
        "table.sort({3, 2, 1}, function() os.exit(2) end) while true do end",
        "pcall(string.gsub, 'x', 'x', function() os.exit(2) end) while true do end",
    ])
    func `no script continues after os.exit, with or without limits`(source: String) throws {
        for limits in [LuaLimits.none, LuaLimits(isCancellable: true)] {
            let state = try LuaState(libraries: .trusted, limits: limits)
            let error = try failure(of: source, in: state)
            #expect(error.code == .exit)
            #expect(error.fields["status"] == .integer(2))
            #expect(try state.evaluate("local n = 0 for i = 1, 100000 do n = n + 1 end return n") == 100_000)
        }
    }

    @Test func `os.exit with an invalid status is an argument error`() throws {
        let error = try failure(of: "os.exit('now')", in: LuaState(libraries: .trusted))
        #expect(error.message == "os.exit: argument 1: expected an integer or a boolean, got the string \"now\"")
    }
}
