internal import Foundation
internal import GRDB
internal import Logging
internal import PeriluneBindings
internal import PeriluneDependencies

/// Installation of a trace, and the destination `log`.
extension SQLTrace {
    /// Adds the trace to a configuration, for every connection opened with this configuration.
    ///
    /// - Returns: The reporter of slow statements; `nil` if slow statements are not reported.
    func install(in configuration: inout Configuration, _ environment: ScriptEnvironment) -> SlowStatements? {
        let (trace, slow) = make(environment)
        configuration.prepareDatabase { db in trace.start(on: db) }
        return slow
    }

    /// Resolves the destination `log` to standard output in a preview, or else to the environment's logger.
    ///
    /// - Returns: A trace with a closure as its destination, and the reporter of slow statements; `nil` if slow statements are not
    ///   reported.
    func make(_ environment: ScriptEnvironment) -> (SQLTrace, SlowStatements?) {
        guard case .log(let limit) = destination else { return (self, nil) }
        let isPreview = environment.context == .preview
        let report = isPreview ? Self.reportToOutput : Self.reportToLog(environment.logger)
        let slow = limit.map { SlowStatements(limit: $0, isPreview ? Self.tellSlowOutput : Self.tellSlowLog(environment.logger)) }
        // Slow statements require the event `profile`, which contains the duration.
        let reported = events
        let trace = SQLTrace(slow == nil ? events : events.union(.profile), showsValues: showsValues) { event in
            guard slow?.isExplanation(event) != true else { return }
            if reported.contains(event.duration == nil ? .statements : .profile) { report(event) }
            slow?.take(event)
        }
        return (trace, slow)
    }

    private static let reportToOutput: @Sendable (SQLTrace.Event) -> Void = { event in print(event.description) }

    private static func reportToLog(_ logger: Logger) -> @Sendable (SQLTrace.Event) -> Void {
        { event in logger.debug("\(event.sql)", metadata: metadata(of: event)) }
    }

    private static let tellSlowOutput: @Sendable (SQLTrace.Event, [String]) -> Void = { event, plan in
        print((["slow " + event.description] + plan.map { "  \($0)" }).joined(separator: "\n"))
    }

    private static func tellSlowLog(_ logger: Logger) -> @Sendable (SQLTrace.Event, [String]) -> Void {
        { event, plan in
            let fields: Logger.Metadata = ["plan": .array(plan.map { .string($0) })]
            logger.warning("slow: \(event.sql)", metadata: fields.merging(metadata(of: event)) { $1 })
        }
    }

    private static func metadata(of event: SQLTrace.Event) -> Logger.Metadata {
        guard let duration = event.duration else { return [:] }
        return ["milliseconds": "\(duration / .milliseconds(1))"]
    }
}

extension SQLTrace.Event: CustomStringConvertible {
    /// The event as text: `sql: SELECT 1`, or with a duration `sql: 0.42 ms  SELECT 1`.
    public var description: String {
        guard let duration else { return "sql: \(sql)" }
        return "sql: \(String(format: "%.2f", duration / .milliseconds(1))) ms  \(sql)"
    }
}
