import Foundation
import GRDB
import Perilune
import PeriluneLua
import PeriluneTestSupport
import PeriluneTestTools
import Synchronization
import Testing

struct Refused: Error, Equatable {
    let reason: String
}

@Suite(.defaultDatabase())
struct ModuleTests {
    @Test(arguments: ScriptPlace.allCases) func `functions with any signature can be offered to scripts`(_ place: ScriptPlace)
        async throws
    {
        let sent = Mutex<[String]>([])
        let host = try await place.host()
        try await host.register(module: "mail") { mail in
            mail.function("send", "Queues a letter.") { (to: String, body: String) async throws in
                await Task.yield()
                sent.withLock { $0.append("\(to): \(body)") }
            }
            mail.function("count") { () -> Int in sent.withLock { $0.count } }
            mail.function("add") { (a: Int, b: Double?, rest: [Int]) -> Double in Double(a + rest.reduce(0, +)) + (b ?? 0) }
            mail.function("month") { (month: Month) -> Month in Month(month.year + 1, month.month) }
            mail.function("later") { (date: Date) async -> Date in date + 60 }
            mail.function("note") { (text: String) in sent.withLock { $0.append(text) } }
            // example
            mail.function(variadic: "join") { (parts: [String]) in parts.joined(separator: "+") }
            // end
            mail.function(variadic: "log") { (parts: [String]) in sent.withLock { $0 += parts } }
            mail.function(variadic: "total") { (parts: [Int]) async throws -> Int in
                await Task.yield()
                return parts.reduce(0, +)
            }
            mail.function(variadic: "store") { (parts: [String]) async in
                await Task.yield()
                sent.withLock { $0 += parts }
            }
        }
        try await host.run(
            source: """
                local mail = require "mail"
                assert(mail == require "mail")
                mail.send("ada", "hello")
                mail.note("x")
                assert(mail.count() == 2)
                assert(mail.add(1, nil, { 2, 3 }) == 6.0 and mail.add(1, 0.5, {}) == 1.5)
                local month = mail.month{ year = 2025, month = 3 }
                assert(month.year == 2026 and month.month == 3)
                assert(tostring(mail.later(perilune.date("2026-03-01 12:00"))) == "2026-03-01 12:01:00.000")
                assert(mail.join("a", "b", "c") == "a+b+c" and mail.join() == "")
                assert(mail.total(1, 2, 3) == 6 and mail.total() == 0)
                assert(select("#", mail.log("y", "z")) == 0 and select("#", mail.store("s")) == 0)
                """)
        #expect(sent.withLock { $0 } == ["ada: hello", "x", "y", "z", "s"])
    }

