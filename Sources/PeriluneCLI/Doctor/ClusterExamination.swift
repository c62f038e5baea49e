internal import GRDB
internal import Perilune
internal import PeriluneRecords

/// An examination of a dqlite cluster: its nodes, and stored values that would crash a node.
struct ClusterExamination {
    let queue: DatabaseQueue
    let place: any DatabasePlace
    /// A local copy of the cluster database.
    let copy: DatabaseQueue

    func findings() throws -> [Finding] {
        try nodes() + copy.read { db in try endangeringColumns(db) }
    }

    private func nodes() throws -> [Finding] {
        let nodes = try place.nodes()
        let leader = nodes.first { $0.isLeader }
        var findings = [Finding(verdict: .ok, text: "the node \(leader?.name ?? "") leads")]
        for node in nodes.sorted(by: { $0.name < $1.name }) {
            findings.append(Finding(verdict: .ok, text: "the node \(node.name) is a \(node.role)"))
        }
        let voters = nodes.count { $0.role == "voter" }
        if voters < 3 {
            findings.append(
                Finding(
                    verdict: .warning, text: "the cluster has \(voters) voters: it survives the failure of none",
                    cure: "add nodes until it has three"))
        } else if voters.isMultiple(of: 2) {
            findings.append(
                Finding(
                    verdict: .warning,
                    text: "the cluster has \(voters) voters: an even number survives no more failures than one less",
                    cure: "add or remove a voter"))
        }
        let version = try queue.writeWithoutTransaction { db in
            let prepared = try place.prepare("SELECT sqlite_version()", in: db)
            return try withExtendedLifetime(prepared) { try String.fetchOne(prepared.statement) ?? "" }
        }
        findings.append(Finding(verdict: .ok, text: "the node that leads has SQLite \(version)"))
        findings.append(
            Finding(
                verdict: .warning,
                text: "nodes do not report the version of dqlite: one with libraft 0.15, as in Debian 12, can lose data",
                cure: "look at the packages of the nodes; see the page \"Running a cluster\""))
        return findings
    }

    /// Returns findings on columns whose values crash a node when a client selects them without conversion.
    private func endangeringColumns(_ db: Database) throws -> [Finding] {
        var findings: [Finding] = []
        for table in try TableDescription.readAll(in: db) where table.kind == "table" {
            for column in table.columns where column.hidden == 0 {
                let type = column.type.uppercased()
                let classes =
                    type == "BOOLEAN"
                    ? "'text', 'real', 'blob'" : ["DATE", "DATETIME", "TIMESTAMP"].contains(type) ? "'real', 'blob'" : ""
                guard !classes.isEmpty else { continue }
                let sql = "SELECT count(*) FROM \(table.name.quotedName) WHERE typeof(\(column.name.quotedName)) IN (\(classes))"
                guard let count = try Int.fetchOne(db, sql: sql), count > 0 else { continue }
                findings.append(
                    Finding(
                        verdict: .warning,
                        text:
                            "\(table.name).\(column.name), declared \(type), has \(count) values that end a node when another client selects it",
                        cure: "store other values, or declare the column as TEXT or INTEGER"))
            }
        }
        return findings
    }
}
