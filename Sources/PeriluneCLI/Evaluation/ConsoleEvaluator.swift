internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua

/// An evaluator that runs console input in a host and describes the values.
struct ConsoleEvaluator: Sendable {
    let host: ScriptHost

    /// The number of rows to show from the start and from the end of a list.
    struct Extent: Sendable {
        var head = 30
        var tail = 10

        static let all = Extent(head: .max / 4, tail: 0)
    }

    /// Adds the console's modules to a configuration.
    ///
    /// - Parameter definesGlobals: Whether scripts see the console's global variables, such as the classes of the tables.
    static func prepare(_ configuration: inout ScriptHost.Configuration, definesGlobals: Bool = true) {
        configuration.libraryModules.append(.console)
        guard definesGlobals else { return }
        configuration.extending = { library, _ in _ = try function("install", of: library).call([]) }
    }

    /// Runs Lua text as an expression if possible, otherwise as statements.
    ///
    /// - Parameter name: The name of the input in errors.
    func run(lua text: String, named name: String, _ extent: Extent = Extent()) async throws -> [ConsoleValue] {
        try await host.withState { host, state, library in
            let bytes = Array(text.utf8)
            host.keepSourceText(bytes, named: name)
            // Local declarations become global, because local variables would not exist for the next input.
            let chunk = try Self.chunk(bytes, named: name, in: state) { text in
                Array(LuaLocals.made(global: String(decoding: text, as: UTF8.self)).utf8)
            }
            let values = try await chunk([])
            _ = try Self.function("keep", of: library).call(values)
            return try await Self.describe(values, extent, in: library)
        }
    }

    /// Runs code from the command line as an expression if possible, otherwise as statements. Describes all rows of the returned values.
    ///
    /// - Parameter arguments: The values of `...` and of the table `arg`.
    func run(code bytes: [UInt8], named name: String, _ arguments: [[UInt8]]) async throws -> [ConsoleValue] {
        // This empty script sets `arg`.
        try await host.run(bytes: [], named: name, commandLineBytes: arguments)
        return try await host.withState { host, state, library in
            host.keepSourceText(bytes, named: name)
            let chunk = try Self.chunk(bytes, named: name, in: state) { $0 }
            let values = try await chunk(arguments.map { LuaValue.string(LuaString($0)) })
            return try await Self.describe(values, .all, in: library)
        }
    }

    /// Runs one SQL statement.
    func run(sql: String, _ extent: Extent = Extent()) async throws -> [ConsoleValue] {
        try await host.withState { _, _, library in
            let values = try await Self.function("run_sql", of: library).callAsync([.string(LuaString(sql))])
            _ = try Self.function("keep", of: library).call(values)
            return try await Self.describe(values, extent, in: library)
        }
    }

    /// Runs statements that change rows until one fails.
    ///
    /// - Returns: The outcomes of the statements that ran, and the error of the statement that failed.
    func run(changes: [String]) async throws -> (values: [ConsoleValue], error: LuaError?) {
        try await host.withState { host, state, library in
            let texts = try changes.toLua(in: state)
            var failure: LuaError?
            do {
                _ = try await Self.function("run_changes", of: library).callAsync([texts])
            } catch let error as LuaError {
                failure = host.explained(error)
            }
            let done = try Self.function("changes_done", of: library).call([])
            return (try await Self.describe(done, Extent(), in: library), failure)
        }
    }

    /// Describes the last value again, which is in the global variable `_`.
    func last(_ extent: Extent) async throws -> [ConsoleValue] {
        try await host.withState { _, state, library in
            let last = try state.globals.get("_")
            return last.isNil ? [] : try await Self.describe([last], extent, in: library)
        }
    }

    /// Returns the tables and the names of their record classes.
    func models() async throws -> [(table: String, name: String)] {
        try await host.withState { _, _, library in
            guard case .table(let list)? = try await Self.function("models", of: library).callAsync([]).first else { return [] }
            return try list.array().compactMap { value in
                guard case .table(let model) = value else { return nil }
                return (try model.get("table"), try model.get("class"))
            }
        }
    }

