internal import Foundation
internal import PeriluneBindings
internal import PeriluneLua

/// The native functions `read_snapshot`, `write_snapshot` and `use_snapshot`, which access the snapshots of a scenario file.
extension ScenarioHost {
    func installSnapshots() throws {
        try function("read_snapshot") { host, arguments in
            guard let text = try host.snapshots.read(arguments.get(1)) else { return [.nil] }
            return [.string(text)]
        }
        try function("write_snapshot") { host, arguments in
            [.string(LuaString(try host.snapshots.write(arguments.get(2, as: LuaString.self), named: arguments.get(1))))]
        }
        // use_snapshot(name, text) records that the scenario compares a text with a snapshot. Returns another scenario that compares a
        // different text with it, if any.
        try function("use_snapshot") { host, arguments in
            let (name, text): (String, LuaString) = try (arguments.get(1), arguments.get(2))
            let path = try host.snapshots.path(name)
            try host.snapshots.removeOutdated(text, named: name)
            let other = host.attempt.tools.snapshots.use(path, of: host.attempt.scenario.id, as: text.bytes)
            return [other.map { .string(LuaString($0)) } ?? .nil]
        }
    }

    private var snapshots: SnapshotFolder {
        SnapshotFolder(scenarioFile: attempt.source.file.path, mode: attempt.options.writtenSnapshots)
    }
}

/// The snapshots of a scenario file: `__snapshots__/FILE/NAME.snap` in the same folder.
struct SnapshotFolder {
    private let folder: String
    private let mode: ScenarioOptions.Snapshots

    init(scenarioFile: String, mode: ScenarioOptions.Snapshots) {
        folder = SnapshotFiles.folder(of: scenarioFile)
        self.mode = mode
    }

    /// Removes the new snapshot that an earlier run wrote for a different value, so that it cannot be accepted by mistake.
    func removeOutdated(_ text: LuaString, named name: String) throws {
        let path = try path(name)
        guard mode != .none, FileManager.default.fileExists(atPath: path + ".new"), try read(name)?.bytes == text.bytes else {
            return
        }
        try? FileManager.default.removeItem(atPath: path + ".new")
    }

    func path(_ name: String) throws -> String {
        guard !name.isEmpty, !name.contains("/"), !name.contains("\0"), name != ".", name != ".." else {
            throw BindingError("argument", "expected the name of a snapshot, which is a file name, got \"\(name)\"")
        }
        return "\(folder)/\(name).snap"
    }

    /// Returns the text of a snapshot; `nil` if it does not exist.
    func read(_ name: String) throws -> LuaString? {
        let path = try path(name)
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = LuaString(data)
        guard text.string != nil else {
            throw BindingError("snapshot", "the snapshot \(path) is not UTF-8 text; delete it and run the scenario again")
        }
        return text
    }

    /// Writes a snapshot if the options allow it.
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
