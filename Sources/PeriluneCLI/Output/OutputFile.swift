internal import Foundation
internal import Perilune
internal import PeriluneBindings

/// The file that a command writes, which is replaced when all of its contents have been written.
final class OutputFile {
    private let path: String
    private let file: FileReplacement

    /// - Parameter inputs: The files that the command reads, which must not be overwritten.
    /// - Throws: ``CommandFailure`` if the file cannot be written, or would replace a database or an input.
    init(_ path: String, besides inputs: [String] = []) throws {
        self.path = path
        try Self.requireUncompressed(path)
        try Self.requireReplaceable(path, inputs)
        file = try Self.reporting(path) { try FileReplacement(path) }
    }

    func write(_ bytes: [UInt8]) throws {
        try Self.reporting(path) { try bytes.withUnsafeBytes { try file.write($0) } }
    }

    /// Moves the finished file to its path.
    func finish() throws {
        try Self.reporting(path) { try file.finish() }
    }

    /// Writes a complete file.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try OutputFile(path)
        try file.write(bytes)
        try file.finish()
    }

    /// The programs that write compressed files, by the extensions of these files.
    private static let compressors = ["gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd", "lz4": "lz4"]

    /// Rejects the name of a compressed file, which programs such as `gunzip` would refuse later, when its contents are needed.
    private static func requireUncompressed(_ path: String) throws {
        guard let compressor = OutputDestination.format(of: path).flatMap({ compressors[$0] }) else { return }
        throw CommandFailure(
            ErrorReport(
                "refusing to write \(path): the output would not be compressed", kind: "usage",
                help: "write to standard output, and compress that: `| \(compressor) > \(path)`"))
    }

    private static func requireReplaceable(_ path: String, _ inputs: [String]) throws {
        let isInput = inputs.contains { FileIdentity.isSame($0, path) }
        guard isInput || DatabaseFile.isDatabase(path) else { return }
        throw CommandFailure(
            ErrorReport("refusing to overwrite \(path): it is \(isInput ? "a file that is read" : "a database")", kind: "io"))
    }

    private static func reporting<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError {
            throw CommandFailure(ErrorReport("cannot write \(path): \(error.reason)", kind: "io"))
        }
    }
}

/// Folders for the output of commands.
enum OutputFolder {
    /// Creates a folder and missing parent folders.
    ///
    /// - Throws: ``CommandFailure``.
    static func make(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(ErrorReport("cannot create the folder \(path)", kind: "io"))
        }
    }
}

/// The destination of a command's output: a file or standard output.
enum OutputDestination {
    case file(OutputFile)
    case standardOutput

    /// - Parameter path: The file; `nil` or `-` for standard output.
    /// - Throws: ``CommandFailure`` if the file cannot be written.
    init(_ path: String?) throws {
        self = if let path, path != "-" { .file(try OutputFile(path)) } else { .standardOutput }
    }

    /// Returns the extension of a file name in lower case if it could be the name of a format; otherwise `nil`.
    static func format(of path: String) -> String? {
        let name = PathParts(path).name
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        let letters = name[name.index(after: dot)...].lowercased()
        return letters.first?.isLetter == true && letters.allSatisfy { $0.isLetter || $0.isNumber } ? letters : nil
    }

    var isFile: Bool { if case .file = self { true } else { false } }

    /// Runs a closure that writes to the destination, and then finishes the output. Standard output goes through the pager.
    func writing<Result>(_ pager: PagerOption, _ body: () throws -> Result) throws -> Result {
        try Pager.paging(if: !pager.noPager && !isFile) {
            let result = try body()
            try finish()
            return result
        }
    }

    func write(_ bytes: [UInt8]) throws {
        switch self {
        case .file(let file): try file.write(bytes)
        case .standardOutput: try StandardStreams.write(bytes)
        }
    }

    /// Finishes the output when everything has been written.
    func finish() throws {
        switch self {
        case .file(let file): try file.finish()
        case .standardOutput: try StandardStreams.flush()
        }
    }
}
