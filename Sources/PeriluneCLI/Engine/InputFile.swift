internal import Foundation
internal import Perilune

/// Input that commands read completely: regular files, pipes, FIFOs and standard input.
enum InputFile {
    /// Returns the bytes of a file.
    ///
    /// - Parameters:
    ///   - path: The path; `-` for standard input.
    ///   - failure: Creates the error message from the path and the reason.
    /// - Throws: ``CommandFailure`` of kind `io`.
    static func read(_ path: String, failure: (_ path: String, _ reason: String) -> String) throws -> [UInt8] {
        if path == "-" { return try StandardStreams.readInput() }
        do {
            // Pipes can be read only through a file handle.
            if DatabaseFile.isFile(path) {
                return Array(try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe))
            }
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            return Array(try file.readToEnd() ?? Data())
        } catch {
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            let reason = !exists ? "the file does not exist" : isFolder.boolValue ? "it is a folder" : "it cannot be read"
            throw CommandFailure(ErrorReport(failure(path, reason), kind: "io"))
        }
    }
}