    @Test(arguments: ScriptPlace.allCases) func `mismatched arguments are errors with the function and the expected type`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await place.host()
        try await host.register(module: "m") { m in
            m.function("small") { (value: Int8) -> Int8 in value }
            m.function("month") { (month: Month) in }
            m.function("slow") { (text: String) async in }
            m.function("huge") { () -> UInt64 in .max }
            m.function("hole") { () -> [Int?] in [nil] }
            m.function("nan") { () -> Double in .nan }
            m.function(variadic: "all") { (values: [Int]) -> [UInt64] in values.isEmpty ? [.max] : [] }
            m.function(variadic: "later") { (values: [Int]) async in }
        }
        for (call, kind, message) in [
            ("small(128)", "argument", "m.small: argument 1: expected an integer from -128 to 127, got 128"),
            ("small()", "argument", "m.small: argument 1: expected an integer, got nil"),
            ("small(1.5)", "argument", "m.small: argument 1: expected an integer from -128 to 127, got 1.5"),
            ("small('1')", "argument", "m.small: argument 1: expected an integer, got the string \"1\""),
            ("month{ year = 1 }", "argument", "m.month: argument 1: month: expected an integer, got nil"),
            ("slow(1)", "argument", "m.slow: argument 1: expected a string, got the integer 1"),
            ("huge()", "conversion", "m.huge: the result: 18446744073709551615 is out of range for an integer in Lua"),
            ("hole()", "conversion", "m.hole: the result: [1]: nil cannot be an element of a list in Lua"),
            ("all(1, 'x')", "argument", "m.all: argument 2: expected an integer, got the string \"x\""),
            ("later(1, 'x')", "argument", "m.later: argument 2: expected an integer, got the string \"x\""),
            ("all()", "conversion", "m.all: the result: [1]: 18446744073709551615 is out of range for an integer in Lua"),
        ] {
            let error = await #expect(throws: LuaError.self) { try await host.run(source: "require('m').\(call)") }
            #expect(error?.kind?.rawValue == kind, "\(call)")
            #expect(error?.message == message, "\(call)")
            #expect(error?.line == 1)
        }
        try await host.run(source: "local n = require('m').nan() assert(n ~= n)")
    }

    @Test(arguments: ScriptPlace.allCases) func `a script can catch the error of a function, and Swift receives it unchanged`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await place.host()
        try await host.register(module: "m") { m in
            m.function("sync") { () throws -> Int in throw Refused(reason: "sync") }
            m.function("async") { () async throws -> Int in throw Refused(reason: "async") }
        }
        for name in ["sync", "async"] {
            try await host.run(source: "local ok, e = pcall(require('m').\(name)) assert(not ok and e.kind == 'host')")
            let error = await #expect(throws: LuaError.self) {
                try await host.run(source: "\nrequire('m').\(name)()", named: "f.lua")
            }
            #expect(error?.code == .host)
            #expect(error?.underlying as? Refused == Refused(reason: name))
            #expect(error?.line == 2)
            #expect(error?.traceback?.contains("f.lua:2") == true)
        }
    }

    @Test(.patience, arguments: ScriptPlace.allCases)
    func `a function that never returns is ended at the deadline and when it is cancelled`(_ place: ScriptPlace) async throws {
        var configuration = ScriptHost.Configuration()
        configuration.limits.time = .milliseconds(200)
        let host = try await place.host(configuration)
        let began = Mutex(0), wasCancelled = Mutex(0)
        try await host.register(module: "m") { m in
            m.function("forever") { () async in
                began.withLock { $0 += 1 }
                await withTaskCancellationHandler {
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                } onCancel: {
                    wasCancelled.withLock { $0 += 1 }
                }
            }
        }
        let error = await #expect(throws: LuaError.self) {
            try await host.run(source: "pcall(require('m').forever) while true do pcall(require('m').forever) end")
        }
        #expect(error?.code == .timeout)
        // On a busy machine, the time may be over before the function begins.
        #expect(await eventually { wasCancelled.withLock { $0 } == began.withLock { $0 } })
        // The host stays usable.
        await host.limitTime(to: .seconds(600))
        let seven: Int = try await host.run(source: "return 7")
        #expect(seven == 7)

        let patient = try await place.host(), calls = Tally()
        try await patient.register(module: "m") { m in
            m.function("forever") { () async in
                calls.add()
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
        for cancel in [{ $0.cancel() }, { _ in patient.cancel() }] as [@Sendable (Task<Void, any Error>) -> Void] {
            let count = calls.count
            let run = Task { try await patient.run(source: "pcall(require('m').forever) error('went on')") }
            await calls.wait(for: count + 1)
            cancel(run)
            let error = await #expect(throws: (any Error).self) { try await run.value }
            #expect(run.isCancelled ? error is CancellationError : (error as? LuaError)?.code == .cancelled)
        }
        let eight: Int = try await patient.run(source: "return 8")
        #expect(eight == 8)
    }

    @Test(arguments: ScriptPlace.allCases) func `asynchronous functions are refused if Lua cannot wait`(_ place: ScriptPlace)
        async throws
    {
        let host = try await place.host()
        try await host.register(module: "m") { m in m.function("wait") { () async in } }
        let error = await #expect(throws: LuaError.self) {
            try await host.run(source: "db:write(function(db) require('m').wait() end)")
        }
        #expect(error?.kind == "yield")
        #expect(
            error?.message.contains("wait: an asynchronous function cannot be called inside `write`") == true,
            "\(error?.message ?? "")")
    }

    @Test(arguments: ScriptPlace.allCases) func `a module function may run scripts in its host`(_ place: ScriptPlace) async throws
    {
        let host = try await place.host()
        try await host.register(module: "m") { m in
            m.function("twice") { (n: Int) async throws -> Int in try await host.call("double", n) }
        }
        let result: Int = try await host.run(source: "function double(n) return 2 * n end return require('m').twice(21)")
        #expect(result == 42)
    }

    @Test(arguments: ScriptPlace.allCases) func `a task that a module function has started waits for its turn`(
        _ place: ScriptPlace
    )
        async throws
    {
        let host = try await place.host()
        let entered = AsyncStream.makeStream(of: Void.self), seen = AsyncStream.makeStream(of: Bool.self)
        let leave = AsyncStream.makeStream(of: Void.self)
        try await host.register(module: "m") { m in
            m.function("later") { () async -> Void in
                Task {
                    await entered.stream.first { _ in true }
                    async let isInside: Bool = host.run(source: "return inside")
                    // The task waits while the run continues.
                    for _ in 0..<200 { await Task.yield() }
                    leave.continuation.yield()
                    seen.continuation.yield(try await isInside)
                }
            }
            m.function("wait") { () async -> Void in
                entered.continuation.yield()
                await leave.stream.first { _ in true }
            }
        }
        try await host.run(source: "require('m').later()")
        try await host.run(source: "inside = true require('m').wait() inside = false")
        #expect(await seen.stream.first { _ in true } == false)
    }

    @Test func `scripts can hold Swift objects`() async throws {
        let host = try await ScriptHost()
        try await host.register(module: "mail") { mail in
            mail.function("letter") { (to: String) -> Letter in Letter(to: to) }
            mail.function("read") { (letter: Letter) -> String in letter.to }
            mail.function("all") { () async -> [Letter] in [Letter(to: "a"), Letter(to: "b")] }
        }
        let letter: Letter = try await host.run(
            source: """
                local mail = require "mail"
                local letter = mail.letter("ada")
                assert(letter.to == "ada" and letter:copies(3) == "adaadaada" and mail.read(letter) == "ada")
                letter:burn()
                assert(not pcall(letter.copies, letter, "x") and not pcall(mail.read, "ada"))
                assert(not pcall(function() return letter.nothing end))
                assert(mail.all()[2].to == "b")
                return letter
                """)
        #expect(letter.to == "ada")
        #expect(letter.isBurnt.withLock { $0 })
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "require('mail').read(1)") }
        #expect(error?.message == "mail.read: argument 1: expected letter, got the integer 1")
    }

    @Test(arguments: ScriptPlace.allCases) func `modules are searched in folders, bundles and closures, in this order`(
        _ place: ScriptPlace
    ) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: "\(folder)/shop", withIntermediateDirectories: true)
            try "return 'file'".write(toFile: "\(folder)/shop/orders.lua", atomically: true, encoding: .utf8)
            try "return 'init ' .. ...".write(toFile: "\(folder)/shop/init.lua", atomically: true, encoding: .utf8)
            try "return 'secret'".write(toFile: "\(folder)/../secret.lua", atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: "\(folder)/../secret.lua") }
            let bundle = try #require(Bundle(path: folder))
            for source in [ModuleSource.folder(folder), .bundle(bundle)] {
                var configuration = ScriptHost.Configuration()
                configuration.moduleSources = [source, .lookup { $0 == "virtual" ? "error('in it')" : nil }]
                let host = try await place.host(configuration)
                try await host.register(module: "native") { $0.function("f") { 1 } }
                try await host.run(
                    source: """
                        assert(require "shop.orders" == "file" and require "shop" == "init shop" and require "native".f() == 1)
                        for _, name in ipairs{ "..secret", "../secret", "shop/orders", "none", "" } do
                          assert(not pcall(require, name), name)
                        end
                        """)
                let error = await #expect(throws: LuaError.self) { try await host.run(source: "require 'virtual'") }
                #expect(error?.file == "virtual")
                let missing = await #expect(throws: LuaError.self) { try await host.run(source: "require 'none'") }
                #expect(missing?.kind == "module_not_found")
            }
        }
    }

    @Test(arguments: ScriptPlace.allCases)
    func `a module folder provides regular files, but no links out of the folder, subfolders or pipes`(_ place: ScriptPlace)
        async throws
    {
        try await withTemporaryFolder { root in
            let files = FileManager.default, folder = root + "/modules"
            try files.createDirectory(atPath: folder + "/folder.lua", withIntermediateDirectories: true)
            try "return 'secret'".write(toFile: root + "/secret.lua", atomically: true, encoding: .utf8)
            try "return 'own'".write(toFile: folder + "/own.lua", atomically: true, encoding: .utf8)
            try files.createSymbolicLink(atPath: folder + "/inside.lua", withDestinationPath: "own.lua")
            try files.createSymbolicLink(atPath: folder + "/outside.lua", withDestinationPath: root + "/secret.lua")
            try files.createSymbolicLink(atPath: folder + "/above", withDestinationPath: root)
            #expect(mkfifo(folder + "/pipe.lua", 0o600) == 0)
            // The folder itself may be a symbolic link.
            try files.createSymbolicLink(atPath: root + "/link", withDestinationPath: folder)
            var configuration = ScriptHost.Configuration(database: .inMemory())
            configuration.moduleSources = [.folder(root + "/link")]
            let host = try await place.host(configuration)
            try await host.run(
                source: """
                    assert(require "own" == "own" and require "inside" == "own")
                    for _, name in ipairs{ "outside", "above.secret", "folder", "pipe" } do
                      local ok, failure = pcall(require, name)
                      assert(not ok and failure.kind == "module_not_found", name)
                    end
                    """)
        }
    }

    @Test func `external effects are recorded instead of performed in a preview, and elsewhere on request`() async throws {
        let done = Mutex(0)
        let records = LogRecords()
        @Sendable func define(_ mail: ScriptModule) {
            mail.function("send", effect: .external) { (to: String) async -> Int in
                done.withLock { $0 += 1 }
                return 1
            }
            mail.function("read") { () -> String in "read" }
        }
        let source = "local mail = require 'mail' mail.send('a') assert(mail.read() == 'read') mail.send('x')"
        try await DependencyContainer.inProcess(.preview) {
            try await DependencyContainer.prepare {
                $0.defaultDatabase = .inMemory()
                $0.logger = records.logger
            }
            let host = try await ScriptHost()
            try await host.register(module: "mail") { define($0) }
            try await host.run(source: source)
        }
        #expect(done.withLock { $0 } == 0)
        #expect(
            records.lines == [
                "notice not performed in a preview: mail.send(\"a\")", "notice not performed in a preview: mail.send(\"x\")",
            ])
        let host = try await ScriptHost()
        try await host.register(module: "mail") { define($0) }
        try await host.run(source: "require('mail').send('x')")
        #expect(done.withLock { $0 } == 1)
    }

    /// Creates a host with a module `mail` whose effects are recorded. Performing an effect records an issue.
    private func recordingHost(_ recorder: EffectRecorder) async throws -> ScriptHost {
        var configuration = ScriptHost.Configuration(database: .inMemory())
        configuration.effectRecorder = recorder
        let host = try ScriptHost(standalone: configuration)
        try await host.register(module: "mail") { mail in
            mail.function("send", effect: .external) { (to: String, copies: Int?) async throws -> [String: Int] in
                Issue.record("sent")
                return [:]
            }
            mail.function("post", effect: .external) { (to: String) -> Int in
                Issue.record("posted")
                return 1
            } preview: { to in
                to.count
            }
            mail.function("wait", effect: .external) { (to: String) async -> String in
                Issue.record("waited")
                return ""
            } preview: { to in
                if to == "nobody" { throw PreviewFailure() }
                return "would write to \(to)"
            }
            mail.function("ping", effect: .external) { (to: String) in _ = Issue.record("pinged") }
            mail.function(variadic: "all", effect: .external) { (names: [String]) -> Int in
                Issue.record("all")
                return 0
            } preview: {
                $0.count
            }
            mail.function(variadic: "print", effect: .external) { (names: [String]) in _ = Issue.record("printed") }
            mail.function(variadic: "fax", effect: .external) { (names: [String]) async in _ = Issue.record("faxed") }
            mail.function(variadic: "total", effect: .external) { (numbers: [Int]) async -> Int in
                Issue.record("total")
                return 0
            } preview: {
                $0.reduce(0, +)
            }
        }
        return host
    }

    private struct PreviewFailure: LocalizedError {
        var errorDescription: String? { "there is nobody" }
    }

    @Test func `in a preview, functions with external effects return the results of their preview closures`() async throws {
        let recorder = EffectRecorder()
        let host = try await recordingHost(recorder)
        try await host.run(
            source: """
                local mail = require "mail"
                assert(mail.post("ada") == 3)
                assert(mail.wait("ada") == "would write to ada")
                assert(mail.all("a", "b") == 2)
                assert(select("#", mail.ping("x")) == 0)
                assert(select("#", mail.print("x", "y")) == 0 and select("#", mail.fax("z")) == 0)
                assert(mail.total(1, 2) == 3)
                local ok, failure = pcall(mail.wait, "nobody")
                assert(not ok and tostring(failure):find("there is nobody", 1, true))
                """)
        let names = ["post", "wait", "all", "ping", "print", "fax", "total", "wait"]
        #expect(recorder.effects.map(\.name) == names.map { "mail." + $0 })
        #expect(recorder.effects.first?.arguments == ["\"ada\""])
    }

    @Test func `in a preview, arguments and contexts are checked as in live, and refused calls are not recorded`() async throws {
        let recorder = EffectRecorder()
        let host = try await recordingHost(recorder)
        try await host.run(
            source: """
                local mail = require "mail"
                local function fails(kind, text, f, ...)
                  local ok, failure = pcall(f, ...)
                  assert(not ok, "expected a failure")
                  assert(failure.kind == kind, failure.kind)
                  assert(tostring(failure):find(text, 1, true), tostring(failure))
                end
                fails("argument", "mail.send: argument 1: expected a string, got a table", mail.send, {})
                fails("argument", 'mail.send: argument 2: expected an integer, got the string "b"', mail.send, "a", "b")
                fails("argument", "mail.post: argument 1: expected a string, got nil", mail.post)
                fails("argument", "mail.ping: argument 1: expected a string, got nil", mail.ping)
                fails("argument", "mail.all: argument 2: expected a string, got a table", mail.all, "a", {})
                db:write(function() fails("yield", "", mail.send, "a") end)
                """)
        #expect(recorder.effects.isEmpty)
    }

    @Test func `using a result that a preview lacks is an error with advice`() async throws {
        let recorder = EffectRecorder()
        let host = try await recordingHost(recorder)
        for use in [
            "result.id", "result + 1", "1 - result", "result .. ''", "#result", "result()", "tostring(result)", "-result",
            "result < 1",
            "result[1]", "(function() result.x = 1 end)()", "(function() for _ in pairs(result) do end end)()",
        ] {
            let error = await #expect(throws: LuaError.self) {
                try await host.run(source: "local result = require('mail').send('a')\nlocal x = \(use)")
            }
            #expect(error?.kind == "preview", "\(use): \(String(describing: error))")
            #expect(
                error?.message.hasSuffix(
                    "mail.send has no result in a preview, where it is not called; register it with `preview: { ... }` to give it one"
                )
                    == true, "\(use): \(String(describing: error))")
        }
        let bound = await #expect(throws: LuaError.self) {
            try await host.run(source: "db:fetch_value('SELECT ?', require('mail').send('a'))")
        }
        #expect(
            bound?.message.contains("the result of mail.send, which is not called in a preview") == true,
            "\(String(describing: bound))")
        // The result may be stored and discarded.
        try await host.run(source: "local result = require('mail').send('a') local list = { result }")
    }

    @Test(arguments: ScriptPlace.allCases) func `a module that a script has required cannot be registered again`(
        _ place: ScriptPlace
    ) async throws {
        let host = try await place.host(ScriptHost.Configuration(database: .inMemory()))
        for number in 1...2 { try await host.register(module: "m") { $0.function("number") { () -> Int in number } } }
        let number: Int = try await host.run(source: "return require('m').number()")
        #expect(number == 2)
        let error = await #expect(throws: LuaError.self) {
            try await host.register(module: "m") { $0.function("number") { () -> Int in 3 } }
        }
        #expect(error?.code == .usage)
        #expect(error?.message.hasPrefix("the module `m` cannot be registered again, because a script has required it") == true)
        try await host.register(module: "n") { $0.function("number") { () -> Int in 4 } }
    }

    private final class Account: ScriptHandle {
        static let scriptName = "account"

        static func describe(_ account: ScriptObjectType<Account>) {
            account.method("total", parameters: ["a", "b"]) { (_, a: Int) in a }
        }
    }

    @Test func `closures with and without a result, with await and throw choose the fitting kind of function`() throws {
        let module = ScriptModule("m")
        module.function("value") { (a: Int) in a }
        module.function("nothing") { (a: Int) in _ = a }
        module.function("throws") { (_: Int) in throw CancellationError() }
        module.function("await") { (a: Int) in
            await Task.yield()
            return a
        }
        module.function("await_nothing") { (_: Int) async in await Task.yield() }
        #expect(module.failure == nil)
        #expect(module.functions.map { $0.result != nil } == [true, false, false, true, false])
        #expect(module.functions.map(\.isAsynchronous) == [false, false, false, true, true])
    }

    @Test func `names of parameters that do not fit the closure are reported`() async throws {
        let host = try await ScriptHost(database: .inMemory())
        let tooMany = await #expect(throws: LuaError.self) {
            try await host.register(module: "m") { $0.function("f", parameters: ["a", "b"]) { (a: Int) in a } }
        }
        #expect(tooMany?.message == "m.f: `parameters` has 2 names, but the closure has 1 parameter")
        let twice = await #expect(throws: LuaError.self) {
            try await host.register(module: "m") { $0.function("f", parameters: ["a", "a"]) { (a: Int, _: Int) in a } }
        }
        #expect(twice?.message == "m.f: `parameters` contains `a` twice")
        let method = #expect(throws: LuaError.self) { try Account.annotations() }
        #expect(method?.message == "account:total: `parameters` has 2 names, but the closure has 1 parameter")
    }

    @Test(arguments: ScriptPlace.allCases) func `a module cannot have the name of a built-in library`(_ place: ScriptPlace)
        async throws
    {
        let host = try await place.host(ScriptHost.Configuration(database: .inMemory()))
        for name in ["string", "os", "perilune"] {
            let error = await #expect(throws: LuaError.self) { try await host.register(module: name) { _ in } }
            #expect(error?.code == .usage)
            #expect(error?.message.hasPrefix("the module `\(name)` cannot be registered: by this name scripts get the ") == true)
        }
        #expect(try await host.run(source: "return require('perilune') == perilune and require('string') == string"))
    }

    @Test func `a Swift object that is passed to Lua twice is equal to itself`() async throws {
        let host = try await ScriptHost()
        let (one, other) = (Letter(to: "a"), Letter(to: "a"))
        try await host.register(module: "mail") { mail in
            mail.function("one") { () -> Letter in one }
            mail.function("other") { () -> Letter in other }
            mail.function("price") { (euros: Int) -> Price in Price(euros: euros) }
            mail.function("mark") { () -> Mark in Mark() }
        }
        try await host.run(
            source: """
                local mail = require "mail"
                assert(mail.one() == mail.one() and not (mail.one() ~= mail.one()))
                assert(mail.one() ~= mail.other() and mail.one() ~= mail.mark() and mail.price(1) ~= mail.one())
                assert(mail.price(1) == mail.price(1) and mail.price(1) ~= mail.price(2))
                -- Without an identity and without ==, a value is equal to its own userdata only.
                local mark = mail.mark()
                assert(mark == mark and mark ~= mail.mark() and not rawequal(mail.one(), mail.one()))
                """)
    }

    @Test(arguments: ScriptPlace.allCases) func `registered modules have annotations`(_ place: ScriptPlace) async throws {
        let host = try await place.host()
        try await host.register(module: "mail", "Letters to customers.") { mail in
            mail.function("send", "Queues a letter.", parameters: ["to", "copies"], effect: .external) {
                (to: String, copies: Int?, dates: [Date], month: Month) async throws -> [String: Bool] in [:]
            }
            mail.function("letter") { (to: String) -> Letter in Letter(to: to) }
        }
        let modules = await host.registeredModules
        #expect(modules.map(\.name) == ["mail"])
        #expect(modules.first?.functions.map(\.effect) == [.external, .none])
        #expect(
            modules.first?.annotations == """
                ---@meta mail

                --- Letters to customers.
                local module = {}

                --- Queues a letter.
                ---@param to string
                ---@param copies integer?
                ---@param argument3 perilune.date[]
                ---@param argument4 table
                ---@return table<string, boolean>
                function module.send(to, copies, argument3, argument4) end

                ---@param argument1 string
                ---@return letter
                function module.letter(argument1) end

                return module

                """)
    }

    @Test func `annotations of a module with unusual names are valid Lua`() async throws {
        let host = try await ScriptHost()
        try await host.register(module: "odd") { odd in
            odd.function("and", parameters: ["end", "a b", "1st", "..."]) { (_: Int, _: Int, _: Int, _: Int) -> Int in 1 }
            odd.function("a\0\"ü") { () -> Int in 2 }
            odd.function("") { () -> Int in 3 }
        }
        let annotations = try #require(await host.registeredModules.first?.annotations)
        #expect(
            annotations.contains("---@param _end integer\n---@param a_b integer\n---@param _1st integer\n---@param ... integer"))
        #expect(annotations.contains(#"module["and"] = function(_end, a_b, _1st, ...) end"#))
        let same: Bool = try await host.run(
            source:
                "local text = ... local odd = load(text)() for k in pairs(require 'odd') do assert(odd[k], k) end return true",
            arguments: annotations)
        #expect(same)
    }

    @Test func `the description of a module error is its message`() async throws {
        struct Refusal: LocalizedError { let errorDescription: String? }
        let host = try await ScriptHost()
        try await host.register(module: "m") { m in
            m.function("pay") { () throws -> Int in throw Refusal(errorDescription: "the card is not valid any more") }
        }
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "require('m').pay()") }
        #expect(error?.message == "the card is not valid any more")
        #expect(error?.underlying is Refusal)
    }

    @Test func `hosts with registered modules are released`() async throws {
        weak var letter: Letter?
        weak var host: ScriptHost?
        do {
            let made = try await ScriptHost()
            host = made
            try await made.register(module: "mail") { $0.function("letter") { () -> Letter in Letter(to: "x") } }
            let kept: Letter = try await made.run(source: "kept = require('mail').letter() return kept")
            letter = kept
            #expect(letter != nil)
        }
        #expect(await eventually { host == nil })
        #expect(await eventually { letter == nil })
    }
}

