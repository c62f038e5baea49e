internal import GRDB

/// An examination of automations and jobs: dead jobs, failed or diverged runs, and times in the future.
struct DurableExamination {
    let path: String
    let db: Database

    func findings() throws -> [Finding] {
        var findings: [Finding] = []
        if try hasColumn("state", of: "perilune_job") { try findings += jobs() }
        if try hasColumn("owner", of: "perilune_automation_run") { try findings += runs() + times() }
        return findings
    }

    /// Returns whether a table has a column; an earlier version of Perilune may have created it without.
    private func hasColumn(_ column: String, of table: String) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE name = ?)", arguments: [table, column]) ?? false
    }

    private func jobs() throws -> [Finding] {
        try Row.fetchAll(db, sql: "SELECT queue, count(*) AS n FROM perilune_job WHERE state = 'dead' GROUP BY queue ORDER BY queue").map { row in
            let (queue, count) = (row["queue"] as String, row["n"] as Int)
            return Finding(
                verdict: .warning, text: count == 1 ? "1 job of the queue \(queue) is dead" : "\(count) jobs of the queue \(queue) are dead",
                cure: "look at the column error of perilune_job; then retry them by perilune.jobs(name):retry(id), or prune them")
        }
    }

    private func runs() throws -> [Finding] {
        let sql = """
            SELECT automation, outcome, count(*) AS n FROM perilune_automation_run WHERE outcome IN ('diverged', 'interrupted')
            GROUP BY automation, outcome ORDER BY automation, outcome
            """
        return try Row.fetchAll(db, sql: sql).map { row in
            let (name, outcome, count) = (row["automation"] as String, row["outcome"] as String, row["n"] as Int)
            return Finding(
                verdict: .warning, text: "\(count == 1 ? "1 run" : "\(count) runs") of the automation \(name): \(outcome)",
                cure: "perilune automations trace --database \(path) lists them")
        }
    }

    /// Returns a finding on runs that start in the future, because the clock was set back or differs between machines.
    private func times() throws -> [Finding] {
        let sql = "SELECT count(*) FROM perilune_automation_run WHERE started_at > strftime('%Y-%m-%d %H:%M:%f', 'now', '+1 minute')"
        guard let count = try Int.fetchOne(db, sql: sql), count > 0 else { return [] }
        return [
            Finding(
                verdict: .warning, text: "\(count == 1 ? "1 run of an automation begins" : "\(count) runs of automations begin") in the future",
                cure: "compare the clocks of the machines that use the database")
        ]
    }
}
