internal import Foundation
@preconcurrency internal import Glibc
internal import Perilune
internal import PeriluneBindings
internal import PeriluneDependencies

/// The settings of the current project: from the environment, then from `perilune.toml` in the current folder or its nearest
/// parent, then the defaults.
struct Settings: Sendable {
    static let fileName = "perilune.toml"

    /// The source of a value.
    enum Source: Equatable, Sendable {
        case option(String)
        case variable(String)
        case file(String, line: Int)
        case standard

        /// A description of the source.
        var text: String {
            switch self {
            case .option(let name), .variable(let name): name
            case .file(let path, let line): "\(path):\(line)"
            case .standard: "default"
            }
        }
    }

    struct Value: Equatable, Sendable {
        /// The values; only one unless the setting accepts a list.
        let items: [String]
        let source: Source

        init(items: [String], source: Source) {
            (self.items, self.source) = (items, source)
        }

        init(text: String, source: Source) {
            self.init(items: [text], source: source)
        }

        var text: String { items.joined(separator: ", ") }

        /// The source as a suffix such as ` (--database)`; empty for defaults.
        var origin: String { source == .standard ? "" : " (\(source.text))" }
    }

    /// The settings file; `nil` without one.
    let file: SettingsFile?
    /// The relative path from the current folder to the folder of the file, with a trailing slash; empty if they are the same.
    private let prefix: String
    /// The path of a settings file that is ignored, because every user can write to its folder.
    let ignoredFile: String?
    private let environment: EnvironmentVariables

    init(
        file: SettingsFile? = nil, prefix: String = "", ignoredFile: String? = nil, environment: EnvironmentVariables = [:]
    ) {
        (self.file, self.prefix, self.ignoredFile, self.environment) = (file, prefix, ignoredFile, environment)
    }

    /// The value from the environment, the settings file or the default, in this order; `nil` if none of these has one.
    subscript(setting: Setting) -> Value? {
        if let name = setting.variable, let text = environment[name], !text.isEmpty {
            return Value(text: text, source: .variable(name))
        }
        if let file, let entry = file.entries[setting] {
            let items = entry.values.map { value in
                let isRelative = setting.isPath && !value.hasPrefix("/") && value != ":memory:"
                return (isRelative ? prefix : "") + value
            }
            return Value(items: items, source: .file(file.path, line: entry.line))
        }
        return setting.standard.map { Value(text: $0, source: .standard) }
    }

    /// Returns whether the settings file or an environment variable sets a value.
    func isSet(_ setting: Setting) -> Bool { self[setting].map { $0.source != .standard } ?? false }

    // MARK: - Settings of the process

    private static let loaded = Result {
        let settings = try find(environment: .ofProcess)
        if settings[.doubleQuotedStrings]?.text == "false" { DoubleQuotedStrings.areRefused = true }
        FileJournal.standard.mode = settings[.journalMode].flatMap { .init(rawValue: $0.text) }
        FileJournal.standard.synchronous = settings[.synchronous].flatMap { .init(rawValue: $0.text) }
        return settings
    }

    /// The settings of the process. An invalid file is ignored here, because commands that depend on it fail earlier, in
    /// ``require()``.
    static var current: Settings {
        (try? loaded.get()) ?? Settings(environment: .ofProcess)
    }

    /// Returns the value of an option or, without one, of the setting; `nil` if both are missing.
    ///
    /// - Parameter name: The name of the option in messages.
    static func value(_ setting: Setting, option: String?, named name: String) -> Value? {
        option.map { Value(text: $0, source: .option(name)) } ?? current[setting]
    }

    /// Returns a note on a setting for `--verbose`, such as `context: test (PERILUNE_CONTEXT)`; `nil` for defaults.
    static func note(_ setting: Setting, option: String? = nil, named name: String = "") -> String? {
        guard let value = value(setting, option: option, named: name), value.source != .standard else { return nil }
        return "\(setting.rawValue): \(value.text)\(value.origin)"
    }

    /// A note about an ignored settings file; `nil` if no file is ignored.
    static var noteOnIgnoredFile: String? {
        current.ignoredFile.map { "ignored the settings in \($0), because every user can write to that folder" }
    }

    /// Rejects an invalid settings file.
    ///
    /// - Throws: ``CommandFailure`` with the line of the mistake.
    static func require() throws { _ = try loaded.get() }

    /// Searches a folder and its parents for the settings file.
    ///
    /// Files in world-writable parent folders such as `/tmp` are ignored, because they may belong to another user.
    static func find(in start: String = ".", environment: EnvironmentVariables) throws -> Settings {
        var prefix = "", ignored: String?
        while true {
            let folder = prefix.isEmpty ? start : "\(start)/\(prefix.dropLast())"
            let path = "\(folder)/\(fileName)"
            let name = prefix + fileName
            if DatabaseFile.isFile(path), !prefix.isEmpty, isOpenToAll(folder) {
                ignored = ignored ?? name
            } else if DatabaseFile.isFile(path) {
                guard let data = FileManager.default.contents(atPath: path) else {
                    throw CommandFailure(ErrorReport("cannot read \(name): \(String(cString: strerror(errno)))", kind: "io"))
                }
                let file = try SettingsFile(Array(data), path: name)
                return Settings(file: file, prefix: prefix, ignoredFile: ignored, environment: environment)
            }
            if isRoot(folder) { return Settings(ignoredFile: ignored, environment: environment) }
            prefix += "../"
        }
    }

    private static func isOpenToAll(_ folder: String) -> Bool {
        var information = stat()
        return stat(folder, &information) == 0 && information.st_mode & S_IWOTH != 0
    }

    private static func isRoot(_ folder: String) -> Bool {
        guard let own = FileIdentity(folder), let root = FileIdentity("/") else { return true }
        return own == root
    }
}