final class Letter: ScriptHandle {
    let to: String
    let isBurnt = Mutex(false)

    init(to: String) {
        self.to = to
    }

    static let scriptName = "letter"

    static func describe(_ letter: ScriptObjectType<Letter>) {
        letter.property("to") { $0.to }
        letter.method("copies") { (letter, count: Int) in String(repeating: letter.to, count: count) }
        letter.method("burn") { (letter) in letter.isBurnt.withLock { $0 = true } }
    }
}

private struct Price: ScriptObject, Equatable {
    let euros: Int

    static let scriptName = "price"
    static func describe(_ price: ScriptObjectType<Price>) {}
}

private struct Mark: ScriptObject {
    static let scriptName = "mark"
    static func describe(_ mark: ScriptObjectType<Mark>) {}
}

/// A GRDB record that scripts hold as an object.
private struct Customer: Codable, FetchableRecord, PersistableRecord, ScriptObject, Equatable {
    var id: Int64
    var name: String

    static let scriptName = "customer"
    static func describe(_ customer: ScriptObjectType<Customer>) {
        customer.property("name") { $0.name }
        customer.method("greeting", effect: .none) { (customer, title: String) in "\(title) \(customer.name)" }
    }
}

/// An object with external effects.
private final class Sender: ScriptHandle {
    static let scriptName = "sender"
    let sent = Mutex<[String]>([])
    let address = Mutex("a")

