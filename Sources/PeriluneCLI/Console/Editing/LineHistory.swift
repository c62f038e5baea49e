internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneDependencies

/// What was typed before, the oldest first, in a file of the project.
struct LineHistory {
    private(set) var entries: [String] = []
    private let path: String?
    private static let limit = 5000

    /// - Parameter path: Where it is kept; `nil`: nowhere.
    init(path: String?) {
        self.path = path
        guard let path, let data = FileManager.default.contents(atPath: path) else { return }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        entries = lines.suffix(Self.limit).map(Self.unescaped)
        if lines.count > Self.limit * 2 { rewrite() }
    }

    /// The file for a folder: the history is the project's.
    ///
    /// - SeeAlso: XDG Base Directory Specification, `XDG_STATE_HOME`.
    static func path(forFolder folder: String, environment: EnvironmentVariables) -> String? {
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? environment["HOME"].map { $0 + "/.local/state" }
        guard let state else { return nil }
        let name = folder.split(separator: "/").last.map(String.init) ?? "root"
        return "\(state)/perilune/history/\(name)-\(String(hash(folder), radix: 16))"
    }

    /// FNV-1a, which is the same in each process.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Keeps an entry, unless it begins with a space or is the last one again.
    mutating func add(_ text: String) {
        guard !text.hasPrefix(" "), !text.allSatisfy(\.isWhitespace), text != entries.last else { return }
        entries.append(text)
        append(Self.escaped(text) + "\n")
    }

    // MARK: - The file

    /// Failing to write the history is not an error: the console goes on.
    private func append(_ line: String) {
        guard let path else { return }
        let folder = PathParts(path).folder
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // What was typed may be secret. One write: other consoles append to the same file.
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let bytes = Array(line.utf8)
        _ = write(file, bytes, bytes.count)
        close(file)
    }

    private func rewrite() {
        guard let path else { return }
        let text = entries.map { Self.escaped($0) + "\n" }.joined()
        guard FileManager.default.createFile(atPath: path + ".new", contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
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
