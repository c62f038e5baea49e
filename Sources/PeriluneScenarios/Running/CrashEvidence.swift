internal import Foundation
internal import GRDB
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import PeriluneRecords

/// The results that a run with crashes must reproduce: the rows of the tables, the calls, and the states of runs and jobs.
struct CrashEvidence {
    /// The names that a scenario excludes from the comparison: tables, columns, functions, and fields of their arguments.
    struct Exclusions {
        private let names: Set<String>

        init(_ names: [String]) {
            self.names = Set(names.map { $0.lowercased() })
        }

        func contains(_ parts: String...) -> Bool { names.contains(parts.joined(separator: ".").lowercased()) }
    }

    private let tables: [String: TableRows]
    private let calls: [Call]
    /// The number of runs and jobs in each unfinished or failed state, by descriptions such as "run of `close order` failed".
    private let states: [String: Int]

    /// The sorted rows of a table, with their values as SQL literals.
    private struct TableRows: Equatable {
        var columns: [String] = []
        var rows: [[String]] = []

        /// The rows as text.
        var texts: [String] {
            rows.map { row in zip(columns, row).map { "\($0) = \($1)" }.joined(separator: ", ") }
        }
    }

    /// A call with its arguments as text.
    private struct Call {
        let function: String
        let arguments: String
        let place: String?

        var text: String { "\(function)\(arguments)" }
    }

    /// Collects the results at the end of a run.
    init(of host: ScenarioHost, without exclusions: Exclusions) throws {
        let trace = host.stage.trace
        (tables, states) = try trace.pausing {
            try host.stage.writer.unsafeReentrantWrite { db in (try Self.tables(in: db, exclusions), try Self.states(in: db)) }
        }
        calls = host.effects.calls.filter { !exclusions.contains($0.module, $0.name) }.map { call in
            let arguments = call.arguments.map { Self.text(of: $0, ["\(call.module).\(call.name)"], exclusions) }
            return Call(
                function: "\(call.module).\(call.name)", arguments: "(\(arguments.joined(separator: ", ")))",
                place: call.file.map { file in file + (call.line.map { ":\($0)" } ?? "") })
        }
    }

