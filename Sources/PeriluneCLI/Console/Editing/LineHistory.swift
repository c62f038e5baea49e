internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneDependencies

/// The history of typed statements, oldest first, stored in one file per project.
struct LineHistory {
    private(set) var entries: [String] = []
    private let path: String?
    private static let limit = 5000

    /// - Parameter path: The history file; `nil` keeps the history only in memory.
    init(path: String?) {
        self.path = path
        guard let path, let data = FileManager.default.contents(atPath: path) else { return }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        entries = lines.suffix(Self.limit).map(Self.unescaped)
        if lines.count > Self.limit * 2 { rewrite() }
    }

    /// Returns the history file of a project folder.
    ///
    /// - SeeAlso: XDG Base Directory Specification, `XDG_STATE_HOME`.
    static func path(forFolder folder: String, environment: EnvironmentVariables) -> String? {
        let state =
            environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environment["HOME"].map { $0 + "/.local/state" }
        guard let state else { return nil }
        let name = folder.split(separator: "/").last.map(String.init) ?? "root"
        return "\(state)/perilune/history/\(name)-\(String(hash(folder), radix: 16))"
    }

    /// Returns the FNV-1a hash of a text. Unlike Swift's own hash values, it is the same in every process.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Adds an entry unless it starts with a space or repeats the last one.
    mutating func add(_ text: String) {
        guard !text.hasPrefix(" "), !text.allSatisfy(\.isWhitespace), text != entries.last else { return }
        entries.append(text)
        append(Self.escaped(text) + "\n")
    }

    // MARK: - The file

    /// Appends a line to the file. Ignores errors so that the console keeps working.
    private func append(_ line: String) {
        guard let path else { return }
        let folder = PathParts(path).folder
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // The file is private to the user because input may be secret. Each line is written in one call because other consoles append to
        // the same file.
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let bytes = Array(line.utf8)
        _ = write(file, bytes, bytes.count)
        close(file)
    }

    private func rewrite() {
        guard let path else { return }
        let text = entries.map { Self.escaped($0) + "\n" }.joined()
        guard
            FileManager.default.createFile(
                atPath: path + ".new", contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        else { return }
        rename(path + ".new", path)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    private static func unescaped(_ line: Substring) -> String {
        var text = ""
        var isEscaped = false
        for character in line {
            if isEscaped {
                text.append(character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                text.append(character)
            }
        }
        return text
    }
}
