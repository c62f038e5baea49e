internal import Foundation
internal import Glibc

/// The other processes that use a database file, as `name (id)`, if they are visible to this user.
struct DatabaseUsers {
    let path: String

    /// The processes that have the file open.
    var all: [String] {
        guard let real = realpath(path, nil) else { return [] }
        defer { free(real) }
        let wanted = String(cString: real)
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return numbers.compactMap { Int32($0) }.sorted().filter { number in
            let folder = "/proc/\(number)/fd"
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return number != getpid()
                && files.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == wanted }
        }.map(Self.described)
    }

    /// The processes that currently prevent writing, because they hold the write lock or a read lock that a commit waits for.
    ///
    /// - SeeAlso: proc(5), `/proc/locks`; sqlite.org/fileformat2.html for the bytes that SQLite locks.
    var lockers: [String] {
        // The pending, reserved and shared lock bytes of the file, and the write lock byte of the WAL index.
        let holders =
            locks(on: path, in: 0x4000_0000...0x4000_01FF, anyKind: true)
            + locks(on: path + "-shm", in: 120...120, anyKind: false)
        return Set(holders).subtracting([getpid()]).sorted().map(Self.described)
    }

    private func locks(on path: String, in bytes: ClosedRange<Int>, anyKind: Bool) -> [Int32] {
        var information = stat()
        guard stat(path, &information) == 0, let table = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else {
            return []
        }
        return table.split(separator: "\n").compactMap { line in
            // 1: POSIX  ADVISORY  WRITE 4711 08:01:131073 1073741825 1073741825
            let words = line.split(separator: " ")
            guard words.count == 8, words[1] == "POSIX", anyKind || words[3] == "WRITE", let id = Int32(words[4]), id > 0,
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(information.st_ino),
                let first = Int(words[6]), let last = Int(words[7]) ?? (words[7] == "EOF" ? Int.max : nil)
            else { return nil }
            return first <= bytes.upperBound && last >= bytes.lowerBound ? id : nil
        }
    }

    private static func described(_ id: Int32) -> String {
        let name = (try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8))?.trimmed ?? "?"
        return "\(name) (\(id))"
    }
}
