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

    @Test func `messages about wrong arguments begin with the function as it was called`() async throws {
        let names = try Reference.current.get().functions.filter { !$0.isScenario }.map { "\"\($0.name)\"" }
        let source = try #require(Reference.text(of: "Tests/PeriluneBindingsTests/Reference/function_names.lua"))
        let json: String = try await testHost().run(
            source: "local names = { \(names.joined(separator: ", ")) } " + source, named: "function_names.lua")
        let result = try JSONDecoder().decode(Result.self, from: Data(json.utf8))
        #expect(result.checked > 500)
        #expect(result.found == [])
    }
}
