import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneIsolation

/// Shell processes that replace workers. They do not speak the frame protocol, and their commands determine how they end.
@Suite struct WorkerProcessTests {
    private func shell(_ line: String, environment: [String] = []) throws -> WorkerProcess {
        try WorkerProcess(.init(path: "/bin/sh", arguments: ["sh", "-c", line].map { Array($0.utf8) }, environment: environment))
    }

    @Test func `a worker process that exits has a status and no signal`() throws {
        let process = try shell("exit 7")
        #expect(try process.channel.receive() == nil)
        #expect(process.waitForEnd() == .init(signal: nil, status: 7))
        #expect(process.waitForEnd().status == 7)
    }

    @Test func `a worker process that a signal ended reports the signal`() throws {
        let process = try shell("kill -SEGV $$")
        let ending = process.waitForEnd()
        #expect(ending.signal == SIGSEGV)
        #expect(ending.text == "was ended by SIGSEGV (segmentation fault)")
        #expect(ending.place == nil)
    }

    @Test func `a worker process that cannot be started is an error that names the program`() {
        let error = #expect(throws: WorkerProcess.StartError.self) {
            try WorkerProcess(.init(path: "/nonexistent/worker", arguments: [Array("worker".utf8)]))
        }
        #expect(error?.description == "cannot start /nonexistent/worker: No such file or directory")
    }

    @Test func `a worker process inherits the connection, but no other file descriptors and no environment`() throws {
        // This descriptor lacks close-on-exec, so the process would inherit it.
        let leaked = open("/dev/null", O_RDONLY)
        defer { close(leaked) }
        let process = try shell(
            "cd /proc/self/fd; for f in *; do printf '%s ' $f; done >&3; /usr/bin/env >&3; exit", environment: ["TZ=UTC"])
        var buffer = [UInt8](repeating: 0, count: 4096)
        var text = ""
        while case let count = read(process.channel.descriptor, &buffer, buffer.count), count > 0 {
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        let lines = text.split(separator: "\n")
        // The folder itself is open while the shell lists it.
        let descriptors = Set(lines[0].split(separator: " ").prefix(6).compactMap { Int($0) })
        #expect(descriptors.subtracting([10]).isSubset(of: [0, 1, 2, 3, 4, 5]))
        #expect(descriptors.isSuperset(of: [0, 1, 2, 3, 4]))
        #expect(text.contains("TZ=UTC"))
        #expect(!text.contains("HOME="))
    }

    @Test func `an unresponsive worker process is killed`() throws {
        let process = try shell("trap '' XCPU; echo ready >&3; kill -STOP $$")
        var byte: UInt8 = 0
        #expect(read(process.channel.descriptor, &byte, 1) == 1)
        process.kill(patience: .milliseconds(20))
        #expect(process.waitForEnd().signal == SIGKILL)
        // No signal is sent afterwards.
        #expect(process.send(SIGTERM) == false)
    }

    @Test func `an unresponsive worker process is asked for its script's position before it is killed`() throws {
        let process = try shell("exec sleep 1000")
        process.kill(patience: .seconds(60))
        #expect(process.waitForEnd() == WorkerProcess.Ending(signal: SIGKILL, status: 0, place: nil, wasAsked: true))
    }

    @Test func `a worker process that ignores the request to end is killed`() throws {
        let willing = try shell("read line <&3; exit 7")
        willing.end(within: .seconds(60))
        #expect(willing.waitForEnd().status == 7)
        let unwilling = try shell("exec sleep 1000")
        unwilling.end(within: .milliseconds(20))
        #expect(unwilling.waitForEnd().signal == SIGKILL)
    }

    @Test func `a worker process without references is ended and leaves no zombie`() async throws {
        var process: WorkerProcess? = try shell("exec sleep 1000")
        let id = try #require(process?.id)
        process = nil
        #expect(kill(id, 0) != 0)
    }

    @Test func `sending to a worker process that has ended throws an error instead of raising SIGPIPE`() async throws {
        let process = try shell("exit")
        _ = process.waitForEnd()
        // A process that another test is starting also holds this end of the connection until its program starts.
        #expect(
            await eventually {
                do throws(FrameChannel.SendingError) {
                    try process.channel.send(Frame(kind: 1, request: 0, values: []))
                    return false
                } catch {
                    if case .closed = error { return true }
                    return false
                }
            })
    }

    @Test func `an invalid frame ends the connection with an error`() throws {
        let process = try shell("printf 'this is not a frame' >&3")
        #expect(throws: FrameError.self) { while try process.channel.receive() != nil {} }
    }
}
