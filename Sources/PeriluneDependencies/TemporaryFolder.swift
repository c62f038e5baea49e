internal import Foundation
internal import Synchronization

/// The folder of this process for files that are gone when it ends.
package enum TemporaryFolder {
    /// A path in the folder that nothing else has.
    ///
    /// - Parameter name: How the file name ends.
    package static func path(_ name: String) throws -> String {
        let folder = try folder.get()
        return folder.appending(path: "\(count.next())-\(name)").path
    }

    /// Makes a folder in it that nothing else has.
    package static func makeFolder(_ name: String) throws -> String {
        let path = try path(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    private static let count = Counter()

    /// Made when it is first asked for, and removed when the process ends.
    private static let folder = Result<URL, any Error> {
        let name = "perilune-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)"
        let folder = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        atexit { TemporaryFolder.remove() }
        return folder
    }

    private static func remove() {
        guard case .success(let folder) = folder else { return }
        try? FileManager.default.removeItem(at: folder)
    }
}
