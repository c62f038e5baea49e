public import PeriluneLua

/// A scenario as defined in its file. Each case of a definition is a separate scenario.
public struct Scenario: Codable, Sendable, Identifiable {
    /// The unique identifier in a run: the path, the names of the groups, the name and the case, if any. The path begins with the folder of
    /// scenarios, however the path was typed.
    public var id: String
    /// The identifier without the part that distinguishes scenario folders. Two folders in one run may contain the same file and scenario
    /// names.
    let localID: String
    /// The name, including the case if there are several.
    public var name: String
    /// The names of the surrounding groups, outermost first.
    public var groups: [String] = []
    /// The name of the case; `nil` if the definition has only one.
    public var caseName: String?
    /// The path of the file, relative to the current folder.
    public var file: String
    /// The line of the definition, from 1.
    public var line: Int
    /// The tags of the scenario and its groups.
    public var tags: [String] = []
    /// The template with the initial data of the database; `nil` means only the data from the migrations.
    public var template: String?
    /// The option `database`: `file`, `empty` or `fixture:NAME`; `nil` means in memory.
    public var database: String?
    /// The time limit; `nil` means the limit of the run's options.
    public var timeout: Duration?
    /// The number of retries after a failure.
    public var retry = 0
    /// The reason why the scenario is expected to fail.
    public var fails: String?
    /// The kind of the expected error, if the scenario specifies one.
    var failingKind: String?
    /// Whether the scenario specifies the error by which it must fail.
    var failsInOneWay = false
    /// The treatment of the scenario if it passes without any check.
    public var noChecks: ScenarioOptions.NoChecks?
    /// The name of a lock: scenarios with the same lock never run at the same time.
    public var lock: String?
    /// The seed that the scenario specifies.
    public var seed: String?
    /// The effects outside of the database that the scenario's scripts may have.
    public var grants: [String] = []
    /// The option `crash`, which ends processes while the scenario runs; `nil` without the option.
    var crash: Crash?
    /// The reason why the scenario is skipped.
    public var skip: String?
    /// Whether the scenario is still to be written.
    public var isTodo = false
    /// Whether the scenario uses `scenario.only`, which limits the run to such scenarios.
    public var isOnly = false
    /// The position of the defining `scenario` call among all `scenario` calls of the file.
    var ordinal: Int?
    /// Whether the file catches the error of a rejected definition. The scenario then exists only if all definitions of the file are
    /// loaded.
    var isBesideRefused = false
    /// The position, from 1, among several scenarios on the same line; `nil` if the line has only one.
    public internal(set) var positionAtLine: Int?

    /// The option `crash`.
    struct Crash: Codable, Sendable {
        /// Whether a crash also ends the scripts of `t.run`, which then run again from their start.
        var rerunsScripts = false
        /// The names of tables, columns, functions and fields that are not compared with the undisturbed run.
        var ignored: [String] = []
        /// The seconds on the scenario's clock between a crash and the restart.
        var downtime = 1.0
    }

    init(id: String, name: String, file: String, line: Int) {
        (self.id, localID, self.name, self.file, self.line) = (id, id, name, file, line)
    }

    /// The groups, the name and the case, separated by ` > `.
    public var title: String { (groups + [name] + [caseName].compactMap { $0 }).joined(separator: " > ") }
    /// The place of the definition: `FILE:LINE`.
    public var place: String { "\(file):\(line)" }
    /// A unique place: `FILE:LINE`, or `FILE:LINE:POSITION` if several scenarios are on one line.
    public var uniquePlace: String { place + (positionAtLine.map { ":\($0)" } ?? "") }

    /// Returns whether a scenario is defined before another one in the same file.
    func isBefore(_ other: Scenario) -> Bool {
        (line, positionAtLine ?? 0, id) < (other.line, other.positionAtLine ?? 0, other.id)
    }
}

extension Scenario: LuaConvertible {
    public static var luaTypeName: String { "the definition of a scenario" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Scenario {
        let fields = try LuaFields(value)
        var scenario = try Scenario(
            id: fields.required("id"), name: fields.required("name"), file: fields.required("file"), line: fields.required("line")
        )
        scenario.groups = try fields.list("groups")
        scenario.caseName = try fields.optional("case")
        scenario.tags = try fields.list("tags")
        scenario.template = try fields.optional("template")
        scenario.database = try fields.optional("database")
        scenario.timeout = try fields.optional("timeout", as: Duration.self)
        scenario.retry = try fields.optional("retry") ?? 0
        scenario.fails = try fields.text("fails")
        if let aspects: LuaTable = try fields.optional("fails_with") {
            scenario.failsInOneWay = true
            scenario.failingKind = try LuaFields(aspects).text("kind")
        }
        if let text = try fields.text("no_checks") { scenario.noChecks = ScenarioOptions.NoChecks(rawValue: text) }
        scenario.lock = try fields.text("lock")
        scenario.seed = try fields.text("seed")
        scenario.grants = try fields.list("grants")
        if let crash: LuaTable = try fields.optional("crash") {
            scenario.crash = try Crash(
                rerunsScripts: LuaFields(crash).flag("rerun"), ignored: LuaFields(crash).list("ignore"),
                downtime: LuaFields(crash).optional("down") ?? 1)
        }
        scenario.skip = try fields.text("skip")
        scenario.isTodo = try fields.flag("todo")
        scenario.isOnly = try fields.flag("only")
        scenario.ordinal = try fields.optional("ordinal")
        scenario.isBesideRefused = try fields.flag("is_beside_refused")
        return scenario
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        try id.toLua(in: state)
    }
}

/// A Lua table from the scenario library, read field by field.
struct LuaFields {
    let table: LuaTable

    init(_ value: LuaValue) throws(LuaError) {
        table = try LuaTable.fromLua(value)
    }

    init(_ table: LuaTable) {
        self.table = table
    }

    func required<Value: LuaConvertible>(_ name: String, as type: Value.Type = Value.self) throws(LuaError) -> Value {
        do {
            return try Value.fromLua(table.rawGet(.string(LuaString(name))))
        } catch {
            throw LuaError(.conversion, "field \(name): \(error.message)")
        }
    }

    func optional<Value: LuaConvertible>(_ name: String, as type: Value.Type = Value.self) throws(LuaError) -> Value? {
        let value = try table.rawGet(.string(LuaString(name)))
        return value.isNil ? nil : try required(name)
    }

    func flag(_ name: String) throws(LuaError) -> Bool {
        try table.rawGet(.string(LuaString(name))).isTruthy
    }

    func list<Value: LuaConvertible>(_ name: String) throws(LuaError) -> [Value] {
        guard case .table(let list) = try table.rawGet(.string(LuaString(name))) else { return [] }
        var values: [Value] = []
        for value in try list.array() { values.append(try Value.fromLua(value)) }
        return values
    }

    func tables(_ name: String) throws(LuaError) -> [LuaFields] {
        guard case .table(let list) = try table.rawGet(.string(LuaString(name))) else { return [] }
        var fields: [LuaFields] = []
        for value in try list.array() { fields.append(try LuaFields(value)) }
        return fields
    }

    /// Returns a string or a number as text; an empty text for `true`, and `nil` for `false` or a missing field.
    func text(_ name: String) throws(LuaError) -> String? {
        switch try table.rawGet(.string(LuaString(name))) {
        case .nil, .boolean(false): nil
        case .boolean(true): ""
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value.description
        default: throw LuaError(.conversion, "field \(name): expected a string")
        }
    }
}
