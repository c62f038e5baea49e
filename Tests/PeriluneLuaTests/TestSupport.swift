import PeriluneLua
import Testing

/// Runs a chunk that must fail, and returns its error.
func failure(
    of source: String, in state: LuaState, sourceLocation: SourceLocation = #_sourceLocation
) throws -> LuaError {
    let error = #expect(throws: LuaError.self, sourceLocation: sourceLocation) {
        try state.run(source, named: "test.lua")
    }
    return try #require(error, sourceLocation: sourceLocation)
}

/// Runs code that may throw any error, and checks that the state works afterwards.
func expectSurvives(
    _ state: LuaState, sourceLocation: SourceLocation = #_sourceLocation, _ attack: () throws -> Void
) throws {
    if case .failure(let error) = Result(catching: attack) {
        #expect((error as? LuaError).map { $0.code != .usage } == true, "\(error)", sourceLocation: sourceLocation)
    }
    #expect(
        try state.evaluate("local t = {} for i = 1, 100 do t[i] = i .. '' end return #table.concat(t)") == 192,
        sourceLocation: sourceLocation)
}

extension LuaState {
    /// Runs a chunk and converts its first result.
    func evaluate<Value: LuaConvertible>(_ source: String, as type: Value.Type = Value.self) throws -> Value {
        try Value.fromLua(run(source, named: "test.lua").first ?? .nil)
    }

    /// Defines a global Swift function.
    func define(_ name: String, _ body: @escaping (LuaArguments) throws -> [LuaValue]) throws {
        try globals.setFunction(name, body)
    }
}

/// An asynchronous function from a closure, which must not have a capture list: see ``LuaAsyncOperation``.
struct Operation: LuaAsyncOperation {
    private let body: nonisolated(nonsending) ([LuaValue]) async throws -> [LuaValue]

    init(_ body: nonisolated(nonsending) @escaping ([LuaValue]) async throws -> [LuaValue]) {
        self.body = body
    }

    func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] { try await body(arguments) }
}

/// An error from the host.
struct HostError: Error, Equatable {
    var number = 1
}

/// An object whose release is observed.
final class Watched {}
