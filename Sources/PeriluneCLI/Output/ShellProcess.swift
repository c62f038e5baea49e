internal import Foundation
@preconcurrency internal import Glibc
internal import PeriluneIsolation

/// Shell commands that run in this terminal.
enum ShellProcess {
    /// Starts a shell command.
    ///
    /// - Parameter input: The file descriptor for its standard input; by default standard input of this process.
    static func spawn(_ command: String, _ variables: [String: String], input: CInt = STDIN_FILENO) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if input != STDIN_FILENO { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
        var id: pid_t = 0
        let code = withCStrings(["/bin/sh", "-c", command].map { Array($0.utf8) }) { words in
            withCStrings(variables) { variables in posix_spawn(&id, "/bin/sh", &actions, nil, words, variables) }
        }
        return code == 0 ? id : nil
    }

    /// Waits for the end of a process. Returns its wait status, which is 0 after success.
    @discardableResult static func wait(_ id: pid_t) -> CInt {
        var state: CInt = 0
        while waitpid(id, &state, 0) < 0, errno == EINTR {}
        return state
    }
}
