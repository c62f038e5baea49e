import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneIsolation

/// What a process can do that has put on all layers. Where the system lacks one, what it would forbid is not expected.
@Suite(.unless(.address, "its runtime needs system calls of its own"), .unless(.thread, "its runtime needs system calls of its own"))
struct LayerTests {
    private struct Probe {
        var answers: [String: String] = [:]
        var signal: CInt?
    }

    private func probe(_ attempts: String...) throws -> Probe {
        let folder = NSTemporaryDirectory() + "/perilune-layers-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = (tests as NSString).deletingLastPathComponent + "/perilune-isolation-probe"
        let output = folder + "/output"
        // A shell gives it a file as standard output, opened before the layers are on.
        let line = "exec \(program) '\(folder)' \(attempts.map { "'\($0)'" }.joined(separator: " ")) > '\(output)'"
        let process = try WorkerProcess(.init(path: "/bin/sh", arguments: ["sh", "-c", line].map { Array($0.utf8) }))
        var probe = Probe()
        probe.signal = process.waitForEnd().signal
        for line in try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            probe.answers[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return probe
    }

    @Test func `a process puts on the layers that the system has`() throws {
        let layers = try probe("layers").answers["layers"]
        #expect(layers == IsolationLayer.allCases.filter(\.isAvailable).map(\.description).sorted().joined(separator: " "))
    }

    @Test(.enabled(if: IsolationLayer.landlock.isAvailable)) func `it reaches its folder and what libraries read, and no other file`() throws {
        let answers = try probe("write inside", "read zones", "read outside", "list outside", "write outside", "thread").answers
        #expect(answers["write inside"] == "allowed")
        #expect(answers["read zones"] == "allowed" || answers["read zones"] == "ENOENT")
        #expect(answers["read outside"] == "EACCES")
        #expect(answers["list outside"] == "EACCES")
        #expect(answers["write outside"] == "EACCES")
        #expect(answers["thread"] == "the thread reads nothing")
    }

    @Test(.enabled(if: IsolationLayer.seccomp.isAvailable)) func `it has no sockets, no children, no executable memory`() throws {
        let answers = try probe("socket", "fork", "signal parent", "executable memory").answers
        #expect(answers == ["socket": "EPERM", "fork": "EPERM", "signal parent": "EPERM", "executable memory": "EPERM"])
    }

    @Test(.enabled(if: IsolationLayer.seccomp.isAvailable)) func `a program that it starts is its end`() throws {
        let probe = try probe("exec")
        #expect(probe.signal == SIGSYS)
        #expect(probe.answers.isEmpty)
    }

    @Test func `it has no more memory than it was given`() throws {
        #expect(try probe("much memory").answers["much memory"] == "ENOMEM")
    }

    @Test func `a layer is found by its description`() {
        for layer in IsolationLayer.allCases { #expect(IsolationLayer(layer.description) == layer) }
        #expect(IsolationLayer("moat") == nil)
    }

    @Test func `the folder of a database is that of what a link leads to`() throws {
        let folder = URL(filePath: NSTemporaryDirectory() + "/perilune-links-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder.appending(path: "real"), withIntermediateDirectories: true)
        try Data().write(to: folder.appending(path: "real/db"))
        try FileManager.default.createSymbolicLink(at: folder.appending(path: "link"), withDestinationURL: folder.appending(path: "real/db"))
        let real = folder.resolvingSymlinksInPath().path
        #expect(IsolationRules.folder(ofFile: folder.path + "/link") == real + "/real")
        #expect(IsolationRules.folder(ofFile: folder.path + "/new") == real)
    }
}
