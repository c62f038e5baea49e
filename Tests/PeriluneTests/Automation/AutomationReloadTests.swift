import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestTools
import Synchronization
import Testing

/// Work that a file of automations has started ends only when another version replaces the file.
@Suite struct AutomationReloadTests {
    /// Everything that a version of a file can start, by the kind of callback. Each calls `say`.
    private static let ways = [
        "a repeated timer": "perilune.every('1s', say)",
        "a timer": "perilune.after('1000s', say)",
        "a schedule": "perilune.schedule('* * * * *', say)",
        "an observation": "db:observe(function(db) return db:fetch_value('SELECT max(id) FROM t') end, say)",
        "an iterator over values": """
        local values = db:observe(function(db) return db:fetch_value('SELECT max(id) FROM t') end)
        perilune.spawn(function() for _ in values:values() do say() end end)
        """,
        "an observer of changes": "db:observe_transactions{ on_change = say }",
        "an observer of commits": "db:observe_transactions{ did_commit = say }",
        "an observer that may refuse": "db:observe_transactions{ will_commit = say }",
        "a call after the next transaction":
            "local function again() say() db:after_next_transaction(again) end db:after_next_transaction(again)",
        "a task": "perilune.spawn(function() while true do perilune.sleep('1s') say() end end)",
        "a task that will not end": "perilune.spawn(function() while true do pcall(perilune.sleep, '1s') say() end end)",
        "a handler of signals": "perilune.on_signal('HUP', say)",
        "a handler of errors": "perilune.on_error(say) perilune.every('1s', error)",
        "an automation on an event": "perilune.automation{ name = 'x', on = { event = 'poke' }, run = say }",
        "an automation on a schedule": "perilune.automation{ name = 'x', on = { every = '1s' }, run = say }",
        "an automation on a change": "perilune.automation{ name = 'x', on = { change = 't' }, run = say }",
        "a run of an automation": """
        local x = perilune.automation{ name = 'x', on = { event = 'never' }, run = function() while true do perilune.sleep('1s') say() end end }
        perilune.after('1s', function() x:run() end)
        """,
        "an automation that is tried again": """
        local x = perilune.automation{ name = 'x', on = { event = 'poke' }, retry = { times = 1000, wait = '1s', factor = 1 },
          run = function() say() error('again') end }
        """,
        "an automation that a timer defines":
            "perilune.after('1s', function() perilune.automation{ name = 'x', on = { event = 'poke' }, run = say } end)",
        "what a callback starts":
            "perilune.after('1s', function() perilune.after('1s', function() perilune.every('1s', say) end) end)",
        "what an automation starts":
            "perilune.automation{ name = 'x', on = { event = 'poke' }, run = function() perilune.every('1s', say) end }",
    ]

    private static let preparation = """
        db:execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        said = {}
        function poke()
          perilune.sleep("10s")
          perilune.emit("poke")
          perilune.sleep("200s")
          db:execute("INSERT INTO t DEFAULT VALUES")
          perilune.sleep("1200s")
        end
        function take()
          local versions = {}
          for version in pairs(said) do versions[#versions + 1] = version end
          table.sort(versions)
          said = {}
          return table.concat(versions, " ")
        end
        """

    private struct Program {
        let host: ScriptHost
        let folder: String
        let way: String

        init(_ way: String, _ place: ScriptPlace, in folder: String) async throws {
            (self.way, self.folder) = (way, folder)
            var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
            configuration.signals = ["HUP"]
            configuration.callbackErrors = .handle { _ in }
            host = try await ScriptHost(configuration)
            try await host.run(source: AutomationReloadTests.preparation)
        }

        /// Loads a version. Work that ends with the load may clean up.
        func load(_ version: String, and last: String = "", isLive: Bool = true) async throws {
            let file = "\(folder)/automations.lua"
            try Data("local function say() said['\(version)'] = true end \(way) \(last)".utf8).write(to: URL(filePath: file))
            try await host.loadAutomations(file: file, isLive: isLive)
            try await host.run(source: "perilune.sleep('1ms') said = {}")
        }

