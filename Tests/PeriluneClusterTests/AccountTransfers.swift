import Foundation
import Perilune
import PeriluneTestTools
import Testing

/// Transfers between the accounts of a cluster, during which tests disturb its nodes.
enum AccountTransfers {
    /// Creates a host whose database is in the cluster.
    static func host(_ nodes: ClusterNodes, timeout: String = "30s") async throws -> ScriptHost {
        var configuration = ScriptHost.Configuration(database: .queue(nodes.url("shop", timeout: timeout), inEveryContext: true))
        (configuration.libraries, configuration.allowsFiles) = (.trusted, true)
        return try await ScriptHost(configuration)
    }

    private static let prepare = """
        db:execute("CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)")
        db:execute("CREATE TABLE IF NOT EXISTS transfer (token TEXT PRIMARY KEY)")
        for id = 1, 10 do db:execute("INSERT OR IGNORE INTO account VALUES (?, 100)", id) end
        """

    /// Makes transfers between accounts, each with a token. Returns the tokens of completed transfers, of failed ones, and of
    /// those with an unknown outcome.
    private static let transfer = """
        local first, count = ...
        local done, undone, unknown = {}, {}, {}
        for i = first, first + count - 1 do
          local token = "t" .. i
          local ok, err = pcall(db.write, db, function(db)
            db:execute("UPDATE account SET balance = balance - 1 WHERE id = ?", i % 10 + 1)
            db:execute("UPDATE account SET balance = balance + 1 WHERE id = ?", (i * 7) % 10 + 1)
            db:execute("INSERT INTO transfer VALUES (?)", token)
          end)
          local list = ok and done or err.kind ~= "cluster_unknown" and undone or unknown
          list[#list + 1] = token
        end
        return { done = done, undone = undone, unknown = unknown }
        """

    private struct Outcome: Codable {
        var done: [String] = [], undone: [String] = [], unknown: [String] = []

        mutating func add(_ other: Outcome) {
            done += other.done
            undone += other.undone
            unknown += other.unknown
        }
    }

    /// Disturbs the leader repeatedly during transfers, then compares the results with the tables.
    static func check(
        _ nodes: ClusterNodes, rounds: Int, transfers: Int = 400, clients: Int = 1, timeout: String = "30s",
        _ disturb: @escaping (ClusterNodes, Int) async throws -> Void
    ) async throws {
        var hosts: [ScriptHost] = []
        for _ in 0..<clients { hosts.append(try await host(nodes, timeout: timeout)) }
        let host = hosts[0]
        try await host.run(source: Self.prepare)
        var outcome = Outcome(), next = 1
        for _ in 0..<rounds {
            let leader = try #require(await leader(of: nodes))
            let (start, count, all) = (next, transfers / clients, hosts)
            next += count * clients
            async let outcomes = withThrowingTaskGroup(of: Outcome.self) { group in
                for (index, host) in all.enumerated() {
                    group.addTask { try await host.run(source: Self.transfer, arguments: start + index * count, count) }
                }
                return try await group.reduce(into: Outcome()) { $0.add($1) }
            }
            try await disturb(nodes, leader)
            outcome.add(try await outcomes)
        }
        let list: [String] = try await host.run(source: "return db:fetch_values('SELECT token FROM transfer')")
        let tokens = Set(list)
        #expect(try await host.run(source: "return db:fetch_value('SELECT sum(balance) FROM account')") == 1000)
        #expect(outcome.done.filter { !tokens.contains($0) } == [], "answered, and lost")
        #expect(outcome.undone.filter(tokens.contains) == [], "reported as not done, and done")
        #expect(outcome.unknown == [], "nothing is known of them")
        #expect(outcome.done.count + outcome.undone.count == next - 1)
        print(
            "transfers: \(outcome.done.count) done, \(outcome.undone.count) not done, \(outcome.unknown.count) unknown, in \(rounds) rounds"
        )
    }

    static func leader(of nodes: ClusterNodes) async -> Int? {
        var found: Int?
        _ = await eventually {
            found = nodes.leader(); return found != nil
        }
        return found
    }

    static let rounds = ProcessInfo.processInfo.environment["CLUSTER_ROUNDS"].flatMap(Int.init) ?? 3
}
