internal import Foundation
internal import PeriluneBindings
internal import PeriluneLua

/// `read_snapshot` and `write_snapshot`.
extension ScenarioHost {
    func installSnapshots() throws {
        try function("read_snapshot") { host, arguments in
            guard let text = try host.snapshots.read(arguments.get(1)) else { return [.nil] }
            return [.string(text)]
        }
        try function("write_snapshot") { host, arguments in
            [.string(LuaString(try host.snapshots.write(arguments.get(2, as: LuaString.self), named: arguments.get(1))))]
        }
    }

    private var snapshots: SnapshotFolder {
        SnapshotFolder(scenarioFile: attempt.source.file.path, mode: attempt.options.isCI ? .none : attempt.options.snapshots)
    }
}

/// The snapshots beside a file of scenarios.
struct SnapshotFolder {
    private let folder: String
    private let mode: ScenarioOptions.Snapshots

    init(scenarioFile: String, mode: ScenarioOptions.Snapshots) {
        let parent = (scenarioFile as NSString).deletingLastPathComponent
        folder = (parent.isEmpty ? "" : parent + "/") + "__snapshots__"
        self.mode = mode
    }

    private func path(_ name: String) throws -> String {
        guard !name.isEmpty, !name.contains("/"), !name.contains("\0"), name != ".", name != ".." else {
            throw BindingError("argument", "expected the name of a snapshot, which is a file name, got \"\(name)\"")
        }
        return "\(folder)/\(name).snap"
    }

    /// The text of a snapshot; `nil` if there is none.
    func read(_ name: String) throws -> LuaString? {
        let path = try path(name)
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = LuaString(data)
        guard text.string != nil else {
            throw BindingError("snapshot", "the snapshot \(path) is not UTF-8 text; delete it, and let it be written anew")
        }
        return text
    }

    /// Writes a snapshot as the options say.
    ///
    /// - Returns: `written`, `new` or `refused`.
    func write(_ text: LuaString, named name: String) throws -> String {
        let path = try path(name)
        guard mode != .none else { return "refused" }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(text.bytes).write(to: URL(filePath: mode == .replace ? path : path + ".new"), options: .atomic)
        } catch {
            throw BindingError("io", "cannot write the snapshot \(path): \(error.localizedDescription)")
        }
        if mode == .replace { try? FileManager.default.removeItem(atPath: path + ".new") }
        return mode == .replace ? "written" : "new"
    }
}
