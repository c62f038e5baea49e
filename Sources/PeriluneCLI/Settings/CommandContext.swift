import ArgumentParser
internal import Perilune

/// The values of the option `--context`.
enum ContextOption: String, CaseIterable, ExpressibleByArgument, Sendable {
    case live, test, preview

    var context: DependencyContainer.Context {
        switch self {
        case .live: .live
        case .test: .test
        case .preview: .preview
        }
    }
}

/// The context of a command: live, test or preview.
struct CommandContext {
    let context: DependencyContainer.Context
    /// The source of the context; `nil` for the process environment.
    private let source: Settings.Source?

    /// Creates the context from an option, the settings or the process environment, in this order.
    ///
    /// - Throws: ``CommandFailure`` if the context is invalid.
    init(_ option: ContextOption?) throws {
        do {
            if let option {
                (context, source) = (option.context, .option("--context"))
            } else if let value = Settings.current[.context], case .file = value.source,
                let option = ContextOption(rawValue: value.text)
            {
                (context, source) = (option.context, value.source)
            } else {
                (context, source) = (try DependencyContainer.current.context, nil)
            }
        } catch {
            throw CommandFailure(ErrorReport("\(error)", kind: "usage", help: "set it to a valid context, or use --context"))
        }
    }

    /// Rejects a command that uses the original database if the context allows only copies.
    func requireLive(_ command: String, database: String) throws {
        guard context != .live else { return }
        let origin =
            if case .option = source { "" } else {
                " (set by \(source?.text ?? DependencyContainer.Context.environmentVariable))"
            }
        throw CommandFailure(
            ErrorReport(
                "`perilune \(command)` uses \(database) itself, which is not allowed in a \(context) context\(origin)",
                kind: "usage", help: "use --context live to allow it"))
    }

    /// Runs an operation within the context.
    func run<Result>(_ operation: nonisolated(nonsending) () async throws -> Result) async throws -> Result {
        guard source != nil else { return try await operation() }
        return try await DependencyContainer.with(context: context) { try await operation() }
    }
}
