import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// `perilune watch FILE` and `run --watch`.
@Suite(.patience, .startsPrograms) struct WatchTests {
    /// Waits until standard error reports the end of some runs.
    private static func waitForEnd(_ process: CommandProcess, runs: Int) {
        process.waitForErrors(containing: "waiting for changes", times: runs)
    }

    @Test func `a script runs again when it or a required module changes`() throws {
        let folder = try TestFolder(["a.lua": "print('one', (require('lib.m')))", "lib/m.lua": "return 1"])
        let process = try CommandProcess(TestFolder.binary, ["watch", "a.lua"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "one\t1")
        Self.waitForEnd(process, runs: 1)
        try folder.write("return 2", to: "lib/m.lua")
        #expect(try process.readLine() == "one\t2")
        Self.waitForEnd(process, runs: 2)
        try folder.write("print('two', (require('lib.m')))", to: "a.lua")
        #expect(try process.readLine() == "two\t2")
        Self.waitForEnd(process, runs: 3)
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 130)
        #expect(result.errors.contains("a.lua ended after "), "\(result.errors)")
        #expect(result.errors.contains("── run 2: ./lib/m.lua changed ──"), "\(result.errors)")
        #expect(result.errors.contains("── run 3: a.lua changed ──"), "\(result.errors)")
    }

    @Test func `the watch waits for a missing module and watches files loaded by dofile`() throws {
        let folder = try TestFolder(["a.lua": "dofile('data.lua') print(require('late').name)", "data.lua": "print('data 1')"])
        let process = try CommandProcess(TestFolder.binary, ["run", "a.lua", "--watch"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "data 1")
        Self.waitForEnd(process, runs: 1)
        try folder.write("return { name = 'here' }", to: "late.lua")
        #expect(try [process.readLine(), process.readLine()] == ["data 1", "here"])
        Self.waitForEnd(process, runs: 2)
        try folder.write("print('data 2')", to: "data.lua")
        #expect(try [process.readLine(), process.readLine()] == ["data 2", "here"])
        Self.waitForEnd(process, runs: 3)
        process.send("TERM")
        let result = try process.wait()
        #expect(result.status == 130)
        #expect(
            result.errors.contains("module 'late' not found") && result.errors.contains("a.lua failed with status 1 after "),
            "\(result.errors)")
    }

    @Test func `the watch ends the current run when a file changes and when the watch ends`() throws {
        let folder = try TestFolder(["a.lua": "print('first') io.stdout:flush() while true do os.time() end"])
        let process = try CommandProcess(TestFolder.binary, ["watch", "a.lua"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "first")
        try folder.write("print('second') io.stdout:flush() while true do os.time() end", to: "a.lua")
        #expect(try process.readLine() == "second")
        process.interrupt()
        #expect(try process.wait().status == 130)
    }

    @Test func `Ctrl-C on a terminal ends the run and the watch`() throws {
        let folder = try TestFolder(["a.lua": "print('begun') io.stdout:flush() while true do os.time() end"])
        let process = try TerminalProcess(["watch", "a.lua"], in: folder)
        #expect(process.shows("begun"))
        process.press("\u{3}")
        #expect(process.wait() == 130)
        #expect(process.text.contains("interrupted"), "\(process.text)")
    }

    @Test func `the watch passes on the options and arguments of a run`() throws {
        #expect(
            WatchSession.arguments(of: ["watch", "a.lua", "--database", "d", "x"]) == [
                "run", "--database", "d", "--", "a.lua", "x",
            ])
        #expect(
            WatchSession.arguments(of: ["run", "a.lua", "--watch", "x", "--watch"]) == ["run", "--", "a.lua", "x", "--watch"])
        let folder = try TestFolder()
        #expect(try folder.perilune("watch").errors.contains("expected a FILE"))
        #expect(try folder.perilune("run", "--watch", "-").errors.contains("expected a FILE to watch, got -"))
        for (option, message) in [
            ("-", "expected a FILE to watch, got -\nUsage: perilune watch"),
            ("--previw", "Did you mean '--preview'?\nUsage: perilune watch"),
        ] {
            let errors = try folder.perilune("watch", option, "x.lua").errors
            #expect(errors.contains(message), "\(errors)")
        }
    }
}
