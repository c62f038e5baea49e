import Foundation
import GRDB
import Glibc
@testable import PeriluneCluster
import PeriluneRecords
import PeriluneTestTools
import Testing

/// Three nodes of Debian's `go-dqlite` as processes, on loopback or in their own network.
final class ClusterNodes: @unchecked Sendable {
    /// Whether tests with nodes run. They take minutes, so `scripts/test --cluster` enables them.
    static let areWanted = ProcessInfo.processInfo.environment["CLUSTER_TESTS"] != nil

    let folder: URL
    private let firstPort: Int
    private var processes: [Process?] = []
    let count: Int
    let network: NodeNetwork?
    /// The disk of the first node.
    let disk: SmallDisk?

    /// The addresses of the nodes.
    var servers: [String] { (1...count).map(address) }

    private static let lock = NSLock()
    /// The first port, below the system's ephemeral ports, which start at 32,768.
    nonisolated(unsafe) private static var nextPort = 12_000 + Int(getpid()) % 90 * 200

    /// Starts the nodes.
    ///
    /// - Parameters:
    ///   - spare: The number of nodes that may be started later.
    ///   - megabytes: The size of the first node's disk; `nil` for the machine's disk.
    init(_ count: Int = 3, spare: Int = 0, in network: NodeNetwork? = nil, megabytes: Int? = nil) async throws {
        Clusters.enable()
        self.network = network
        folder = FileManager.default.temporaryDirectory.appending(path: "perilune-nodes-\(UUID().uuidString)")
        self.count = count
        firstPort = Self.lock.withLock {
            Self.nextPort += 20
            return Self.nextPort
        }
        processes = Array(repeating: nil, count: count + spare)
        let first = folder.appending(path: "n1").path
        try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: true)
        disk = try megabytes.map { try SmallDisk(at: first, megabytes: $0) }
        for node in 1...count + spare {
            try FileManager.default.createDirectory(at: folder.appending(path: "n\(node)"), withIntermediateDirectories: true)
            if node > count { continue }
            try start(node)
            if node == 1 { try #require(await eventually { self.shell(".leader").contains(self.address(1)) }) }
        }
        try #require(await eventually { self.shell(".cluster").components(separatedBy: "voter").count - 1 == min(count, 3) })
    }

    deinit {
        for process in processes.compactMap({ $0 }) where process.isRunning {
            _ = Glibc.kill(process.processIdentifier, SIGCONT)
            _ = Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    func address(_ node: Int) -> String { "\(network?.host(node) ?? "127.0.0.1"):\(firstPort + node)" }

    /// Returns the URL of a database.
    func url(_ name: String, timeout: String = "20s") -> String {
        "dqlite://\(servers.joined(separator: ","))/\(name)?timeout=\(timeout)"
    }

    /// Returns the ids of the nodes by address.
    func ids() throws -> [String: UInt64] {
        let connection = try NodeConnection(
            ServerAddress(address(1)), until: Deadline(after: .seconds(10)), isCancelled: { false })
        return try Dictionary(
            uniqueKeysWithValues: connection.servers(until: Deadline(after: .seconds(10))).map { ($0.name, $0.id) })
    }

    /// Asks the leader to transfer leadership to another node.
    func transfer(from leader: Int, to id: UInt64) throws {
        let connection = try NodeConnection(
            ServerAddress(address(leader)), until: Deadline(after: .seconds(10)), isCancelled: { false })
        try? connection.giveLead(to: id, until: Deadline(after: .seconds(10)))
    }

    // MARK: - Nodes

    func start(_ node: Int) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            (network?.launcher(node) ?? []) + [
                "dqlite-demo", "-a", "127.0.0.1:\(firstPort + 10 + node)", "-d", address(node), "-D",
                folder.appending(path: "n\(node)").path,
            ]
        if node > 1 { process.arguments! += ["-j", address(1)] }
        let log = folder.appending(path: "\(node).log")
        if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
        let output = try FileHandle(forWritingTo: log)
        try output.seekToEnd()
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        processes[node - 1] = process
    }

    func kill(_ node: Int) {
        signal(node, SIGKILL)
        processes[node - 1]?.waitUntilExit()
    }

    func signal(_ node: Int, _ number: Int32) {
        if let process = processes[node - 1] { _ = Glibc.kill(process.processIdentifier, number) }
    }

    /// Returns the number of the leading node, or `nil` if no node leads.
    func leader() -> Int? {
        let text = shell(".leader").trimmingCharacters(in: .whitespacesAndNewlines)
        return (1...count).first { address($0) == text }
    }

    /// Returns the output of dqlite's shell, a client that is independent of this one.
    func shell(_ command: String, database: String = "shop") -> String {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["dqlite", "-s", servers.joined(separator: ","), database, command]
        (process.standardOutput, process.standardError) = (pipe, FileHandle.nullDevice)
        guard (try? process.run()) != nil else { return "" }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}

extension Trait where Self == ConditionTrait {
    /// Enables a test only if tests with nodes run.
    static var withNodes: Self { .enabled(if: ClusterNodes.areWanted, "scripts/test --cluster runs tests with nodes") }
}

extension ClusterDatabase {
    /// Returns the cluster that a local database represents.
    static func of(_ queue: DatabaseQueue) -> ClusterDatabase? { DatabasePlaces.of(queue) as? ClusterDatabase }
}
