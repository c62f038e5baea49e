import Foundation
import Perilune
import PeriluneLua
import PeriluneLuaFileTools
import Testing

/// Messages about arguments name the function as the script wrote it.
@Suite struct FunctionNamesTests {
    private struct Result: Decodable {
        var found: [String]
        var checked: Int
    }

    @Test func `messages about wrong arguments begin with the name of the called function`() async throws {
        let names = try Reference.current.get().functions.filter { !$0.isScenario }.map { "\"\($0.name)\"" }
        let source = try #require(Reference.text(of: "Tests/PeriluneBindingsTests/Reference/function_names.lua"))
        let json: String = try await testHost().run(
            source: "local names = { \(names.joined(separator: ", ")) } " + source, named: "function_names.lua")
        let result = try JSONDecoder().decode(Result.self, from: Data(json.utf8))
        #expect(result.checked > 500)
        #expect(result.found == [])
    }

    @Test(arguments: [
        ("return db:write('x')", "db:write: argument 1: expected a function"),
        ("return db:in_transaction(5)", "db:in_transaction: argument 1: expected a function"),
        ("local queue = perilune.queue() return queue:read({}, 5)", "db:read: argument 1: expected a function"),
        ("local function f() return db:write('x') end return f()", "db:write: argument 1"),
        ("db:observe(print, { foo = 1 })", "db:observe: no option `foo`. Available: "),
        ("return db:write({ foo = 1 }, print)", "db:write: no option `foo`. Available: "),
        ("perilune.queue(nil, { foo = 1 })", "perilune.queue: no option `foo`. Available: "),
        ("return perilune.queue(nil, { journal = 'wal' })", "perilune.queue: no option `journal`; did you mean `journal_mode`?"),
    ])
    func `errors of tail calls and of unknown options name the function`(source: String, message: String) async throws {
        let error = await #expect(throws: LuaError.self) { try await testHost().run(source: source) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }
}
