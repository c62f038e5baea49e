import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneIsolation

/// The abilities of a process that has activated the sandbox layers of the system. An operation is forbidden if its layer is active
/// and allowed otherwise, so that each test is meaningful on every system.
@Suite(
    .unless(.address, "its runtime needs system calls of its own"), .unless(.thread, "its runtime needs system calls of its own"))
struct LayerTests {
    private struct Probe {
        var answers: [String: String] = [:]
        var signal: CInt?

        /// The active layers.
        var layers: Set<IsolationLayer> {
            Set((answers["layers"] ?? "").split(separator: " ").compactMap { IsolationLayer(String($0)) })
        }

        /// The expected result of an attempt.
        func answer(_ forbidden: String, by layer: IsolationLayer) -> String { layers.contains(layer) ? forbidden : "allowed" }
    }

    private func probe(_ attempts: String...) throws -> Probe {
        let folder = NSTemporaryDirectory() + "/perilune-layers-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = (tests as NSString).deletingLastPathComponent + "/perilune-isolation-probe"
        let output = folder + "/output"
        // The shell opens a file as standard output before the layers are active.
        let line = "exec \(program) '\(folder)' \((["layers"] + attempts).map { "'\($0)'" }.joined(separator: " ")) > '\(output)'"
        let process = try WorkerProcess(.init(path: "/bin/sh", arguments: ["sh", "-c", line].map { Array($0.utf8) }))
        var probe = Probe()
        probe.signal = process.waitForEnd().signal
        for line in try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            probe.answers[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return probe
    }

    @Test func `an isolated process activates the sandbox layers that the system supports`() throws {
        let layers = try probe().layers
        #expect(layers.isSuperset(of: [.limits, .privileges]))
        #expect(layers.isSubset(of: IsolationLayer.allCases.filter(\.isAvailable)))
        // A container may forbid these operations without Perilune's layers.
        let missing = IsolationLayer.allCases.filter { $0.isAvailable && !layers.contains($0) }
        print("layers of isolation: \(layers.map(\.description).sorted()), forbidden: \(missing)")
    }

    @Test func `an isolated process can access only its folder and library files`() throws {
        let probe = try probe("write inside", "read zones", "read outside", "list outside", "write outside", "thread")
        #expect(probe.answers["write inside"] == "allowed")
        #expect(["allowed", "ENOENT"].contains(probe.answers["read zones"]))
        for attempt in ["read outside", "list outside", "write outside"] {
            #expect(probe.answers[attempt] == probe.answer("EACCES", by: .landlock), "\(attempt)")
        }
        #expect(probe.answers["thread"] == probe.answer("the thread reads nothing", by: .landlock))
    }

    @Test func `an isolated process can create no sockets, child processes or executable memory`() throws {
        let probe = try probe("socket", "fork", "executable memory")
        for attempt in ["socket", "fork", "executable memory"] {
            #expect(probe.answers[attempt] == probe.answer("EPERM", by: .seccomp), "\(attempt)")
        }
        if probe.layers.contains(.seccomp) { #expect(try self.probe("signal parent").answers["signal parent"] == "EPERM") }
    }

    @Test func `an isolated process that starts a program is killed`() throws {
        let isFiltered = try probe().layers.contains(.seccomp)
        let probe = try probe("exec")
        // Without the layer, the program replaces the process and ends by itself.
        #expect(probe.signal == (isFiltered ? SIGSYS : nil))
        #expect(probe.answers["exec"] == nil)
    }

    @Test func `an isolated process cannot allocate more memory than its limit`() throws {
        #expect(try probe("much memory").answers["much memory"] == "ENOMEM")
    }

    @Test func `a sandbox layer can be found by its description`() {
        for layer in IsolationLayer.allCases { #expect(IsolationLayer(layer.description) == layer) }
        #expect(IsolationLayer("moat") == nil)
    }

    @Test func `the folder of a database behind a symbolic link is the folder of the target`() throws {
        let folder = URL(filePath: NSTemporaryDirectory() + "/perilune-links-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder.appending(path: "real"), withIntermediateDirectories: true)
        try Data().write(to: folder.appending(path: "real/db"))
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "link"), withDestinationURL: folder.appending(path: "real/db"))
        let real = folder.resolvingSymlinksInPath().path
        #expect(IsolationRules.folder(ofFile: folder.path + "/link") == real + "/real")
        #expect(IsolationRules.folder(ofFile: folder.path + "/new") == real)
    }
}
