internal import PeriluneIsolation
internal import PeriluneLua

/// Automations, jobs and observations of scripts in another process, which the host controls through requests.
extension WorkerBackend {
    func loadAutomations(
        _ source: [UInt8], named path: String, isLive: Bool, poll: Duration?, in host: isolated ScriptHost
    ) async throws -> Int {
        reportCommits()
        let poll = poll.map { WireValue($0) } ?? .nil
        let count = try await request(.loadAutomations, [.string(source), .text(path), .boolean(isLive), poll], in: host)
        return count.first?.integerValue.flatMap { Int(exactly: $0) } ?? 0
    }

    func waitForEvents(in host: isolated ScriptHost) async throws {
        _ = try await request(.waitForEvents, [], in: host)
    }

    func endAutomations(in host: isolated ScriptHost) async throws {
        // If the process has ended, its automations have ended too.
        if connection.hasEnded { return }
        _ = try await request(.endAutomations, [], in: host)
    }

    func callLibrary(
        _ module: LibraryInterface, _ function: String, _ makeArguments: (LuaState) throws -> [LuaValue],
        in host: isolated ScriptHost
    ) async throws -> LuaValue {
        let arguments = try copies(of: makeArguments(host.state))
        let results = try await request(.callLibrary, [.text(module.rawValue), .text(function), arguments], in: host)
        return try results.first?.lua(in: host.state) ?? .nil
    }

    func observe(
        _ function: String, removesDuplicates: Bool, in host: isolated ScriptHost
    ) async throws -> any ObservedFunction {
        reportCommits()
        let number = try await request(.observe, [.text(function), .boolean(removesDuplicates)], in: host)
        return ForeignObservation(name: function, number: number.first ?? .nil, host: host)
    }
}

/// An observation of a script function in another process.
private final class ForeignObservation: ObservedFunction {
    let name: String
    /// The observation's number in the other process.
    private let number: WireValue
    private let host: ScriptHost

    init(name: String, number: WireValue, host: ScriptHost) {
        (self.name, self.number, self.host) = (name, number, host)
    }

    deinit {
        Task { [number, host] in try? await host.askWorker(.endObservation, number) }
    }

    func waitForChange() async throws {
        try await host.askWorker(.awaitObservation, number)
    }

    func take(in host: isolated ScriptHost) async throws -> [LuaValue]? {
        guard let worker = host.backend as? WorkerBackend else { return nil }
        let values = try await worker.request(.takeObservation, [number], in: host)
        guard values.first?.booleanValue == true else { return nil }
        return try Array(values.dropFirst()).lua(in: host.state)
    }

    func control(_ method: String, _ function: String?, in host: isolated ScriptHost) async throws -> Bool {
        guard let worker = host.backend as? WorkerBackend else { return false }
        let values = [number, .text(method), function.map { .text($0) } ?? .nil]
        return try await worker.request(.controlObservation, values, in: host).first?.booleanValue == true
    }
}

extension ScriptHost {
    fileprivate func askWorker(_ message: HostMessage, _ number: WireValue) async throws {
        guard let worker = backend as? WorkerBackend else { return }
        _ = try await worker.request(message, [number], in: self)
    }
}
