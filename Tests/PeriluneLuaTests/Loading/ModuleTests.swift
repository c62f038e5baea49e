import PeriluneLua
import Testing

@Suite struct ModuleTests {
    private let state: LuaState

    init() throws {
        state = try LuaState()
    }

    private func add(_ modules: [String: String]) throws {
        try state.addModuleResolver { name in
            modules[name].map { .source(LuaString($0), name: name + ".lua") }
        }
    }

    @Test func `a module runs once and receives its name and its file`() throws {
        try add(["shop": "runs = (runs or 0) + 1 local name, file = ... return { name = name, file = file }"])
        let values = try state.run(
            "local a, b = require('shop'), require('shop') return rawequal(a, b), a.name, a.file, runs, package.loaded.shop == a")
        #expect(values == [true, "shop", "shop.lua", 1, true])
    }

    @Test func `a module that returns nothing has the value true`() throws {
        try add(["quiet": "seen = 1"])
        #expect(try state.evaluate("return require('quiet')") == true)
        #expect(try state.evaluate("return require('quiet')") == true)
    }

    @Test func `a module may set package.loaded itself, and return false`() throws {
        try add(["own": "package.loaded.own = 'mine'", "no": "runs = (runs or 0) + 1 return false"])
        #expect(try state.evaluate("return require('own')") == "mine")
        #expect(try state.evaluate("return require('no')") == false)
    }

    @Test func `a module in package.loaded is not searched for`() throws {
        try add([:])
        #expect(try state.evaluate("package.loaded.x = 5 return require('x')") == 5)
        #expect(try state.evaluate("return require('string') == string and require('math') == math") == true)
    }

    @Test func `a module that is removed from package.loaded runs again`() throws {
        try add(["m": "runs = (runs or 0) + 1 return {}"])
        #expect(try state.evaluate("require('m') package.loaded.m = nil require('m') return runs") == 2)
    }

    @Test func `a missing module is an error that names it`() throws {
        try add([:])
        let error = try failure(of: "\nrequire('nowhere')", in: state)
        #expect(error.kind == "module_not_found")
        #expect(error.message.contains("`nowhere`"))
        #expect(error.line == 2)
    }

    @Test func `modules that require each other are an error that shows the cycle`() throws {
        try add(["a": "require('b')", "b": "require('c')", "c": "require('b')"])
        let error = try failure(of: "require('a')", in: state)
        #expect(error.kind == "module_cycle")
        #expect(error.message.contains("b → c → b"))
        try state.run("package.loaded.c = {}")
        #expect(try state.evaluate("return require('a')") == true)
    }

    @Test func `an error in a module is thrown unchanged, and the module can be tried again`() throws {
        try add(["bad": "\nif not ready then error('not ready') end return 'good'"])
        let error = try failure(of: "require('bad')", in: state)
        #expect(error.file == "bad.lua")
        #expect(error.line == 2)
        #expect(error.message == "not ready")
        #expect(error.traceback?.contains("test.lua:1") == true)
        #expect(try state.evaluate("ready = true return require('bad')") == "good")
    }

    @Test func `a syntax error in a module names its file`() throws {
        try add(["bad": "local = 1"])
        let error = try failure(of: "require('bad')", in: state)
        #expect(error.code == .syntax)
        #expect(error.file == "bad.lua")
    }

    @Test func `a Swift error of a resolver is thrown unchanged`() throws {
        try state.addModuleResolver { _ in throw HostError(number: 4) }
        #expect(try failure(of: "require('x')", in: state).underlying as? HostError == HostError(number: 4))
    }

    @Test func `module resolvers are called in order and may return values`() throws {
        try state.addModuleResolver { $0 == "one" ? .value(1) : nil }
        try state.addModuleResolver { $0 == "one" || $0 == "two" ? .value(2) : nil }
        #expect(try state.run("return require('one'), require('two')") == [1, 2])
    }

    @Test func `bytecode from a resolver is refused`() throws {
        try state.addModuleResolver { _ in .source(LuaString([0x1B, 0x4C, 0x75, 0x61, 0x54]), name: "x.luac") }
        #expect(try failure(of: "require('x')", in: state).code == .syntax)
    }

    @Test(arguments: ["require()", "require(nil)", "require({})", "require('\\255')", "require(print)"])
    func `require accepts only a name`(source: String) throws {
        try add([:])
        #expect(try failure(of: source, in: state).message.hasPrefix("require: argument 1: expected a string"))
    }

    @Test func `require works in coroutines, and calling it after its Lua state is released is safe`() throws {
        try add(["m": "return 'here'"])
        #expect(try state.evaluate("return coroutine.wrap(function() return require('m') end)()") == "here")
        do {
            let dying = try LuaState()
            try dying.addModuleResolver { _ in nil }
            try dying.run("setmetatable({}, {__gc = function() require('late') end})")
        }
    }

    // MARK: - With all of package

    private func trusted(_ modules: [String: String]) throws -> LuaState {
        let state = try LuaState(libraries: .trusted)
        try state.addModuleResolver { name in modules[name].map { .source(LuaString($0), name: name + ".lua") } }
        return state
    }

    @Test func `require returns the module and its file, and looks in package.preload first`() throws {
        let state = try trusted(["shop": "runs = (runs or 0) + 1 return { ... }", "other": "return 1"])
        #expect(
            try state.run("local shop, file = require 'shop' return shop[1], shop[2], file, runs, require('shop') == shop")
                == ["shop", "shop.lua", "shop.lua", 1, true])
        #expect(try state.run("package.preload.other = function() return 2 end return (require 'other')") == [2])
    }

    @Test func `with Lua's own require, values from the host are modules`() throws {
        let state = try LuaState(libraries: .trusted)
        try state.addModuleResolver { name in name == "seven" ? .value(7) : nil }
        #expect(try state.run("return (require 'seven'), package.loaded.seven") == [7, 7])
    }

    @Test func `with Lua's own require, a missing module gives Lua's message with the searched paths`() throws {
        let state = try trusted([:])
        let message = try state.run("package.path, package.cpath = './?.x', './?.y' return select(2, pcall(require, 'nowhere'))")
        #expect(
            message == [
                "module 'nowhere' not found:\n\tno field package.preload['nowhere']\n\tno file './nowhere.x'\n\tno file './nowhere.y'"
            ])
    }

    @Test func `with Lua's own require, modules that require each other are an error that shows the cycle`() throws {
        let state = try trusted(["a": "require('b')", "b": "require('c')", "c": "require('b')"])
        let error = try failure(of: "require('a')", in: state)
        #expect(error.kind == "module_cycle")
        #expect(error.message.contains("b → c → b"))
        #expect(try state.evaluate("package.loaded.c = {} return require('a')") == true)
    }

    @Test func `with Lua's own require, an error in a module has a position`() throws {
        let state = try trusted(["bad": "\nerror('not ready')", "wrong": "x ="])
        let error = try failure(of: "require('bad')", in: state)
        #expect((error.file, error.line, error.message) == ("bad.lua", 2, "not ready"))
        #expect(try failure(of: "require('wrong')", in: state).file == "wrong.lua")
    }
}
