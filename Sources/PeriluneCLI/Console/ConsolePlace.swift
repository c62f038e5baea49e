internal import Glibc
internal import Perilune
internal import PeriluneScenarios

/// The database on which console statements run, either the original or a preview copy, with its host.
struct ConsolePlace {
    let host: ScriptHost
    /// The preview that owns the copy; `nil` for the original database.
    let preview: ScriptPreview?
    /// The database file; `nil` for a database in memory.
    let path: String?
    let isReadonly: Bool

    var evaluator: ConsoleEvaluator { ConsoleEvaluator(host: host) }
    /// Whether changes go directly to a database file, which other processes may use.
    var isLive: Bool { preview == nil && path != nil && !isReadonly }

    /// Returns the prompt, which shows the file name and the mode.
    func prompt(hasChanges: Bool, isInTransaction: Bool) -> LinePrompt {
        let name = path.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? "memory"
        let preview = preview.map { _ in " preview\(hasChanges ? "*" : "")" } ?? ""
        if isInTransaction { return LinePrompt("\(name)\(preview) transaction", .yellow) }
        if !preview.isEmpty { return LinePrompt("\(name)\(preview)", .green) }
        if isReadonly { return LinePrompt("\(name) readonly", .cyan) }
        return LinePrompt(name, path == nil ? .cyan : .bold)
    }

    /// Opens a database or a preview of it.
    static func open(_ options: ConsoleOptions, preview isPreview: Bool, _ editor: any LineEditor) async throws -> ConsolePlace {
        var configuration = ScriptHost.Configuration(
            database: .command(options.database, readonly: options.isReadonly && !isPreview))
        configuration.libraries = options.isSandboxed ? .sandboxed : .trusted
        configuration.allowsFiles = !options.isSandboxed
        configuration.sqliteExtensions = options.extensions
        configuration.moduleFolder = options.isSandboxed ? nil : "."
        configuration.output = options.isTerminal ? .closure { editor.show($0 + "\n") } : .standardOutput()
        let colors = options.errorColors
        configuration.callbackErrors = .handle { error in editor.show(ErrorReport(error).text(colors: colors)) }
        configuration.errorDisclosure = .all
        configuration.carriesTaskLocalValues = false
        ConsoleEvaluator.prepare(&configuration)
        configuration.keepsTransactions = true
        do {
            guard isPreview else {
                let host = try await ScriptHost(configuration)
                OpenHosts.add(host)
                if options.isReadonly, let path = options.database { OpenHosts.addReading(path) }
                await host.listen(for: SIGUSR2)
                return ConsolePlace(host: host, preview: nil, path: options.database, isReadonly: options.isReadonly)
            }
            let preview = try await ScriptPreview(of: .command(options.database), configuration: configuration)
            await preview.host.listen(for: SIGUSR2)
            return ConsolePlace(host: preview.host, preview: preview, path: options.database, isReadonly: false)
        } catch {
            throw CommandFailure(ErrorReport(opening: options.database, error: error))
        }
    }
}

/// The options of the console.
struct ConsoleOptions: Sendable {
    /// The database file; `nil` for a private database in memory.
    var database: String?
    var isReadonly = false
    var isSandboxed = false
    /// The paths of SQLite extensions.
    var extensions: [String] = []
    var isPreview = false
    /// Whether a console started as a preview may switch to the original database.
    var mayWorkLive = true
    var isTerminal = true
    /// Whether the session ends at the first error if its input is a file or a pipe.
    var stopsAtErrors = true
    var colors = Colors.off
    var errorColors = Colors.off
}