        /// Returns the versions that have called `say` since the load, after everything that they wait for has happened.
        func versions() async throws -> String {
            try await host.run(source: "poke()")
            _ = host.deliver(signal: "HUP")
            try await host.run(source: "perilune.sleep('1s')")
            return try await host.call("take")
        }
    }

    @Test(arguments: ways.keys.sorted(), ScriptPlace.allCases)
    func `reloading automations ends everything that the previous version started`(way: String, _ place: ScriptPlace) async throws
    {
        try await withTemporaryFolder { folder in
            let program = try await Program(Self.ways[way]!, place, in: folder)
            try await program.load("first")
            #expect(try await program.versions() == "first")
            try await program.load("second")
            #expect(try await program.versions() == "second")
            await program.host.endCallbacks()
        }
    }

    @Test(arguments: ways.keys.sorted(), ScriptPlace.allCases)
    func `a version that fails to load has no effect, and the previous version keeps running`(
        way: String, _ place: ScriptPlace
    ) async throws {
        try await withTemporaryFolder { folder in
            let program = try await Program(Self.ways[way]!, place, in: folder)
            try await program.load("first")
            for (version, end) in [("second", "error('no')"), ("third", "perilune.automation{ name = 'y' }"), ("fourth", "end")] {
                await #expect(throws: LuaError.self) { try await program.load(version, and: end) }
            }
            #expect(try await program.versions() == "first")
            await program.host.endCallbacks()
        }
    }

    @Test(arguments: ScriptPlace.allCases)
    func `a host without observers is idle as soon as its automations have stopped`(_ place: ScriptPlace) async throws {
        try await withTemporaryFolder { folder in
            let host = try await ScriptHost(place.configuration(ScriptHost.Configuration(database: .inMemory())))
            try await host.run(source: "db:execute('CREATE TABLE t (a)')")
            let file = "\(folder)/automations.lua"
            try Self.write(
                """
                perilune.automation{
                  name = "x", on = { event = "poke" }, run = function() perilune.sleep(0) db:execute("DELETE FROM t") end,
                }
                perilune.every("1ms", function() perilune.sleep(0.001) end)
                """, to: file)
            for attempt in 1...50 {
                try await host.loadAutomations(file: file)
                try await host.run(source: "db:execute('INSERT INTO t VALUES (1)') perilune.emit('poke')")
                if attempt % 2 == 0 { _ = try await host.runAutomation("x") }
                try await host.stopAutomations()
                #expect(await host.isIdle, "attempt \(attempt)")
            }
        }
    }

    @Test(arguments: ScriptPlace.allCases)
    func `listing the automations of a file leaves nothing behind`(_ place: ScriptPlace) async throws {
        try await withTemporaryFolder { folder in
            let program = try await Program(
                "perilune.every('1s', say) perilune.automation{ name = 'x', on = { event = 'poke' }, run = say }", place,
                in: folder)
            try await program.load("it", isLive: false)
            #expect(await program.host.isIdle)
            #expect(try await program.versions() == "")
            #expect(try await program.host.runAutomation("x").outcome == .succeeded)
            #expect(try await program.host.call("take") == "it")
        }
    }

