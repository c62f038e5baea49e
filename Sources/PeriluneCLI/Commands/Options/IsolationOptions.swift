import ArgumentParser
internal import PeriluneIsolation

/// A command whose scripts run in a process of their own if they are not trusted: the command once more.
protocol IsolatingCommand: ParsableCommand {
    var limits: ScriptLimitOptions { get }
    var isolating: IsolationOptions { get }

    /// What it is asked to do.
    func makeRequest() throws -> ScriptRequest
}

/// Whether scripts run in a process of their own.
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
                guard let layer = IsolationLayer(String(name)) else { throw ValidationError("unknown layer '\(name)'; there are \(names)") }
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

    /// Whether this process is to start another one for a request.
    func isolates(_ request: ScriptRequest) -> Bool { request.isSandboxed && !request.isSupervised && isolate != false }

    /// Whether it may not run in this process instead.
    var isRequired: Bool { isolate == true || !requireLayers.isEmpty }
}
