import ArgumentParser
internal import Perilune

/// What the option `--context` may say.
enum ContextOption: String, CaseIterable, ExpressibleByArgument, Sendable {
    case live, test, preview

    var context: DependencyContext {
        switch self {
        case .live: .live
        case .test: .test
        case .preview: .preview
        }
    }
}

/// What a command runs for: its users, a test, a preview.
struct CommandContext {
    let context: DependencyContext
    /// Where it comes from; `nil` if that is the process itself.
    private let source: Settings.Source?

    /// The context that an option names; else that of the settings; else that of the process.
    ///
    /// - Throws: ``CommandFailure`` if it is invalid.
    init(_ option: ContextOption?) throws {
        do {
            if let option {
                (context, source) = (option.context, .option("--context"))
            } else if let value = Settings.current[.context], case .file = value.source, let option = ContextOption(rawValue: value.text) {
                (context, source) = (option.context, value.source)
            } else {
                (context, source) = (try Dependencies.current.context, nil)
            }
        } catch {
            throw CommandFailure(ErrorReport("\(error)", kind: "usage", help: "set it to a valid context, or use --context"))
        }
    }

    /// Refuses a command that would use a database itself where only copies may be used.
    func requireLive(_ command: String, database: String) throws {
        guard context != .live else { return }
        let origin = if case .option = source { "" } else { " (set by \(source?.text ?? DependencyContext.environmentVariable))" }
        throw CommandFailure(
            ErrorReport(
                "`perilune \(command)` uses \(database) itself, which is not allowed in a \(context) context\(origin)",
                kind: "usage", help: "use --context live to allow it"))
    }

    /// Runs an operation that sees the context.
    func run<Result>(_ operation: nonisolated(nonsending) () async throws -> Result) async throws -> Result {
        guard source != nil else { return try await operation() }
        return try await Dependencies.with(context: context) { try await operation() }
    }
}
