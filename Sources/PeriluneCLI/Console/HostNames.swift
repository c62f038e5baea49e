internal import Foundation
internal import Perilune

/// The names in a script host that the thread for keyboard input requests for completion.
struct HostNames: CompletionNames {
    let host: ScriptHost

    var tables: [(name: String, columns: [String])] {
        Self.wait { [host] in await host.databaseNames()?.tables.map { ($0.name, $0.columns) } ?? [] } ?? []
    }

    func members(of chain: [String], separator: String) -> [String] {
        Self.wait { [host] in (try? await ConsoleEvaluator(host: host).members(of: chain, separator: separator)) ?? [] } ?? []
    }

    func sqlNames(_ kind: SQLNameKind) -> [String] {
        Self.wait { [host] in (try? await ConsoleEvaluator(host: host).sqlNames(kind)) ?? [] } ?? []
    }

    /// Waits up to two seconds for an answer; returns `nil` if a running script delays it longer.
    private static func wait<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) -> Value? {
        let answer = Answer<Value>()
        let task = Task { answer.give(await operation()) }
        if let value = answer.take(within: 2) { return value }
        task.cancel()
        return nil
    }

    /// A value that one thread waits for.
    private final class Answer<Value: Sendable>: @unchecked Sendable {
        private let condition = NSCondition()
        /// Guarded by `condition`.
        private var value: Value?

        func give(_ value: Value) {
            condition.lock()
            self.value = value
            condition.signal()
            condition.unlock()
        }

        func take(within seconds: TimeInterval) -> Value? {
            let deadline = Date(timeIntervalSinceNow: seconds)
            condition.lock()
            defer { condition.unlock() }
            while value == nil, condition.wait(until: deadline) {}
            return value
        }
    }
}
