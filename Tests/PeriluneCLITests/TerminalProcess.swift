import Foundation
import PeriluneTestTools
import Testing

/// `perilune` in a pseudoterminal, which the test reads and writes.
final class TerminalProcess {
    private let id: pid_t
    private let terminal: CInt
    private let folder: TestFolder
    private var shown: [UInt8] = []
    private let watchdog: Watchdog
    private let columns: UInt16

    /// Starts the command in a folder.
    init(_ arguments: [String], in folder: TestFolder, columns: UInt16 = 80, environment: [String: String] = [:]) throws {
        try #require(ProgramThreadsTrait.isCurrent, "the suite needs the trait .startsPrograms")
        self.folder = folder
        self.columns = columns
        terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(terminal >= 0)
        let name = try Self.unlock(terminal)
        Self.resize(terminal, to: columns)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // A session leader without a terminal gets the first terminal that it opens.
        for descriptor in 0...2 as ClosedRange<CInt> { posix_spawn_file_actions_addopen(&actions, descriptor, name, O_RDWR, 0) }
        InheritedFiles.close(in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        let newSession: Int16 = 0x80  // POSIX_SPAWN_SETSID
        posix_spawnattr_setflags(&attributes, newSession)
        var variables = [
            "PATH": "/usr/bin:/bin", "TERM": "xterm", "XDG_CACHE_HOME": folder.path + "/cache",
            "XDG_STATE_HOME": folder.path + "/state", "PAGER": "cat",
        ]
        variables.merge(Sanitizer.environment) { $1 }
        variables.merge(environment) { $1 }
        let command = ["/usr/bin/env", "-C", folder.path, "--default-signal", TestFolder.binary] + arguments
        let words = command.map { strdup($0) } + [nil]
        let settings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var id: pid_t = 0
        try #require(posix_spawn(&id, command[0], &actions, &attributes, words, settings) == 0)
        self.id = id
        watchdog = Watchdog { [id] in _ = kill(id, SIGKILL) }
    }

    deinit {
        close(terminal)
    }

    /// Does the work of `unlockpt` and `ptsname`, which Swift does not import (see ioctl_tty(2)). Returns the path of the other
    /// end.
    private static func unlock(_ terminal: CInt) throws -> String {
        let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var (isLocked, number): (CInt, CUnsignedInt) = (0, 0)
        try #require(ioctl(terminal, setLock, &isLocked) == 0 && ioctl(terminal, getNumber, &number) == 0)
        return "/dev/pts/\(number)"
    }

    private static func resize(_ terminal: CInt, to columns: UInt16) {
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    }

    /// Changes the width of the window.
    func resize(to columns: UInt16) { Self.resize(terminal, to: columns) }

    /// Presses keys.
    func press(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(terminal, bytes, bytes.count)
    }

    func send(_ signal: CInt) { kill(id, signal) }

    /// The complete output so far.
    var text: String { String(decoding: shown, as: UTF8.self) }

    /// Waits until the output contains a text; returns `false` if the program ends first.
    func shows(_ part: String) -> Bool {
        while !text.contains(part) {
            if !read() { return false }
        }
        return true
    }

    /// Waits until the screen meets a condition. Returns the screen at that time, or when the program ended.
    @discardableResult
    func screen(where condition: (TerminalScreen) -> Bool) -> TerminalScreen {
        while true {
            var screen = TerminalScreen(columns: Int(columns))
            screen.feed(text)
            // Only part of a multibyte character may have arrived.
            if text.last != "\u{FFFD}", condition(screen) { return screen }
            if !read() { return screen }
        }
    }

    /// Waits until a completely redrawn line meets a condition; returns `false` if the program ends first.
    func redraws(where condition: (Substring) -> Bool) -> Bool {
        while !text.split(separator: "\r\u{1B}[K").dropLast().contains(where: condition) {
            if !read() { return false }
        }
        return true
    }

    /// Discards the output so far.
    func forget() { shown = [] }

    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            guard watchdog.waits(for: terminal) else { return false }
            let count = Foundation.read(terminal, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            // On Linux, reading fails once the last program has closed the terminal.
            guard count > 0 else { return false }
            shown += buffer[..<count]
            return true
        }
    }

    /// Waits for the program to end. Returns the exit status.
    func wait() -> Int32 {
        while read() {}
        var state: CInt = 0
        while waitpid(id, &state, 0) < 0 && errno == EINTR {}
        watchdog.cancel()
        let signal = state & 0x7F
        return signal == 0 ? (state >> 8) & 0xFF : 128 + signal
    }
}
