internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneRecords

/// Checks and operations on database files.
enum DatabaseFile {
    /// Returns whether a path is the URL of a cluster database.
    static func isCluster(_ path: String) -> Bool { ClusterAddress.isMeant(by: path) }

    /// Returns whether a file, not a folder, exists at a path.
    static func isFile(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    }

    /// Returns whether nothing exists at a path.
    static func isMissing(_ path: String) -> Bool {
        if isCluster(path) { return false }
        var information = stat()
        return stat(path, &information) != 0 && errno == ENOENT
    }

    /// Returns whether a folder exists at a path.
    static func isFolder(_ path: String) -> Bool {
        var information = stat()
        return !isCluster(path) && stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
    }

    /// The help text of commands that can create the database.
    static let creating = "use --create to start with an empty database"

    /// Rejects a path if no file exists there.
    ///
    /// - Parameter option: The help text that names an option for an empty database; `nil` for commands without such an option.
    static func requireExisting(_ path: String, option: String? = nil) throws {
        if isCluster(path) { return }
        var information = stat()
        guard stat(path, &information) != 0 else { return }
        let code = errno
        var report = ErrorReport("cannot open the database \(path): \(String(cString: strerror(code)))", kind: "cannot_open")
        if code == ENOENT, let nearest = nearestFile(to: path) {
            report.help = "did you mean `\(nearest)`?"
            report.suggestions = [nearest]
        } else if code == ENOENT, let option {
            report.help = option
        }
        throw CommandFailure(report)
    }

    /// Returns the folder of a path if that folder does not exist.
    static func missingFolder(of path: String) -> String? {
        guard !isCluster(path), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
        let folder = String(path[..<slash])
        return isMissing(folder) ? folder : nil
    }

    /// Returns the database in the same folder whose name is most similar.
    private static func nearestFile(to path: String) -> String? {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let databases = names.filter { isDatabase(folder + $0) }.sorted()
        return nearestName(to: String(path.dropFirst(folder.count)), among: databases).map { folder + $0 }
    }

    /// Returns whether a file exists and has the header of a database.
    static func isDatabase(_ path: String) -> Bool {
        guard isFile(path), let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: header.count)) == Data(header)
    }

    /// The first bytes of every unencrypted database.
    static let header = Array("SQLite format 3".utf8)

    /// Removes a database and the files that SQLite keeps next to it.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