    /// Returns the names that can follow an expression, given its parts.
    func members(of parts: [String], separator: String) async throws -> [String] {
        try await names("complete", [separator] + parts)
    }

    /// Returns the names of SQL functions or PRAGMAs.
    func sqlNames(_ kind: SQLNameKind) async throws -> [String] { try await names("sql_names", [kind.rawValue]) }

    private func names(_ function: String, _ arguments: [String]) async throws -> [String] {
        try await host.withState { _, _, library in
            let arguments = arguments.map { LuaValue.string(LuaString($0)) }
            guard case .table(let list)? = try await Self.function(function, of: library).callAsync(arguments).first else {
                return []
            }
            return try list.array().compactMap { if case .string(let name) = $0 { name.string } else { nil } }
        }
    }

    // MARK: - Helpers

    /// Returns a function of the `console` module.
    static func function(_ name: String, of library: LibraryLoader) throws -> LuaFunction {
        guard case .table(let console) = try library.require("console"),
            case .function(let function) = try console.get(.string(LuaString(name)))
        else { throw LuaError(.usage, "the console has no function \(name)") }
        return function
    }

    /// Compiles text as an expression if possible, otherwise as statements.
    private static func chunk(
        _ bytes: [UInt8], named name: String, in state: LuaState, statements: ([UInt8]) -> [UInt8]
    ) throws -> Chunk {
        // After `return`, a single call would be a tail call, whose errors have no line. A value before it prevents that.
        if let function = try? state.load(LuaString(Array("return nil, ".utf8) + bytes), named: name) {
            return Chunk(function: function, addedValues: 1)
        }
        return Chunk(function: try state.load(LuaString(statements(bytes)), named: name), addedValues: 0)
    }

    /// A compiled text.
    private struct Chunk {
        let function: LuaFunction
        /// The number of results before the first one of the text.
        let addedValues: Int

        nonisolated(nonsending) func callAsFunction(_ arguments: [LuaValue]) async throws -> [LuaValue] {
            Array(try await function.callAsync(arguments).dropFirst(addedValues))
        }
    }

    nonisolated(nonsending) static func describe(_ values: [LuaValue], _ extent: Extent, in library: LibraryLoader) async throws
        -> [ConsoleValue]
    {
        guard !values.isEmpty else { return [] }
        let bounds: [LuaValue] = [.integer(Int64(extent.head)), .integer(Int64(extent.tail))]
        guard case .table(let list)? = try await function("describe", of: library).callAsync(bounds + values).first else {
            return []
        }
        return try list.array().compactMap { value in
            guard case .table(let description) = value else { return nil }
            return try ConsoleValue(description)
        }
    }
}

/// A rewriter that makes local declarations global, because local variables would not exist for the next input.
enum LuaLocals {
    /// Replaces a `local` at the start of a text by blanks, which makes its variables global and keeps the positions of the other words.
    static func made(global text: String) -> String {
        var tokens = LuaTokens(Array(text))
        guard let first = tokens.next(), first.kind == .name("local"), let second = tokens.next() else { return text }
        var characters = Array(text)
        if case .name = second.kind {
            // Without a value, `local x` sets `x` to nil. A variable with an attribute stays local, because only local variables have
            // attributes.
            if second.kind != .name("function") {
                var end = second.range.upperBound
                var isAssigned = false
                while let token = tokens.next() {
                    let sign = token.kind == .sign ? characters[token.range.lowerBound] : nil
                    if sign == "<" { return text }
                    if sign == "=" { isAssigned = true }
                    if sign == "=" || (sign != "," && !token.kind.isName) { break }
                    end = token.range.upperBound
                }
                guard isAssigned || end == characters.count else { return text }
                if !isAssigned { characters += " = nil" }
            }
            for index in first.range { characters[index] = " " }
        }
        return String(characters)
    }
}

extension LuaTokens.Kind {
    fileprivate var isName: Bool { if case .name = self { true } else { false } }
}
