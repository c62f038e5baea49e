import ArgumentParser
internal import PeriluneBindings
internal import PeriluneDependencies
internal import Perilune

/// The settings of a project by their names in `perilune.toml`.
enum Setting: String, CaseIterable, Sendable {
    case database
    case context
    case extensions
    case doubleQuotedStrings = "database.double_quoted_strings"
    case journalMode = "database.journal_mode"
    case synchronous = "database.synchronous"
    case migrations = "folders.migrations"
    case scenarios = "folders.scenarios"
    case types = "folders.types"
    case timeout = "limits.timeout"
    case memory = "limits.memory"
    case output = "limits.output"
    case disk = "limits.disk"

    static let databasePath = "database.path"

    /// Returns the setting with a name. `database.path` is another name of `database`, for files with a table `[database]`.
    init?(name: String) {
        self.init(rawValue: name == Self.databasePath ? Setting.database.rawValue : name)
    }

    /// The environment variable that takes precedence over the file.
    var variable: String? {
        switch self {
        case .database: "PERILUNE_DATABASE"
        case .context: DependencyContainer.Context.environmentVariable
        default: nil
        }
    }

    /// The default value; `nil` for none.
    var standard: String? {
        switch self {
        case .context: DependencyContainer.Context.live.rawValue
        case .migrations: "migrations"
        case .scenarios: "scenarios"
        case .types: "types"
        case .doubleQuotedStrings: "true"
        case .database, .extensions, .journalMode, .synchronous, .timeout, .memory, .output, .disk: nil
        }
    }

    /// Whether the value is a path relative to the folder of the settings file.
    var isPath: Bool {
        switch self {
        case .database, .extensions, .migrations, .scenarios, .types: true
        case .context, .doubleQuotedStrings, .journalMode, .synchronous, .timeout, .memory, .output, .disk: false
        }
    }

    /// Whether the setting accepts a list of values.
    var takesList: Bool { self == .extensions }

    var takesNumbers: Bool { [.timeout, .memory, .output, .disk].contains(self) }

    var takesBooleans: Bool { self == .doubleQuotedStrings }

    private static func problem(with value: String, among names: [String]) -> String? {
        names.contains(value) ? nil : "expected \(names.joined(separator: ", ")), got \(value)"
    }

    /// Returns why a value is invalid; `nil` if it is valid.
    func problem(with value: String) -> String? {
        do {
            switch self {
            case .timeout: _ = try OptionValue.duration(value)
            case .memory, .output, .disk: _ = try OptionValue.size(value)
            case .doubleQuotedStrings: return ["true", "false"].contains(value) ? nil : "expected true or false, got \(value)"
            case .journalMode: return Self.problem(with: value, among: FileJournal.Mode.allCases.map(\.rawValue))
            case .synchronous: return Self.problem(with: value, among: FileJournal.Synchronous.allCases.map(\.rawValue))
            case .context: return Self.problem(with: value, among: ContextOption.allCases.map(\.rawValue))
            case .database, .extensions, .migrations, .scenarios, .types:
                return value.isEmpty ? "expected a path, got nothing" : nil
            }
            return nil
        } catch {
            return (error as? ValidationError)?.message ?? "\(error)"
        }
    }
}
