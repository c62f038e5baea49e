package import Foundation

/// A shared library for tests: an SQLite extension with a function `thrice(x)`, and a native Lua module. It is not a package
/// product, because users would see it.
package enum NativeLibrary {
    /// The name of the library, and of the Lua module.
    package static let name = "libPeriluneTestExtension"

    /// The library file, which is compiled from `extension.c` into the folder of the tests on first use.
    package static let path: String = {
        do {
            return try compile()
        } catch {
            fatalError("the library for tests cannot be compiled: \(error)")
        }
    }()

    private static func compile() throws -> String {
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "extension.c")
        let folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let library = folder.appending(path: "\(name).so")
        if let made = date(of: library), let written = date(of: source), made > written { return library.path }
        // Other test processes may compile the library at the same time.
        let temporary = folder.appending(path: "\(name).\(ProcessInfo.processInfo.processIdentifier).so")
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/bin/sh")
        compiler.arguments = [
            "-c",
            #"exec "$(command -v clang || command -v cc)" -shared -fPIC $(pkg-config --cflags lua5.4) -o "$1" "$2""#,
            "sh", temporary.path, source.path,
        ]
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw CompilationError(status: compiler.terminationStatus) }
        guard rename(temporary.path, library.path) == 0 else { throw CompilationError(status: errno) }
        return library.path
    }

    private static func date(of file: URL) -> Date? {
        try? FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
    }

    private struct CompilationError: Error {
        let status: Int32
    }
}
