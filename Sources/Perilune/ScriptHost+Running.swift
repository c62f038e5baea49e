internal import Foundation
public import PeriluneLua

extension ScriptHost {
    /// Runs a file.
    ///
    /// - Parameters:
    ///   - path: The file; a first line that begins with `#` is skipped.
    ///   - arguments: What the script sees as `...` and in the table `arg`.
    /// - Throws: ``LuaError``, or ``ScriptFileError`` if the file cannot be read.
    public func run(file path: String, arguments: [String] = []) async throws {
        try await run(bytes: ScriptFile.read(path), named: path, arguments: arguments)
    }

    /// Runs source text.
    ///
    /// - Parameter name: What errors call it.
    public func run(source: String, named name: String = "script", arguments: [String] = []) async throws {
        try await run(bytes: Array(source.utf8), named: name, arguments: arguments)
    }

    /// Runs source text given as bytes.
    public func run(bytes: [UInt8], named name: String, arguments: [String] = []) async throws {
        try setArguments(arguments, of: name)
        let chunk = try state.load(LuaString(bytes), named: name)
        try await chunk.callAsync(arguments.map { .string(LuaString($0)) })
    }

    /// The table `arg`, as the stand-alone interpreter has it: the script at 0, its arguments from 1.
    private func setArguments(_ arguments: [String], of name: String) throws {
        let table = try state.makeTable(arrayCount: arguments.count)
        for (index, argument) in ([name] + arguments).enumerated() {
            try table.rawSet(.integer(Int64(index)), .string(LuaString(argument)))
        }
        try state.globals.set("arg", .table(table))
    }

    /// Lets a cancelled script stop in the middle of a loop even though it has no limits: the signal is used for it, in the
    /// whole process. For programs that own their signals; a script without limits runs at full speed so.
    public func listen(for signal: Int32) {
        state.listen(for: signal)
    }
}

/// A script file that cannot be read.
public struct ScriptFileError: Error, CustomStringConvertible {
    /// The file.
    public let path: String
    /// What the system says.
    public let reason: String

    public var description: String { "cannot read \(path): \(reason)" }
}

/// Reading files of Lua.
enum ScriptFile {
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
