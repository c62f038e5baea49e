internal import GRDB
internal import PeriluneBindings

/// An examination of automations and jobs: dead jobs, diverged runs, work without a process, and times in the future.
struct DurableExamination {
    let path: String
    let db: Database

    func findings() throws -> [Finding] {
        var findings: [Finding] = []
        if try hasColumn("state", of: "perilune_job") { try findings += jobs() + abandonedJobs() + waitingJobs() }
        if try hasColumn("owner", of: "perilune_automation_run") { try findings += runs() + abandonedRuns() + times() }
        return findings
    }

    /// Returns whether a table has a column. Tables from earlier versions of Perilune may lack it.
    private func hasColumn(_ column: String, of table: String) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE name = ?)", arguments: [table, column]) ?? false
    }

    private func jobs() throws -> [Finding] {
        try Row.fetchAll(
            db, sql: "SELECT queue, count(*) AS n FROM perilune_job WHERE state = 'dead' GROUP BY queue ORDER BY queue"
        ).map { row in
            let (queue, count) = (row["queue"] as String, row["n"] as Int)
            return Finding(
                verdict: .warning,
                text: count == 1 ? "1 job of the queue \(queue) is dead" : "\(count) jobs of the queue \(queue) are dead",
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

    private func abandonedRuns() throws -> [Finding] {
        try abandoned("SELECT automation, owner FROM perilune_automation_run WHERE outcome = 'running' AND owner IS NOT NULL").map
        { name, count in
            Finding(
                verdict: .warning,
                text: count == 1
                    ? "1 run of the automation \(name) is recorded as running, but its process has ended"
                    : "\(count) runs of the automation \(name) are recorded as running, but their processes have ended",
                cure: "start the service again: it continues them, or records that they were interrupted")
        }
    }

    private func abandonedJobs() throws -> [Finding] {
        try abandoned("SELECT queue, owner FROM perilune_job WHERE state = 'running' AND owner IS NOT NULL").map { name, count in
            Finding(
                verdict: .warning,
                text: count == 1
                    ? "1 job of the queue \(name) is recorded as running, but its process has ended"
                    : "\(count) jobs of the queue \(name) are recorded as running, but their processes have ended",
                cure: "start a service that handles the queue: it takes them over")
        }
    }

    /// Counts the rows by name whose owning process no longer exists. The statement selects a name and an owner.
    private func abandoned(_ sql: String) throws -> [(name: String, count: Int)] {
        let rows = try Row.fetchAll(db, sql: sql).filter { RowOwners.isAlive($0[1]) == false }
        return Dictionary(grouping: rows) { $0[0] as String }.map { ($0.key, $0.value.count) }.sorted { $0.name < $1.name }
    }

    /// Returns findings on jobs that no process handles.
    private func waitingJobs() throws -> [Finding] {
        guard try db.tableExists("perilune_job_queue") else { return [] }
        let sql = """
            SELECT queue, perilune_job_queue.owner, count(*) AS n FROM perilune_job LEFT JOIN perilune_job_queue USING (queue)
            WHERE state IN ('ready', 'delayed', 'blocked') AND coalesce(is_paused, 0) = 0 GROUP BY queue ORDER BY queue
            """
        return try Row.fetchAll(db, sql: sql).filter { row in
            (row["owner"] as String?).map { RowOwners.isAlive($0) == false } ?? true
        }.map { row in
            let (queue, count) = (row["queue"] as String, row["n"] as Int)
            return Finding(
                verdict: .warning,
                text: count == 1
                    ? "1 job of the queue \(queue) waits, and no process handles it"
                    : "\(count) jobs of the queue \(queue) wait, and no process handles them",
                cure: "start a service that handles the queue, or cancel them by perilune.jobs(name):cancel(id)")
        }
    }

    /// Returns a finding on runs that start in the future, because the clock was set back or differs between machines.
    private func times() throws -> [Finding] {
        let sql =
            "SELECT count(*) FROM perilune_automation_run WHERE started_at > strftime('%Y-%m-%d %H:%M:%f', 'now', '+1 minute')"
        guard let count = try Int.fetchOne(db, sql: sql), count > 0 else { return [] }
        return [
            Finding(
                verdict: .warning,
                text: "\(count == 1 ? "1 run of an automation begins" : "\(count) runs of automations begin") in the future",
                cure: "compare the clocks of the machines that use the database")
        ]
    }
}
