import Foundation
import PeriluneTestTools
import Testing

/// The outcome of a program run.
struct CommandResult {
    /// The exit status; if a signal ended the process, 128 plus the signal number, as shells report it.
    let status: Int32
    let output: String
    let errors: String
}

/// A temporary folder with the files that a test needs. It is removed when the value is released.
final class TestFolder {
    let path: String

    init(_ files: [String: String] = [:]) throws {
        path = NSTemporaryDirectory() + "/perilune-cli-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try write(text, to: name) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ text: String, to name: String) throws {
        let file = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func read(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path + "/" + name)
    }

    /// Runs `perilune` in the folder.
    func perilune(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) throws -> CommandResult {
        try CommandProcess(Self.binary, arguments, in: self, input: input, environment: environment).wait()
    }

    /// Runs a shell command line in which `$PERILUNE` is the path of the command.
    func shell(_ line: String) throws -> CommandResult {
        try CommandProcess("/bin/sh", ["-c", line], in: self, environment: ["PERILUNE": Self.binary]).wait()
    }

    /// The path of the `perilune` executable, which is built next to the test program.
    static let binary: String = {
        let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return ((tests ?? CommandLine.arguments[0]) as NSString).deletingLastPathComponent + "/perilune"
    }()

    /// The path of the checkout.
    static let checkout = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}

/// A running program. Foundation's `Process` is not used because its children inherit ignored signals: tests of Ctrl-C would hang
/// if the tests run in the background.
struct CommandProcess {
    let id: pid_t
    private let folder: TestFolder
    private let captured: (output: String, errors: String)
    /// Standard output, if the test reads it while the program is running.
    private let reading: CInt?
    private let watchdog: Watchdog

    /// Returns the child process of this program, once it exists.
    func child() async -> pid_t? {
        var found: pid_t?
        _ = await eventually {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            found = names.lazy.compactMap { pid_t($0) }.first { child in
                (try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8))?.contains("\nPPid:\t\(id)\n") == true
            }
            return found != nil
        }
        return found
    }

    init(
        _ program: String, _ arguments: [String], in folder: TestFolder, input: String = "",
        environment: [String: String] = [:], isOutputRead: Bool = false
    ) throws {
        try #require(ProgramThreadsTrait.isCurrent, "the suite needs the trait .startsPrograms")
        self.folder = folder
        let name = UUID().uuidString
        captured = ("\(folder.path)/.\(name).out", "\(folder.path)/.\(name).err")
        try folder.write(input, to: ".\(name).in")
        reading = isOutputRead ? try Self.makePipe(captured.output) : nil
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "\(folder.path)/.\(name).in", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, captured.output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, captured.errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        InheritedFiles.close(in: &actions)
        // `env` changes the folder and resets the signals; it keeps the process id.
        let command = ["/usr/bin/env", "-C", folder.path, "--default-signal", program] + arguments
        var variables = ["PATH": "/usr/bin:/bin", "TERM": "xterm"]
        variables.merge(Sanitizer.environment) { $1 }
        variables.merge(environment) { $1 }
        id = try Self.spawn(command, variables.map { "\($0)=\($1)" }, &actions)
        // A program that hangs must not block the tests.
        watchdog = Watchdog { [id] in _ = kill(id, SIGKILL) }
    }

    /// Creates a named pipe and opens it for reading. Programs of other tests could inherit an unnamed pipe.
    private static func makePipe(_ path: String) throws -> CInt {
        try #require(mkfifo(path, 0o600) == 0)
        let reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reading >= 0)
        return reading
    }

    private static func spawn(
        _ command: [String], _ environment: [String], _ actions: inout posix_spawn_file_actions_t
    ) throws -> pid_t {
        let arguments = command.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, command[0], &actions, nil, arguments, variables)
        try #require(status == 0, "cannot start \(command[4]): \(String(cString: strerror(status)))")
        return id
    }

    /// Waits until the program has printed a line, and returns it. Records an issue if no further line is printed.
    func readLine() throws -> String {
        let reading = try #require(reading)
        var bytes: [UInt8] = []
        while true {
            let byte = try #require(readByte(reading), "the output ended with \"\(String(decoding: bytes, as: UTF8.self))\"")
            guard byte != UInt8(ascii: "\n") else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
    }

    /// Waits for a byte; returns `nil` when the program has closed the pipe.
    private func readByte(_ reading: CInt) -> UInt8? {
        var byte: UInt8 = 0
        while true {
            // Until the program opens the pipe, it has neither data nor a writer. `poll` waits for either.
            guard watchdog.waits(for: reading) else { return nil }
            let count = read(reading, &byte, 1)
            if count == 1 { return byte }
            if count == 0 || (errno != EAGAIN && errno != EINTR) { return nil }
        }
    }

    /// Waits until the program has written `text` to standard error, or has ended.
    ///
    /// - Parameter times: How often the text must appear.
    func waitForErrors(containing text: String, times: Int = 1) {
        waitUntil { [captured] in
            let errors = (try? String(contentsOfFile: captured.errors, encoding: .utf8)) ?? ""
            return errors.components(separatedBy: text).count > times
        }
    }

    /// Waits until a condition is met, or the program has ended.
    func waitUntil(_ condition: () -> Bool) {
        let hasEnded = { [id] in
            var info = siginfo_t()
            return waitid(P_PID, id_t(id), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info._sifields._sigchld.si_pid == id
        }
        while !condition(), !hasEnded() { sched_yield() }
    }

    /// Presses Ctrl-C.
    func interrupt() {
        kill(id, SIGINT)
    }

    /// Sends "INT", "TERM" or "HUP", which ask a program to end, or "KILL", which cannot be handled.
    func send(_ signal: String) {
        kill(id, ["INT": SIGINT, "TERM": SIGTERM, "HUP": SIGHUP, "KILL": SIGKILL][signal]!)
    }

    /// Waits for the program to end.
    func wait() throws -> CommandResult {
        var rest: [UInt8] = []
        if let reading {
            while let byte = readByte(reading) { rest.append(byte) }
            close(reading)
        }
        var state: CInt = 0
        while waitpid(id, &state, 0) < 0 && errno == EINTR {}
        watchdog.cancel()
        let signal = state & 0x7F
        let output = reading == nil ? try Data(contentsOf: URL(fileURLWithPath: captured.output)) : Data(rest)
        let errors = try Data(contentsOf: URL(fileURLWithPath: captured.errors))
        return CommandResult(
            status: signal == 0 ? (state >> 8) & 0xFF : 128 + signal, output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self))
    }
}

/// The file descriptors that this process has open for other tests, which started programs must not inherit.
enum InheritedFiles {
    /// Declares `posix_spawn_file_actions_addclosefrom_np` (glibc 2.34), which Swift's Glibc module does not export.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt).self)
    }

    /// Closes all file descriptors except the standard ones in the started program.
    static func close(in actions: inout posix_spawn_file_actions_t) {
        _ = closeFrom?(&actions, 3)
    }
}