    func send(_ text: String) { sent.withLock { $0.append(text) } }

    static func describe(_ sender: ScriptObjectType<Sender>) {
        sender.method("look", effect: .none) { (sender: Sender) -> Int in sender.sent.withLock(\.count) }
        sender.method("send") { (sender: Sender, text: String) in sender.send(text) }
        sender.method("post", effect: .external) { (sender: Sender, text: String) -> Int in
            sender.send(text)
            return 1
        } preview: { _, text in
            text.count
        }
        sender.method("tell", effect: .external) { (sender: Sender, text: String) async -> Int in
            await Task.yield()
            sender.send(text)
            return 2
        } preview: { _, text in
            -text.count
        }
        sender.method("drop", effect: .external) { (sender: Sender, text: String) async in sender.send(text) }
        sender.method("wait", effect: .none) { (_: Sender, n: Int) async throws -> Int in
            await Task.yield()
            return n + 1
        }
        sender.method("ask", effect: .external) { (sender: Sender) -> Int in
            sender.send("asked")
            return 3
        }
        sender.property("address") {
            $0.address.withLock { $0 }
        } set: { sender, address in
            sender.address.withLock { $0 = address }
        }
        sender.property("receipt", effect: .external) { (sender: Sender) -> Int in
            sender.send("receipt")
            return 7
        } preview: { _ in
            0
        }
    }
}

