internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneCluster
internal import PeriluneRecords

/// The file of a database.
enum DatabaseFile {
    /// Whether a path is none, but names a database in a cluster.
    static func isCluster(_ path: String) -> Bool { ClusterAddress.isMeant(by: path) }

    /// Whether a file, not a folder, exists at a path.
    static func isFile(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    }

    /// Whether there is nothing at a path.
    static func isMissing(_ path: String) -> Bool {
        if isCluster(path) { return false }
        var information = stat()
        return stat(path, &information) != 0 && errno == ENOENT
    }

    /// Refuses a path at which there is no file.
    ///
    /// - Parameter option: The option that takes an empty database instead, for help; `nil`: there is none.
    static func requireExisting(_ path: String, option: String? = nil) throws {
        if isCluster(path) { return }
        var information = stat()
        guard stat(path, &information) != 0 else { return }
        let code = errno
        var report = ErrorReport("cannot open the database \(path): \(String(cString: strerror(code)))", kind: "cantopen")
        if code == ENOENT, let nearest = nearestFile(to: path) {
            report.help = "did you mean `\(nearest)`?"
            report.suggestions = [nearest]
        } else if code == ENOENT, let option {
            report.help = option
        }
        throw CommandFailure(report)
    }

    /// The folder of a path, if it does not exist.
    static func missingFolder(of path: String) -> String? {
        guard !isCluster(path), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
        let folder = String(path[..<slash])
        return isMissing(folder) ? folder : nil
    }

    /// The file beside a path whose name is most like its.
    private static func nearestFile(to path: String) -> String? {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let databases = names.filter { isDatabase(folder + $0) }.sorted()
        return nearestName(to: String(path.dropFirst(folder.count)), among: databases).map { folder + $0 }
    }

    /// Whether a file is there that begins as databases do.
    static func isDatabase(_ path: String) -> Bool {
        guard isFile(path), let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 15)) == Data("SQLite format 3".utf8)
    }

    /// Removes a database with what SQLite keeps beside it.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
