internal import Foundation
@preconcurrency internal import Glibc
internal import Perilune
internal import PeriluneDependencies

/// The settings of the project in which the command runs: by the environment, else by `perilune.toml` in the current folder or in
/// the nearest one above, else the standard.
struct Settings: Sendable {
    static let fileName = "perilune.toml"

    /// Where a value comes from.
    enum Source: Equatable, Sendable {
        case option(String)
        case variable(String)
        case file(String, line: Int)
        case standard

        /// The source for people.
        var text: String {
            switch self {
            case .option(let name), .variable(let name): name
            case .file(let path, let line): "\(path):\(line)"
            case .standard: "default"
            }
        }
    }

    struct Value: Equatable, Sendable {
        /// One, but of a setting that takes a list.
        let items: [String]
        let source: Source

        init(items: [String], source: Source) {
            (self.items, self.source) = (items, source)
        }

        init(text: String, source: Source) {
            self.init(items: [text], source: source)
        }

        var text: String { items.joined(separator: ", ") }

        /// Where it comes from, to be put behind it: ` (--database)`; nothing where nothing has set it.
        var origin: String { source == .standard ? "" : " (\(source.text))" }
    }

    /// The file; `nil` if there is none.
    let file: SettingsFile?
    /// The way from the current folder to that of the file, with a slash at its end; empty if that is the same.
    private let prefix: String
    private let environment: EnvironmentVariables

    init(file: SettingsFile? = nil, prefix: String = "", environment: EnvironmentVariables = [:]) {
        (self.file, self.prefix, self.environment) = (file, prefix, environment)
    }

    /// What holds without options; `nil` if nothing does.
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

    /// Whether the file, or a variable, has a value of its own for a setting.
    func isSet(_ setting: Setting) -> Bool { self[setting].map { $0.source != .standard } ?? false }

    // MARK: - Those of the process

    private static let loaded = Result { try find(environment: .ofProcess) }

    /// The settings of the process. Without the file, if that cannot be used: commands that matter end before, by ``require()``.
    static var current: Settings {
        (try? loaded.get()) ?? Settings(environment: .ofProcess)
    }

    /// The value of an option, else what holds without it; `nil` if nothing does.
    ///
    /// - Parameter name: What messages call the option.
    static func value(_ setting: Setting, option: String?, named name: String) -> Value? {
        option.map { Value(text: $0, source: .option(name)) } ?? current[setting]
    }

    /// A setting for `--verbose`: `context: test (PERILUNE_CONTEXT)`; `nil` if nothing has set it.
    static func note(_ setting: Setting, option: String? = nil, named name: String = "") -> String? {
        guard let value = value(setting, option: option, named: name), value.source != .standard else { return nil }
        return "\(setting.rawValue): \(value.text)\(value.origin)"
    }

    /// Refuses a file that cannot be used.
    ///
    /// - Throws: ``CommandFailure`` with the line.
    static func require() throws { _ = try loaded.get() }

    /// Looks for the file in a folder and those above it.
    ///
    /// Files above in folders that everyone can write to, such as `/tmp`, are left alone: they may be another user's.
    static func find(in start: String = ".", environment: EnvironmentVariables) throws -> Settings {
        var prefix = ""
        while true {
            let folder = prefix.isEmpty ? start : "\(start)/\(prefix.dropLast())"
            let path = "\(folder)/\(fileName)"
            if DatabaseFile.isFile(path), prefix.isEmpty || !isOpenToAll(folder) {
                let name = prefix + fileName
                guard let data = FileManager.default.contents(atPath: path) else {
                    throw CommandFailure(ErrorReport("cannot read \(name): \(String(cString: strerror(errno)))", kind: "io"))
                }
                return Settings(file: try SettingsFile(Array(data), path: name), prefix: prefix, environment: environment)
            }
            if isRoot(folder) { return Settings(environment: environment) }
            prefix += "../"
        }
    }

    private static func isOpenToAll(_ folder: String) -> Bool {
        var information = stat()
        return stat(folder, &information) == 0 && information.st_mode & S_IWOTH != 0
    }

    private static func isRoot(_ folder: String) -> Bool {
        var (own, root) = (stat(), stat())
        guard stat(folder, &own) == 0, stat("/", &root) == 0 else { return true }
        return own.st_ino == root.st_ino && own.st_dev == root.st_dev
    }
}