@Suite(.defaultDatabase()) struct ScriptObjectTests {
    @Test func `a GRDB record can be passed to scripts as an object`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT)")
            try Customer(id: 1, name: "Ada").insert(db)
        }
        let ada = try #require(try await queue.read { db in try Customer.fetchOne(db) })
        #expect(ada == Customer(id: 1, name: "Ada"))
        #expect(try JSONDecoder().decode(Customer.self, from: JSONEncoder().encode(ada)) == ada)
        let host = try await ScriptHost()
        let result: [String] = try await host.run(source: "local c = ... return { c.name, c:greeting('Ms') }", arguments: ada)
        #expect(result == ["Ada", "Ms Ada"])
        let back: Customer = try await host.run(source: "return (...)", arguments: ada)
        #expect(back == ada)
        #expect(throws: LuaError.self) { try JSONEncoder().encode(Letter(to: "x")) }
    }

    @Test func `methods of script objects can be asynchronous, and properties can be set`() async throws {
        let sender = Sender()
        let host = try await ScriptHost()
        let result: [Int] = try await host.run(
            source: """
                local s = ...
                s.address = "b"
                s:send("1") s:drop("2")
                assert(not pcall(function() s.address = {} end))
                assert(not pcall(s.wait, s, "x"))
                return { s:wait(1), s:post("3"), s:tell("4"), s:ask(), s.receipt, s:look() }
                """, arguments: sender)
        #expect(result == [2, 1, 2, 3, 7, 6])
        #expect(sender.address.withLock { $0 } == "b")
        let error = await #expect(throws: LuaError.self) {
            try await host.run(source: "local s = ... s.wait('x', 1)", arguments: sender)
        }
        #expect(error?.message.contains("sender:wait: expected sender, got the string \"x\"") == true)
    }

    @Test func `script objects have no external effects in a preview`() async throws {
        let sender = Sender()
        let preview = try await ScriptPreview(of: .inMemory())
        try await preview.host.register(module: "m") { $0.function("sender") { sender } }
        let result: [ScriptValue] = try await preview.host.run(
            source: """
                local s = require("m").sender()
                local results = { s:post("three"), s:tell("four"), s.receipt, s:wait(1), s:look(), s.address }
                s:drop("x")
                s:ask()
                for _, f in ipairs{ function() s:send("x") end, function() s.address = "b" end, function() return s:ask() + 1 end } do
                  local ok, err = pcall(f)
                  results[#results + 1] = not ok and err.kind
                end
                return results
                """)
        #expect(result == [5, -4, 0, 2, 0, "a", "preview", "preview", "preview"])
        #expect(sender.sent.withLock { $0 }.isEmpty && sender.address.withLock { $0 } == "a")
        let effects = preview.effects.effects.map { "\($0.name)(\($0.arguments.joined(separator: ", ")))" }
        #expect(
            effects == [
                "sender:post(\"three\")", "sender:tell(\"four\")", "sender.receipt()", "sender:drop(\"x\")", "sender:ask()",
                "sender:ask()",
            ])
    }

    @Test func `concurrent calls in a preview get separate results`() async throws {
        let sender = Sender()
        let preview = try await ScriptPreview(of: .inMemory())
        try await preview.host.register(module: "m") { $0.function("sender") { sender } }
        let result: [Int] = try await preview.host.run(
            source: """
                local s, tasks, results = require("m").sender(), {}, {}
                for i, word in ipairs{ "a", "bb", "ccc" } do tasks[i] = perilune.spawn(function() return s:tell(word) end) end
                for i, task in ipairs(tasks) do results[i] = task:wait() end
                return results
                """)
        #expect(result == [-1, -2, -3] && sender.sent.withLock { $0 }.isEmpty)
    }
}
