internal import Foundation
internal import Logging
internal import PeriluneDependencies
internal import PeriluneLua

/// The bindings for `perilune.context`, `perilune.uuid`, `perilune.random` and `perilune.log`.
struct EnvironmentBinding {
    let environment: ScriptEnvironment
    let state: LuaState

    func install(in perilune: LuaTable) throws {
        try perilune.set("context", .string(LuaString(environment.context.rawValue)))
        try perilune.setFunction("uuid") { [environment] arguments in
            try arguments.refuseSurplus(after: 0, of: "perilune.uuid")
            return [.string(LuaString(environment.uuid().uuidString.lowercased()))]
        }
        // The functions must not retain the state, because the state retains the functions.
        try perilune.set(
            "random",
            .function(
                state.makeFunction("perilune.random") { [environment] arguments in
                    [try Self.random(arguments, environment.random)]
                }))
        try perilune.set("log", .table(makeLog()))
        if !environment.random.isSystem { try seed() }
        if !environment.date.isSystem { try replaceTime() }
    }

    // MARK: - Random numbers

    /// Returns a random number like `math.random`: without arguments, a float from 0 to 1; for m, an integer from 1 to m; for m and
    /// n, an integer from m to n; and for 0, an integer with random bits.
    private static func random(_ arguments: LuaArguments, _ source: RandomSource) throws -> LuaValue {
        var source = source
        guard arguments.count > 0 else { return .number(Double(source.next() >> 11) * 0x1p-53) }
        guard arguments.count <= 2 else {
            throw BindingError("argument", "perilune.random: expected at most 2 arguments, got \(arguments.count)")
        }
        let first: Int64 = try arguments.get(1)
        if arguments.count == 1, first == 0 { return .integer(Int64(bitPattern: source.next())) }
        let (low, high) = arguments.count == 1 ? (1, first) : (first, try arguments.get(2))
        guard low <= high else {
            throw BindingError("argument", "perilune.random: the range from \(low) to \(high) is empty")
        }
        return .integer(.random(in: low...high, using: &source))
    }

    /// Seeds `math.random` with numbers from the environment's source.
    private func seed() throws {
        guard case .table(let math) = try state.globals.get("math"), case .function(let seed) = try math.get("randomseed")
        else { return }
        let numbers = (0..<2).map { _ in LuaValue.integer(Int64(bitPattern: environment.random.next())) }
        try seed.call(numbers)
    }

    /// Makes `os.time()` and `os.date(format)` use the environment's clock. `os.clock()` returns a number that increases with each
    /// call, because a loop that waits for a stopped clock would never end.
    private func replaceTime() throws {
        guard case .table(let os) = try state.globals.get("os") else { return }
        if case .function = try os.get("clock") {
            var count = 0
            try os.setFunction("clock") { _ in
                count += 1
                return [.number(Double(count) / 1_000_000)]
            }
        }
        let seconds = { [environment] in LuaValue.integer(try environment.now().wholeUnixSeconds) }
        if case .function(let time) = try os.get("time") {
            try os.setFunction("time") { arguments in
                arguments[1].isNil ? [try seconds()] : try time.call(arguments.values)
            }
        }
        if case .function(let date) = try os.get("date") {
            try os.setFunction("date") { arguments in
                let format = arguments[1].isNil ? .string("%c") : arguments[1]
                return try date.call([format, arguments[2].isNil ? seconds() : arguments[2]])
            }
        }
    }

    // MARK: - Logging

    /// Creates the table `perilune.log`, with a function `info(message, fields)` for the level `info` and the same for each other
    /// level.
    private func makeLog() throws -> LuaTable {
        let table = try state.makeTable()
        for level in Logger.Level.allCases {
            let name = "perilune.log.\(level.rawValue)"
            let function = try state.makeFunction(name) { [logger = environment.logger] arguments in
                try arguments.refuseSurplus(after: 2, of: name)
                guard logger.logLevel <= level else { return [] }
                let message: LuaString = try arguments.get(1)
                var metadata = try Self.readFields(arguments[2], for: name, in: arguments.state)
                for (key, value) in LogContext.metadata where metadata[key] == nil { metadata[key] = "\(value)" }
                let size = metadata.reduce(message.bytes.count) { $0 + $1.key.utf8.count + "\($1.value)".utf8.count }
                guard try arguments.state.takeOutput(ofBytes: size) else {
                    throw BindingError("output", "perilune.log: the script has written more than its limit of output")
                }
                if let place = try arguments.state.callingPlace {
                    metadata["script"] = "\(place.shortChunk)"
                    metadata["line"] = "\(place.line)"
                }
                logger.log(level: level, "\(message)", metadata: metadata, source: "script")
                return []
            }
            try table.set(.string(LuaString(level.rawValue)), .function(function))
        }
        return table
    }

    private static func readFields(_ value: LuaValue, for function: String, in state: LuaState) throws -> Logger.Metadata {
        guard !value.isNil else { return [:] }
        guard case .table(let table) = value else {
            throw BindingError("argument", "\(function): argument 2: expected a table of fields, got \(value.shortDescription)")
        }
        var metadata: Logger.Metadata = [:]
        for (key, value) in try table.pairs() {
            metadata[try String.fromLua(key)] = try Self.metadata(of: value, in: state)
        }
        return metadata
    }

    /// Converts a plain table to a list or dictionary, and any other value to text.
    private static func metadata(of value: LuaValue, in state: LuaState, depth: Int = 1) throws -> Logger.Metadata.Value {
        guard case .table(let table) = value, depth < 8, try table.metatable() == nil else {
            return .string(try state.text(of: value))
        }
        let pairs = try table.pairs(), list = try table.array()
        if list.count == pairs.count, !list.isEmpty {
            return .array(try list.map { try metadata(of: $0, in: state, depth: depth + 1) })
        }
        var fields: Logger.Metadata = [:]
        for (key, value) in pairs { fields[try state.text(of: key)] = try metadata(of: value, in: state, depth: depth + 1) }
        return .dictionary(fields)
    }
}

extension LuaState {
    /// Returns the text that `tostring` returns for the value.
    fileprivate func text(of value: LuaValue) throws -> String {
        if case .string(let string) = value { return string.description }
        guard case .function(let tostring) = try globals.get("tostring"),
            case .string(let text)? = try tostring.call([value]).first
        else { return value.typeName }
        return text.description
    }
}
