import ArgumentParser
internal import PeriluneIsolation

/// Whether scripts run in a process of their own.
struct IsolationOptions: ParsableArguments {
    @Flag(inversion: .prefixedNo, help: "Run in a process of its own, which is the default with --sandbox.")
    var isolate: Bool?

    @Option(
        help: ArgumentHelp(
            "Do not run without these layers of isolation: \(IsolationOptions.names).", valueName: "layers"),
        transform: IsolationOptions.layers)
    var requireLayers: Set<IsolationLayer> = []

    /// Given by this command to the process that it starts.
    @Flag(help: .hidden)
    var supervised = false

    private static var names: String { IsolationLayer.allCases.map(\.description).joined(separator: ",") }

    @Sendable private static func layers(_ text: String) throws -> Set<IsolationLayer> {
        Set(
            try text.split(separator: ",").map { name in
                guard let layer = IsolationLayer(String(name)) else { throw ValidationError("unknown layer '\(name)'; there are \(names)") }
                return layer
            })
    }

    func validate(isSandboxed: Bool) throws {
        if isolate == true, !isSandboxed { throw ValidationError("--isolate requires --sandbox") }
        if !requireLayers.isEmpty, isolate == false || !isSandboxed {
            throw ValidationError("--require-layers requires --sandbox, and not --no-isolate")
        }
    }

    /// Whether this process is to start another one.
    func isolates(isSandboxed: Bool) -> Bool { isSandboxed && !supervised && isolate != false }

    /// Whether it may not run in this process instead.
    var isRequired: Bool { isolate == true || !requireLayers.isEmpty }
}
