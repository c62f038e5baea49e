internal import Foundation
internal import PeriluneLua
internal import Synchronization
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// `perilune.native.owners`: names for states that own rows in the database, such as active runs, and a check for whether such a
/// state still exists.
///
/// A name identifies the machine, its boot, the process namespace, the process with its start time, and the state. After a restart,
/// or if another process reuses the process id, the owner is therefore not mistaken for a live one.
enum OwnerBinding {
    static func makeFunctions(in state: LuaState) throws -> LuaTable {
        let table = try state.makeTable(fieldCount: 2)
        let token = OwnerToken()
        try table.setFunction("current") { [token] _ in [.string(LuaString(token.name))] }
        // (name) returns whether the state exists, or nil if it belongs to another machine or to a container with a separate
        // process namespace.
        try table.setFunction("is_alive") { arguments in
            let name: String = try arguments.get(1)
            return [OwnerToken.isAlive(name).map { .boolean($0) } ?? .nil]
        }
        return table
    }
}

/// The states that own rows, such as active runs and jobs.
package enum RowOwners {
    /// Returns whether the state with a name exists, or `nil` if it belongs to another machine or process namespace.
    package static func isAlive(_ name: String) -> Bool? { OwnerToken.isAlive(name) }

    /// Prepares owner names in a process that is about to enter a sandbox in which it cannot see other processes. Later questions
    /// about owners in other processes are passed to `answer`.
    package static func prepareForSandbox(asking answer: @escaping @Sendable (String) -> Bool?) {
        OwnerToken.prepareNames()
        OwnerToken.otherProcesses.withLock { $0 = answer }
    }
}

/// The entry of a state in this process's list of live states. Closing the state removes the entry.
private final class OwnerToken: Sendable {
    private static let tokens = Mutex<(last: Int, live: Set<Int>)>((0, []))
    private let number: Int

    init() {
        number = Self.tokens.withLock { tokens in
            tokens.last += 1
            tokens.live.insert(tokens.last)
            return tokens.last
        }
    }

    deinit {
        Self.tokens.withLock { tokens in _ = tokens.live.remove(number) }
    }

    var name: String { "\(Self.machine.joined(separator: " ")) \(Self.process) \(number)" }

    /// The host, boot and process namespace, with "?" in place of information that a sandbox hides.
    private static let machine = [
        hostName, text(of: "/proc/sys/kernel/random/boot_id") ?? "?",
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) ?? "?",
    ].map { part in part.filter { !$0.isWhitespace } }

    /// Answers questions about owners in other processes; `nil` if this process can see other processes.
    static let otherProcesses = Mutex<(@Sendable (String) -> Bool?)?>(nil)

    /// Reads the parts of owner names before a sandbox hides them.
    static func prepareNames() { _ = (machine, process) }

    private static let process = "\(getpid()) \(startTime(of: "self") ?? "?")"

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "?" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func isAlive(_ name: String) -> Bool? {
        let parts = name.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[0] == machine[0] else { return nil }
        // After a reboot, no process of the earlier boot exists.
        guard parts[1] == machine[1] else { return false }
        guard parts[2] == machine[2] || parts[2] == "?" || machine[2] == "?" else { return nil }
        guard parts[3...4].joined(separator: " ") != process else {
            return Int(parts[5]).map { number in tokens.withLock { $0.live.contains(number) } } ?? false
        }
        if let answer = otherProcesses.withLock({ $0 }) { return answer(name) }
        if let start = startTime(of: parts[3]) { return start == parts[4] }
        // Processes of other users may be missing from `/proc`.
        guard let number = pid_t(parts[3]), number > 0 else { return false }
        return kill(number, 0) == 0 || errno == EPERM
    }

    /// Returns the start time of a process in clock ticks since boot.
    private static func startTime(of process: String) -> String? {
        guard let stat = text(of: "/proc/\(process)/stat"), let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        // A zombie process counts as dead.
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return fields.isEmpty ? nil : "ended" }
        return String(fields[19])
    }

    private static func text(of path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path), !data.isEmpty else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
