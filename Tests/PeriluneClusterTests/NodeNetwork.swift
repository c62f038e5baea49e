import Foundation
import Glibc
import Testing

/// A network of Linux namespaces, one for each node, with a bridge for the client. Nodes can be cut off from each other.
final class NodeNetwork: @unchecked Sendable {
    private let prefix: String
    private let subnet: String
    private let count: Int

    private static let lock = NSLock()
    nonisolated(unsafe) private static var made = 0

    /// - Throws: An error if the machine does not permit it.
    init(_ count: Int) throws {
        let number = Self.lock.withLock {
            Self.made += 1; return Self.made
        }
        prefix = "pn\(getpid() % 100_000)\(number)"
        subnet = "10.\(200 + number % 50).\(getpid() % 250)"
        self.count = count
        do {
            try run("link", "add", "\(prefix)b", "type", "bridge")
            try run("addr", "add", "\(subnet).254/24", "dev", "\(prefix)b")
            try run("link", "set", "\(prefix)b", "up")
            for node in 1...count {
                try run("netns", "add", name(node))
                try run("link", "add", "\(prefix)v\(node)", "type", "veth", "peer", "name", "eth0", "netns", name(node))
                try run("link", "set", "\(prefix)v\(node)", "master", "\(prefix)b", "up")
                try inside(node, "addr", "add", "\(host(node))/24", "dev", "eth0")
                try inside(node, "link", "set", "eth0", "up")
                try inside(node, "link", "set", "lo", "up")
            }
        } catch {
            remove()
            throw error
        }
    }

    deinit { remove() }

    private func remove() {
        for node in 1...count { try? run("netns", "del", name(node)) }
        try? run("link", "del", "\(prefix)b")
    }

    /// Whether the machine permits network namespaces.
    static let isAllowed: Bool = (try? NodeNetwork(1)) != nil

    func host(_ node: Int) -> String { "\(subnet).\(node)" }

    /// Returns the command that starts a program in a node's namespace.
    func launcher(_ node: Int) -> [String] { ["ip", "netns", "exec", name(node)] }

    /// Drops all traffic between two nodes in both directions. The client reaches both.
    func cut(_ node: Int, from other: Int) throws {
        try inside(node, "route", "add", "blackhole", "\(host(other))/32")
        try inside(other, "route", "add", "blackhole", "\(host(node))/32")
    }

    func join(_ node: Int, with other: Int) throws {
        try inside(node, "route", "del", "blackhole", "\(host(other))/32")
        try inside(other, "route", "del", "blackhole", "\(host(node))/32")
    }

    private func name(_ node: Int) -> String { "\(prefix)n\(node)" }

    private func inside(_ node: Int, _ arguments: String...) throws { try Self.run(["ip", "-n", name(node)] + arguments) }
    private func run(_ arguments: String...) throws { try Self.run(["ip"] + arguments) }

    private struct Refusal: Error {
        let command: [String]
    }

    static func run(_ command: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Refusal(command: command) }
    }
}

/// A file system in memory with a limited size, for the data of a node.
final class SmallDisk {
    private let folder: String

    /// - Throws: An error if the machine does not permit it.
    init(at folder: String, megabytes: Int) throws {
        self.folder = folder
        try NodeNetwork.run(["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "none", folder])
    }

    deinit { try? NodeNetwork.run(["umount", "--lazy", folder]) }

    /// Whether the remaining space is smaller than a log segment of a node.
    var isFull: Bool {
        var information = statvfs()
        return statvfs(folder, &information) == 0 && UInt64(information.f_bavail) * UInt64(information.f_frsize) < 8 << 20
    }

    /// Whether the machine permits file systems with a limited size.
    static let isAllowed: Bool = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "perilune-disk-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return (try? SmallDisk(at: folder.path, megabytes: 1)) != nil
    }()
}

extension Trait where Self == ConditionTrait {
    static var withNetwork: Self {
        .enabled(if: ClusterNodes.areWanted && NodeNetwork.isAllowed, "this machine allows no network namespaces (ip netns)")
    }
    static var withSmallDisk: Self {
        .enabled(if: ClusterNodes.areWanted && SmallDisk.isAllowed, "this machine allows no file systems to be mounted")
    }
}
