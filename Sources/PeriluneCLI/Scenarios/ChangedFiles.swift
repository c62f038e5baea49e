internal import Foundation
internal import Perilune

/// The files changed since the last Git commit, for `--only-changed`.
enum ChangedFiles {
    /// Returns the changed scenario files; `nil` to run all scenarios, because a file that they use has changed.
    ///
    /// - Throws: ``CommandFailure`` if Git fails.
    static func scenarioFiles() throws -> Set<String>? {
        let changed =
            try git("diff", "--name-only", "--relative", "-z", "HEAD") + git("ls-files", "--others", "--exclude-standard", "-z")
        var files: Set<String> = []
        for path in changed {
            if path.hasSuffix("_scenario.lua") {
                files.insert(path)
            } else if [".lua", ".sql", ".snap", ".sqlite"].contains(where: path.hasSuffix) {
                return nil
            }
        }
        return files
    }

    private static func git(_ arguments: String...) throws -> [String] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        do { try process.run() } catch { throw failure("\(error.localizedDescription)") }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw failure(message) }
        return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func failure(_ message: String) -> CommandFailure {
        let reason = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? "it failed"
        return CommandFailure(ErrorReport("--only-changed: git cannot list the changes: \(reason)", kind: "usage"))
    }
}
