internal import Foundation
@preconcurrency internal import Glibc
internal import Perilune

/// A file that is there, with all of its contents, once all has been written: until then a former one stays.
final class OutputFile {
    private let path: String
    private let temporaryPath: String
    private let file: UnsafeMutablePointer<FILE>
    private var isFinished = false

    /// - Throws: ``CommandFailure`` if it cannot be written.
    init(_ path: String) throws {
        self.path = path
        let folder = (path as NSString).deletingLastPathComponent, name = (path as NSString).lastPathComponent
        temporaryPath = (folder.isEmpty ? "" : folder + "/") + ".\(name).\(getpid())"
        guard let file = fopen(temporaryPath, "wxe") else { throw Self.failure(path) }
        self.file = file
    }

    deinit {
        guard !isFinished else { return }
        fclose(file)
        unlink(temporaryPath)
    }

    func write(_ bytes: [UInt8]) throws {
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Self.failure(path) }
    }

    /// Puts the file in its place.
    func finish() throws {
        guard fflush(file) == 0, rename(temporaryPath, path) == 0 else { throw Self.failure(path) }
        isFinished = true
        fclose(file)
    }

    /// Writes a whole file.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try OutputFile(path)
        try file.write(bytes)
        try file.finish()
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(ErrorReport("cannot write \(path): \(String(cString: strerror(errno)))", kind: "io"))
    }
}
