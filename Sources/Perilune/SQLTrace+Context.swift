internal import Foundation
public import GRDB
internal import Logging
internal import PeriluneBindings
internal import PeriluneDependencies

extension SQLTrace {
    /// Tells where the context of a container looks: standard output in a preview, else the log, at the level `debug`.
    static func contextual(_ events: Events, showsValues: Bool, in environment: ScriptEnvironment) -> SQLTrace {
        guard environment.context != .preview else {
            return SQLTrace(events, showsValues: showsValues) { event in print(event.description) }
        }
        let logger = environment.logger
        return SQLTrace(events, showsValues: showsValues) { event in
            var fields: Logger.Metadata = [:]
            if let duration = event.duration { fields["milliseconds"] = "\(duration / .milliseconds(1))" }
            logger.debug("\(event.sql)", metadata: fields)
        }
    }
}

extension SQLTrace.Event: CustomStringConvertible {
    /// `sql: SELECT 1`, or `sql: 0.42 ms  SELECT 1`.
    public var description: String {
        guard let duration else { return "sql: \(sql)" }
        return "sql: \(String(format: "%.2f", duration / .milliseconds(1))) ms  \(sql)"
    }
}

extension DefaultDatabase {
    /// The same database, whose statements are told: in live and in tests to the log of the container, at the level `debug`; in
    /// a preview to standard output.
    ///
    /// - Parameter showsValues: Whether the bound values stand in the SQL. They may be secret.
    public func traced(_ events: SQLTrace.Events = .statements, showsValues: Bool = false) -> DefaultDatabase {
        var database = self
        database.trace = Trace(events: events, showsValues: showsValues)
        return database
    }

    /// What is asked of the trace.
    struct Trace: Sendable {
        let events: SQLTrace.Events
        let showsValues: Bool
    }
}