    @Test func `modules are reloaded with the automation file, or kept if it fails to load`() async throws {
        try await withTemporaryFolder { folder in
            var configuration = ScriptHost.Configuration(database: .inMemory())
            configuration.moduleFolder = folder
            let host = try await ScriptHost(configuration)
            let file = "\(folder)/automations.lua", module = "\(folder)/words.lua"
            func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }
            try write("words = require('words') function word() return words.word .. require('words').word end", to: file)
            try write("return { word = 'a' }", to: module)
            try await host.loadAutomations(file: file)
            try write("return { word = 'b' }", to: module)
            #expect(try await host.call("word") == "aa")
            try await host.loadAutomations(file: file)
            #expect(try await host.call("word") == "bb")
            #expect(try await host.automationModulePaths().contains(module))
            try write("return { word = 'c' }", to: module)
            try write("require('words') error('no')", to: file)
            await #expect(throws: LuaError.self) { try await host.loadAutomations(file: file) }
            #expect(try await host.call("word") == "bb")
        }
    }

    private static func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    @Test func `a new version starts without the globals and the memory of the previous one`() async throws {
        try await withTemporaryFolder { folder in
            var configuration = ScriptHost.Configuration(database: .inMemory())
            configuration.limits = LuaLimits(memoryInBytes: 16 << 20)
            let host = try await ScriptHost(configuration)
            try await host.run(source: "base = 1 function add(n) base = base + n return base end")
            let file = "\(folder)/automations.lua"
            let version = """
                assert(cache == nil and _G.cache == nil and print and _G._G == _G and load("return cache")() == nil)
                cache = ("x"):rep(6 << 20)
                load("loaded = 1")()
                base = base + 10
                function size() return #cache end
                """
            for count in 1...6 {
                try Self.write(version, to: file)
                try await host.loadAutomations(file: file)
                #expect(try await host.call("size") == 6 << 20)
                // Globals that scripts have set earlier are kept and shared.
                #expect(try await host.call("add", 1) == 1 + 11 * count)
            }
            try Self.write("cache = 1 error('no')", to: file)
            await #expect(throws: LuaError.self) { try await host.loadAutomations(file: file) }
            #expect(try await host.call("size") == 6 << 20)
            try Self.write("assert(loaded == nil)", to: file)
            try await host.loadAutomations(file: file)
            #expect(try await host.defines("size") == false)
            try await host.run(source: "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(10000) .. i end")
        }
    }

    @Test(arguments: [true, false]) func `the automations of a file run in one host at a time`(inMemory: Bool) async throws {
        try await withTemporaryFolder { folder in
            let file = "\(folder)/automations.lua"
            try Self.write("perilune.automation{ name = 'x', on = { every = '1h' }, run = function() end }", to: file)
            let database = try inMemory ? DatabaseQueue() : DatabaseQueue(path: "\(folder)/shop.sqlite")
            func makeHost() async throws -> ScriptHost { try await ScriptHost(database: .existing(database)) }
            let first = try await makeHost(), second = try await makeHost()
            try await first.loadAutomations(file: file)
            try await first.loadAutomations(file: file)
            // A refused host must not release the claim.
            for _ in 0..<2 {
                let error = await #expect(throws: LuaError.self) { try await second.loadAutomations(file: file) }
                #expect(error?.kind == "already_running")
                #expect(error?.message.contains("are already running on") == true)
            }
            // Listed automations and those from another file or database do not conflict.
            try await second.loadAutomations(file: file, isLive: false)
            try Self.write(
                "perilune.automation{ name = 'y', on = { every = '1h' }, run = function() end }", to: "\(folder)/other.lua")
            try await second.loadAutomations(file: "\(folder)/other.lua")
            let third = try await ScriptHost(database: .inMemory())
            try await third.loadAutomations(file: file)
            try await first.stopAutomations()
            try await second.loadAutomations(file: file)
            for host in [second, third] { try await host.stopAutomations() }
        }
    }

    @Test func `a failing automation is reported like a failing timer`() async throws {
        try await withTemporaryFolder { folder in
            let errors = Mutex<[String]>([])
            var configuration = ScriptHost.Configuration(database: .inMemory())
            configuration.callbackErrors = .handle { error in errors.withLock { $0.append(error.message) } }
            let host = try await ScriptHost(configuration)
            let file = "\(folder)/automations.lua"
            let automation = "perilune.automation{ name = 'x', on = { event = 'e' }, run = function() error('broken') end }"
            try Self.write(automation, to: file)
            try await host.loadAutomations(file: file)
            try await host.run(source: "perilune.emit('e')")
            #expect(await eventually { errors.withLock { $0 } == ["broken"] })
            // The error of a manual run is thrown and not reported elsewhere.
            await #expect(throws: LuaError.self) { try await host.runAutomation("x") }
            try Self.write(
                "heard = {} perilune.on_error(function(e) heard[#heard + 1] = tostring(e):match(\"broken\") end) " + automation,
                to: file)
            try await host.loadAutomations(file: file)
            try await host.run(source: "perilune.emit('e')")
            #expect(
                await eventually {
                    let heard: [String]? = try? await host.run(source: "return heard")
                    return heard == ["broken"]
                })
            #expect(errors.withLock { $0 } == ["broken"])
            try await host.stopAutomations()
        }
    }
}
