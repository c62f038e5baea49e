import Perilune
import PeriluneTestSupport
import Testing

/// Checking scripts without running them.
@Suite struct ScriptCheckTests {
    private static func host(_ place: ScriptPlace = .here) async throws -> ScriptHost {
        var configuration = place.configuration(ScriptHost.Configuration(database: .inMemory()))
        configuration.moduleSources = [.lookup { $0 == "shop.orders" ? "return {}" : nil }]
        let host = try await ScriptHost(configuration)
        try await host.register(module: "mail") { mail in
            mail.function("send", effect: .external) { (_: String) in }
            mail.function("count") { 0 }
        }
        try await host.register(module: "web") { web in web.function("get") { (_: String) in } }
        return host
    }

    private static func findings(_ source: String, _ place: ScriptPlace = .here, defining: [String] = []) async throws -> [String]
    {
        try await host(place).check(source: source, defining: defining).findings.map(\.description)
    }

    @Test(arguments: ScriptPlace.allCases) func `checking a valid script finds no faults and does not run it`(
        _ place: ScriptPlace
    )
        async throws
    {
        let host = try await Self.host(place)
        let check = try await host.check(
            source: """
                #!/usr/bin/env perilune
                local mail = require "mail"
                local orders <const> = require("shop.orders")
                ran = true
                local function helper(a, ...) local t = { [a] = 1, key = 2, mail.count() } return t, ... end
                function total(order)
                  for i, row in ipairs(db:fetch_all([[SELECT * FROM sale WHERE name = 'io.open']])) do helper(row, i) end
                  mail.send("done") -- pritn is fine in comments
                  goto out
                  ::out::
                  return string.format("%d", math.floor(1.5e+3)), self
                end
                shop = { total = function() return require("mail").count() end }
                x, y = 1, 2
                return x + y, _G, perilune.now()
                """, defining: ["total", "shop.total"])
        #expect(check.findings.isEmpty, "\(check.findings)")
        #expect(check.modules == ["mail", "shop.orders"])
        #expect(check.uses.map(\.function) == ["count", "send"])
        #expect(check.uses.first.map { "\($0.module).\($0.function)" } == "mail.count")
        #expect(check.uses.map(\.effect) == [.none, .external])
        #expect(try await host.run(source: "return ran == nil") == true)
    }

    @Test(arguments: ScriptPlace.allCases) func `the check finds a syntax error with its line`(_ place: ScriptPlace) async throws
    {
        let check = try await Self.host(place).check(source: "local x = 1\nlocal = 2", named: "a.lua")
        #expect(check.findings.map(\.kind) == [.syntax])
        #expect(check.findings.first?.line == 2)
        #expect(check.findings.first?.message.contains("<name> expected near '='") == true)
    }