    private static func tables(in db: Database, _ exclusions: Exclusions) throws -> [String: TableRows] {
        let names = try String.fetchAll(
            db,
            sql:
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite@_%' ESCAPE '@'"
        )
        var tables: [String: TableRows] = [:]
        for name in names where !OwnTables.contain(name) && !exclusions.contains(name) {
            let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [name])
                .filter { !exclusions.contains(name, $0) }
            guard !columns.isEmpty else { continue }
            let values = columns.map { "quote(\($0.quotedDatabaseIdentifier))" }
            let sql = "SELECT \(values.joined(separator: ", ")) FROM \(name.quotedDatabaseIdentifier)"
            let rows = try Row.fetchAll(db, sql: sql).map { row in columns.indices.map { row[$0] as String } }
            tables[name] = TableRows(columns: columns, rows: rows.sorted { $0.lexicographicallyPrecedes($1) })
        }
        return tables
    }

    private static func states(in db: Database) throws -> [String: Int] {
        var states: [String: Int] = [:]
        let sources = [
            (
                "perilune_automation_run",
                "SELECT 'run of `' || automation || '` ' || outcome AS text, count(*) AS count FROM perilune_automation_run "
                    + "WHERE outcome IN ('running', 'failed', 'diverged', 'interrupted') GROUP BY 1"
            ),
            (
                "perilune_job",
                "SELECT 'job of `' || queue || '` ' || state AS text, count(*) AS count FROM perilune_job "
                    + "WHERE state IN ('running', 'dead') GROUP BY 1"
            ),
        ]
        for (table, sql) in sources where try db.tableExists(table) {
            for row in try Row.fetchAll(db, sql: sql) { states[row["text"]] = row["count"] }
        }
        return states
    }

    /// Returns an argument as text, with the fields of tables sorted.
    private static func text(of value: LuaValue, _ path: [String], _ exclusions: Exclusions) -> String {
        switch value {
        case .string(let string): return "\"\(string)\""
        case .integer(let number): return "\(number)"
        case .number(let number): return "\(number)"
        case .boolean(let flag): return "\(flag)"
        case .nil: return "nil"
        case .table(let table):
            guard path.count < 9, let pairs = try? table.pairs() else { return "{...}" }
            let fields = pairs.compactMap { key, value -> String? in
                let name = if case .string(let string) = key { string.description } else { text(of: key, path, exclusions) }
                guard !exclusions.contains((path + [name]).joined(separator: ".")) else { return nil }
                return "\(name) = \(text(of: value, path + [name], exclusions))"
            }
            return "{ \(fields.sorted().joined(separator: ", ")) }"
        default:
            if let date = try? Date.fromLua(value) { return "\(date)" }
            return value.typeName
        }
    }

    // MARK: - Comparing

    /// Returns the differences between a run with crashes and the undisturbed run.
    func failures(comparedWith undisturbed: CrashEvidence, crashCount: Int) -> [ScenarioFailure] {
        let calls =
            otherArgumentsFailure(undisturbed).map { [$0] }
            ?? [lostCallFailure(undisturbed), changedCallFailure(undisturbed), repeatedCallFailure(undisturbed, crashCount)]
            .compactMap { $0 }
        return [tableFailure(undisturbed)].compactMap { $0 } + calls + [stateFailure(undisturbed)].compactMap { $0 }
    }

    private static func failure(_ message: String, _ kind: String, _ details: [String]) -> ScenarioFailure {
        var failure = ScenarioFailure(message, kind: kind)
        failure.details = details
        return failure
    }

    private static let mostDetails = 10

    private func tableFailure(_ undisturbed: CrashEvidence) -> ScenarioFailure? {
        var details: [String] = [], names: [String] = [], generated: [String] = []
        for name in Set(tables.keys).union(undisturbed.tables.keys).sorted() {
            let (found, expected) = (tables[name] ?? TableRows(), undisturbed.tables[name] ?? TableRows())
            guard found != expected else { continue }
            names.append("`\(name)`")
            generated += Self.generatedColumns(found, expected).map { "\"\(name).\($0)\"" }
            // The signs are the same as in other comparisons: + for missing rows, - for unexpected ones.
            details += Self.difference(expected.texts, found.texts).map { "+ \(name): \($0)" }
            details += Self.difference(found.texts, expected.texts).map { "- \(name): \($0)" }
        }
        guard !names.isEmpty else { return nil }
        if !generated.isEmpty {
            details.insert(
                "the option crash = { ignore = { \(generated.joined(separator: ", ")) } } leaves out times and generated keys",
                at: 0)
        }
        if details.count > Self.mostDetails {
            details = details.prefix(Self.mostDetails) + ["and \(details.count - Self.mostDetails) more"]
        }
        let verb = names.count == 1 ? "differs" : "differ"
        return Self.failure("\(names.joined(separator: ", ")) \(verb) from the undisturbed run", "crash_rows", details)
    }

    /// Returns the columns with times or UUIDs that differ while the number of rows is the same.
    private static func generatedColumns(_ found: TableRows, _ expected: TableRows) -> [String] {
        guard found.columns == expected.columns, found.rows.count == expected.rows.count else { return [] }
        return found.columns.indices.filter { index in
            let values = found.rows.map { $0[index] }.sorted()
            guard values != expected.rows.map({ $0[index] }).sorted() else { return false }
            return values.contains { $0.firstMatch(of: #/^'(\d{4}-\d\d-\d\d|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-)/#) != nil }
        }.map { found.columns[$0] }
    }

    /// Returns the elements of a list that another list lacks, counting repetitions.
    private static func difference(_ list: [String], _ other: [String]) -> [String] {
        var counts = other.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        return list.filter { text in
            guard let count = counts[text], count > 0 else { return true }
            counts[text] = count - 1
            return false
        }
    }

    /// Returns a failure if the run made as many calls as the undisturbed run, but one call had different arguments.
    private func otherArgumentsFailure(_ undisturbed: CrashEvidence) -> ScenarioFailure? {
        guard calls.count == undisturbed.calls.count else { return nil }
        // Runs that do not wait for each other may make their calls in a different order.
        let lost = Self.difference(undisturbed.calls.map(\.text), calls.map(\.text)).first
        let new = Self.difference(calls.map(\.text), undisturbed.calls.map(\.text)).first
        guard let expected = undisturbed.calls.first(where: { $0.text == lost }),
            let found = calls.first(where: { $0.text == new }),
            expected.function == found.function
        else { return nil }
        return Self.failure(
            "\(found.function) was called with different arguments than in the undisturbed run", "crash_calls",
            [("undisturbed", expected), ("now        ", found)].map {
                "\($0)  \($1.arguments)\($1.place.map { "  \($0)" } ?? "")"
            })
    }

    private func lostCallFailure(_ undisturbed: CrashEvidence) -> ScenarioFailure? {
        let lost = Self.difference(undisturbed.calls.map(\.text), calls.map(\.text))
        guard let first = lost.first else { return nil }
        return Self.failure(
            "\(first) was not called" + (lost.count > 1 ? ", nor \(lost.count - 1) other calls" : ""), "crash_calls",
            calls.prefix(Self.mostDetails).map { "called \($0.text)\($0.place.map { "  \($0)" } ?? "")" })
    }

    /// Returns the failure for a call that is neither in the undisturbed run nor the repetition of an earlier call.
    private func changedCallFailure(_ undisturbed: CrashEvidence) -> ScenarioFailure? {
        let known = Set(undisturbed.calls.map(\.text))
        guard let changed = calls.first(where: { !known.contains($0.text) }) else { return nil }
        let first = calls.first { $0.function == changed.function && $0.place == changed.place && $0.text != changed.text }
        guard let first else {
            return Self.failure(
                "\(changed.text) was called, but not by the undisturbed run", "crash_calls", [changed.place].compactMap { $0 })
        }
        return Self.failure(
            "\(changed.function) was called twice with different arguments", "crash_calls",
            [("first ", first), ("second", changed)].map { "\($0)  \($1.arguments)\($1.place.map { "  \($0)" } ?? "")" })
    }

    /// Returns the failure for a call that was repeated more often than crashes can explain: each crash interrupts at most one
    /// call.
    private func repeatedCallFailure(_ undisturbed: CrashEvidence, _ crashCount: Int) -> ScenarioFailure? {
        let expected = Self.counts(undisturbed.calls), found = Self.counts(calls)
        let first = calls.first {
            found[$0.text, default: 0] > expected[$0.text, default: 0] + crashCount && expected[$0.text] != nil
        }
        guard let first else { return nil }
        return Self.failure(
            "\(first.text) was called \(found[first.text] ?? 0) times, in the undisturbed run \(expected[first.text] ?? 0)",
            "crash_calls",
            ["a crash interrupts one call, which may then be repeated once"])
    }

    /// Returns the functions that were called more often with the same arguments than in the undisturbed run.
    func repeatedFunctions(comparedWith undisturbed: CrashEvidence) -> Set<String> {
        let expected = Self.counts(undisturbed.calls), found = Self.counts(calls)
        return Set(calls.filter { found[$0.text, default: 0] > expected[$0.text, default: 0] }.map(\.function))
    }

    private static func counts(_ calls: [Call]) -> [String: Int] { calls.reduce(into: [:]) { $0[$1.text, default: 0] += 1 } }

    private func stateFailure(_ undisturbed: CrashEvidence) -> ScenarioFailure? {
        let worse = states.filter { $0.value > undisturbed.states[$0.key] ?? 0 }.sorted { $0.key < $1.key }
        guard let first = worse.first else { return nil }
        let isInterrupted = worse.contains { $0.key.hasSuffix(" interrupted") }
        let advice = #"interrupted = "rerun" in the automation repeats an interrupted run, durable = true continues it"#
        return Self.failure(
            "\(first.value) \(first.key), unlike in the undisturbed run", "crash_runs",
            worse.dropFirst().map { "\($0.value) \($0.key)" } + (isInterrupted ? [advice] : []))
    }
}
