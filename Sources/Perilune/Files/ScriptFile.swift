internal import Foundation

/// The error for a script file that cannot be read.
public struct ScriptFileError: Error, CustomStringConvertible {
    /// The path of the file, as given by the program.
    public let path: String
    /// The system's message.
    public let reason: String

    public var description: String { "cannot read \(path): \(reason)" }
}

/// Functions that find and read script files.
enum ScriptFile {
    /// Returns whether a regular file exists at a path. Folders and pipes do not count.
    static func exists(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    }

    /// Returns a path without symbolic links; `nil` if the file does not exist.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "rb") else { throw ScriptFileError(path: path, reason: String(cString: strerror(errno))) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            bytes += buffer[..<count]
            if count < buffer.count { break }
        }
        guard ferror(file) == 0 else { throw ScriptFileError(path: path, reason: String(cString: strerror(errno))) }
        return bytes
    }
}