    @Test func `the check finds unknown modules and functions, with the nearest name`() async throws {
        #expect(try await Self.findings("local m = require 'mial'") == ["line 1: module `mial` not found; did you mean `mail`?"])
        #expect(
            try await Self.findings("local m = require 'mail'\nm.sned('x')") == [
                "line 2: the module `mail` has no function `sned`; did you mean `send`?"
            ])
        #expect(
            try await Self.findings("require('mail').cuont()") == [
                "line 1: the module `mail` has no function `cuont`; did you mean `count`?"
            ])
        #expect(
            try await Self.findings("local m = require 'mail' m:count()") == [
                "line 1: `mail.count` is a function, not a method: call it with a dot; did you mean `mail.count`?"
            ])
    }

    @Test(arguments: ScriptPlace.allCases) func `the check finds names that the host does not provide`(_ place: ScriptPlace)
        async throws
    {
        #expect(try await Self.findings("io.open('x')", place) == ["line 1: this host does not give scripts `io`"])
        #expect(
            try await Self.findings("os.execute('x')", place).first?.hasPrefix(
                "line 1: this host does not give scripts `os.execute`") == true)
        #expect(try await Self.findings("pritn('x')", place) == ["line 1: no variable `pritn` is defined; did you mean `print`?"])
        #expect(
            try await Self.findings("local total = 1\nreturn totl", place) == [
                "line 2: no variable `totl` is defined; did you mean `total`?"
            ])
    }

    @Test(arguments: [
        "local mail, web = require('mail'), require('web') web.get('x') mail.send('x')",
        "local mail, web = require 'mail', require 'web' web.get('x') mail.send('x')",
        "local web <const>, mail = require 'web', require 'mail' web.get('x') mail.send('x')",
        "mail, web = require 'mail', require 'web' web.get('x') mail.send('x')",
        "local x, web = 1, require 'web' web.get('x')",
        "local send = require('mail').send send.later()",
        "local mail = require 'mail' mail.send('x') local function f(mail) return mail.title end return f{ mail = mail }",
        "local mail = require 'mail' for _, mail in ipairs{} do print(mail.title) end",
        "do local m = require 'mail' m.send('x') end local m = require 'web' m.get('x')",
        "local web = pcall(require, 'web') and require 'web' or { got = true } return web.got",
    ])
    func `the check knows which module a variable holds`(source: String) async throws {
        #expect(try await Self.findings(source) == [])
    }

    @Test func `the check finds functions of the wrong module in an assignment of several`() async throws {
        #expect(
            try await Self.findings("local mail, web = require 'mail', require 'web'\nweb.send('x')").first
                == "line 2: the module `web` has no function `send`")
        #expect(try await Self.findings("local m <const> = require('mail')\nm.sned('x') f{ m = 1 }").count == 2)
    }

    @Test func `the check finds missing functions`() async throws {
        #expect(
            try await Self.findings("function orders.totals() end orders = {}", defining: ["orders.total"]) == [
                "the script does not define the function `orders.total`; did you mean `orders.totals`?"
            ])
        for source in [
            "function a.b() end a = {}", "a = {} a.b = function() end", "a = { x = { b = 1 }, b = function() if x then end end }",
        ] {
            #expect(try await Self.findings(source, defining: ["a.b"]).filter { $0.contains("does not define") } == [])
        }
    }

    @Test func `the check finds mistakes in definitions of automations`() async throws {
        let check = try await Self.host().check(
            source: """
                perilune.automation{ name = "a", on = { schedule = "0 9 * * *" }, run = function(context) if context then return end end }
                perilune.automation({ name = "b", om = {}, run = function() end })
                """)
        #expect(check.automations == ["a", "b"])
        #expect(
            check.findings.map(\.description) == [
                "line 2: an automation has no option `om`; did you mean `on`?", "line 2: the automation lacks the option `on`",
            ])
    }

    @Test func `the check ends for text of any kind`() async throws {
        let host = try await Self.host()
        for source in [
            "[[", "\"", "--[[", "a.", "require", "perilune.automation{", "local", "function", "= = =", "\u{0}", "'\\", "x = {{{",
            "[==",
        ] {
            #expect(try await host.check(source: source).isValid == false || source == "\u{0}", "\(source)")
        }
        var generator = SystemRandomNumberGenerator()
        let words = [
            "a", "=", "{", "}", "function", "end", "(", ")", ",", ".", ":", "'s'", "require", "local", "\n",
            "perilune.automation", "for",
        ]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 0..<30, using: &generator)).map { _ in words.randomElement(using: &generator)! }
                .joined(separator: " ")
            _ = try await host.check(source: text, defining: ["a.b"])
        }
    }

    @Test(arguments: ScriptPlace.allCases) func `error reports name the same fault as the check`(_ place: ScriptPlace)
        async throws
    {
        let host = try await Self.host(place)
        for (source, help) in [
            ("local m = require 'mail'\nm.sned('x')", "the module `mail` has no function `sned`; did you mean `send`?"),
            ("\nio.open('x')", "sandboxed scripts do not have it"),
            ("local total = 1\ntotl()", "did you mean `total`?"),
        ] {
            let error = await #expect(throws: LuaError.self) { try await host.run(source: source) }
            #expect(error?.report.help == help)
        }
        // The module exists, so the error needs no help about it.
        let error = await #expect(throws: LuaError.self) { try await host.run(source: "require('mail').send({})") }
        #expect(error?.report.help?.contains("not found") != true, "\(error?.report.help ?? "")")
    }

    @Test func `a closed host checks nothing`() async throws {
        let host = try await Self.host()
        await host.close()
        await #expect(throws: LuaError.self) { try await host.check(source: "") }
    }
}
