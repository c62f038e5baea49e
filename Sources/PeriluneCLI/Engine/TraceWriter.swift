import ArgumentParser
internal import Foundation
internal import Perilune

/// The events shown by `--trace`.
enum TraceDetail: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// The start of each statement.
    case statements
    /// The end of each statement with its duration.
    case profile
}

/// The options of a trace.
struct TraceRequest: Sendable {
    /// The events to write; `nil` for none.
    var detail: TraceDetail?
    var showsValues = false
    /// The minimum duration of the statements that are listed at the end with their query plans; `nil` lists none.
    var slow: Duration?

    var isEmpty: Bool { detail == nil && slow == nil }
}

/// A writer of SQL statements to standard error as they run, and of slow statements at the end.
final class TraceWriter: Sendable {
    /// A statement that reached the limit for slow statements at least once.
    private struct SlowStatement {
        let sql: String
        var count = 0
        var longest = Duration.zero
        var together = Duration.zero
    }

    private let request: TraceRequest
    private let colors: Colors
    private let lock = NSLock()
    /// Guarded by `lock`.
    private nonisolated(unsafe) var slowStatements: [String: SlowStatement] = [:]
    /// The maximum number of listed statements.
    private static let slowStatementLimit = 50

    init(request: TraceRequest, colors: Colors) {
        self.request = request
        self.colors = colors
    }

    /// The trace configuration of the host.
    var trace: SQLTrace {
        var events: SQLTrace.Events = []
        if request.detail == .statements { events.insert(.statements) }
        if request.detail == .profile || request.slow != nil { events.insert(.profile) }
        return SQLTrace(events, showsValues: request.showsValues) { [self] event in take(event) }
    }

    private func take(_ event: SQLTrace.Event) {
        if let duration = event.duration {
            if request.detail == .profile { write(event.sql, label: "\(TimeText.text(duration))  ") }
            keep(event.sql, duration)
        } else {
            write(event.sql, label: "")
        }
    }

    private func write(_ sql: String, label: String) {
        let text = DisplayText.escaped(Self.shortened(sql), keepingLineBreaks: true)
        StandardStreams.writeError(colors.dim("sql: \(label)\(text)") + "\n")
    }

    /// Returns a statement, shortened if it is very long, because bound values may be large.
    private static func shortened(_ sql: String) -> String {
        let limit = 20_000
        guard sql.utf8.count > limit else { return sql }
        return String(decoding: sql.utf8.prefix(limit), as: UTF8.self) + "... (\(sql.utf8.count) bytes)"
    }

    // MARK: - Slow statements

    private func keep(_ sql: String, _ duration: Duration) {
        guard let limit = request.slow, duration >= limit else { return }
        lock.withLock {
            guard slowStatements[sql] != nil || slowStatements.count < Self.slowStatementLimit else { return }
            slowStatements[sql, default: SlowStatement(sql: sql)].count += 1
            slowStatements[sql]!.together += duration
            slowStatements[sql]!.longest = max(slowStatements[sql]!.longest, duration)
        }
    }

    /// Writes the slow statements with their query plans, slowest first.
    func writeSlowStatements(of host: ScriptHost) async {
        let statements = lock.withLock { slowStatements.values.sorted { $0.longest > $1.longest } }
        for statement in statements {
            let more =
                statement.count > 1 ? ", \(statement.count) times, \(TimeText.text(statement.together)) together" : ""
            let sql = DisplayText.escaped(Self.shortened(statement.sql), keepingLineBreaks: true)
            var text = colors.bold("slow: \(TimeText.text(statement.longest))\(more)") + "\n  SQL   "
            text += sql.replacing("\n", with: "\n        ") + "\n"
            let plan = await host.queryPlan(of: statement.sql) ?? []
            for (index, line) in plan.enumerated() {
                text += (index == 0 ? "  plan  " : "        ") + DisplayText.escaped(line) + "\n"
            }
            StandardStreams.writeError(text)
        }
    }
}

/// Formatting of durations.
enum TimeText {
    /// Returns a duration such as `0.42 ms`, `12 ms` or `1.5 s`.
    static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        if milliseconds >= 999.5 { return decimal(milliseconds / 1000, digits: milliseconds < 9995 ? 2 : 1) + " s" }
        return decimal(milliseconds, digits: milliseconds < 10 ? 2 : milliseconds < 99.95 ? 1 : 0) + " ms"
    }

    private static func decimal(_ value: Double, digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
