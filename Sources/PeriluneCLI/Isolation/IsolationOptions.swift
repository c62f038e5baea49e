import ArgumentParser
internal import PeriluneIsolation

/// A command that runs untrusted scripts in a separate process, which runs the same command again.
protocol IsolatingCommand: ParsableCommand {
    var limits: ScriptLimitOptions { get }
    var isolating: IsolationOptions { get }

    /// Returns the request described by the options.
    func makeRequest() throws -> ScriptRequest
}

/// The options for running scripts in a separate process.
struct IsolationOptions: ParsableArguments {
    @Flag(inversion: .prefixedNo, help: "Run in a process of its own, which is the default with --sandbox.")
    var isolate: Bool?

    @Option(
        help: ArgumentHelp(
            "Do not run without these layers of isolation: \(IsolationOptions.names).", valueName: "layers"),
        transform: IsolationOptions.layers)
    var requireLayers: Set<IsolationLayer> = []

    private static var names: String { IsolationLayer.allCases.map(\.description).joined(separator: ",") }

    @Sendable private static func layers(_ text: String) throws -> Set<IsolationLayer> {
        Set(
            try text.split(separator: ",").map { name in
                guard let layer = IsolationLayer(String(name)) else {
                    throw ValidationError("unknown layer `\(name)`; available: \(names)")
                }
                return layer
            })
    }

    /// - Throws: `ValidationError` if the options contradict each other.
    func validate(isSandboxed: Bool) throws {
        if isolate == true, !isSandboxed { throw ValidationError("--isolate requires --sandbox") }
        if !requireLayers.isEmpty, isolate == false || !isSandboxed {
            throw ValidationError("--require-layers requires --sandbox, and not --no-isolate")
        }
    }

    /// Returns whether a request must run in another process.
    func isolates(_ request: ScriptRequest) -> Bool { request.isSandboxed && !request.isSupervised && isolate != false }

    /// Whether it is an error if the separate process cannot be started.
    var isRequired: Bool { isolate == true || !requireLayers.isEmpty }
}
