internal import Perilune
internal import PeriluneRecords
internal import PeriluneScenarios
internal import Synchronization

/// A web page with the changes that a script would make.
struct PreviewPage {
    /// The name of the script.
    let name: String
    /// The database file; `nil` for a private database in memory.
    let database: String?
    let report: PreviewReport
    let statements: [StatementRecord]
    /// The failure of the script, if any.
    var failure: ErrorReport?
    var duration = Duration.zero

    var text: String {
        let changed = database ?? "an empty database"
        var page = ReportPage(
            title: failure == nil ? "\(name) would change \(changed)" : "\(name) failed",
            summary: "\(PreviewFormatter.headline(report)) · \(statementCount) · \(TimeText.text(duration))")
        page.entries = failures + tables + schema + effects + notes + statementEntries
        let titles = [
            "failed": "error", "table": "tables", "schema": "schema", "effect": "effects", "note": "notes",
            "statement": "statements",
        ]
        page.kinds = ["failed", "table", "schema", "effect", "note", "statement"].compactMap { kind in
            let count = page.entries.count { $0.kind == kind }
            return count > 0 ? ReportPage.Kind(kind, titles[kind] ?? kind, count) : nil
        }
        return page.text
    }

    private var statementCount: String {
        let runs = statements.reduce(0) { $0 + $1.count }
        let count = statements.count == 1 ? "1 statement" : "\(statements.count) statements"
        return runs == statements.count ? count : "\(count), run \(runs) times"
    }

    private var failures: [ReportPage.Entry] {
        failure.map {
            [ReportPage.Entry(kind: "failed", mark: "ERROR", title: $0.message, isOpen: true, body: ReportPage.text($0.text))]
        } ?? []
    }

    private var tables: [ReportPage.Entry] {
        report.tables.map { table in
            ReportPage.Entry(
                kind: "table", mark: PreviewFormatter.counts(of: table), title: table.name,
                details: table.key.isEmpty ? [] : ["key: \(table.key.joined(separator: ", "))"], isOpen: true,
                body: ReportPage.changes(table))
        }
    }

    private var schema: [ReportPage.Entry] {
        report.schema.map { change in
            let mark = change.kind == .added ? "+" : change.kind == .removed ? "-" : "~"
            let lines = { (sql: String?, mark: String) in (sql ?? "").split(separator: "\n").map { "\(mark) \($0)" } }
            return ReportPage.Entry(
                kind: "schema", mark: mark, title: "\(change.type) \(change.name)", isOpen: true,
                body: ReportPage.lines(lines(change.before, "-") + lines(change.after, "+")))
        }
    }

    private var effects: [ReportPage.Entry] {
        report.effects.map { effect in
            ReportPage.Entry(
                kind: "effect", mark: "EFFECT", title: effect.name, details: ["recorded, not performed"],
                body: ReportPage.text("\(effect.name)(\(effect.arguments.joined(separator: ", ")))"))
        }
    }

    private var notes: [ReportPage.Entry] {
        (report.warnings + report.obstacles.map { "no plan: \($0)" }).map {
            ReportPage.Entry(kind: "note", mark: "NOTE", title: $0, body: "")
        }
    }

    /// The statements, slowest first.
    private var statementEntries: [ReportPage.Entry] {
        statements.sorted { $0.duration > $1.duration }.map { statement in
            let times = statement.count > 1 ? ["\(statement.count) times"] : []
            let head = statement.sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return ReportPage.Entry(
                kind: "statement", mark: TimeText.text(statement.duration), title: DisplayText.cut(head, to: 160, ellipsis: "…"),
                details: times,
                body: ReportPage.text(statement.sql)
                    + ReportPage.section("query plan", ReportPage.text(statement.plan.joined(separator: "\n"))))
        }
    }

    /// An SQL statement with the number and duration of its executions.
    struct StatementRecord {
        let sql: String
        var count = 0
        /// The total duration of all executions.
        var duration = Duration.zero
        var plan: [String] = []
    }
}

/// A log of executed statements and their durations, for the page.
final class StatementLog: Sendable {
    private let statements = Mutex<(order: [String], times: [String: PreviewPage.StatementRecord])>(([], [:]))
    /// The maximum number of distinct statements.
    private static let mostStatements = 500

    func take(_ event: SQLTrace.Event) {
        // Transaction control and schema queries are skipped, because most come from the host.
        guard let duration = event.duration, !event.sql.withCString(SQLScreening.isBookkeeping) else { return }
        statements.withLock { statements in
            if statements.times[event.sql] == nil {
                guard statements.order.count < Self.mostStatements else { return }
                statements.order.append(event.sql)
                statements.times[event.sql] = PreviewPage.StatementRecord(sql: event.sql)
            }
            statements.times[event.sql]?.count += 1
            statements.times[event.sql]?.duration += duration
        }
    }

    /// Returns the statements with their query plans.
    func records(on host: ScriptHost) async -> [PreviewPage.StatementRecord] {
        var records = statements.withLock { statements in statements.order.compactMap { statements.times[$0] } }
        for index in records.indices { records[index].plan = await host.queryPlan(of: records[index].sql) ?? [] }
        return records
    }
}
