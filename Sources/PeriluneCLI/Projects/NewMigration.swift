internal import Foundation
internal import Perilune

/// A new migration file.
struct NewMigration {
    let folder: String
    let name: String
    var isSQL = false

    /// Creates the file and, for SQL, a second file that undoes the migration. Returns their paths.
    ///
    /// - Throws: ``CommandFailure``.
    func make() throws -> [String] {
        let existing = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let base = "\(folder)/\(Self.number(after: existing))_\(slug)"
        let files = isSQL ? [(base + ".sql", Self.sql), (base + ".down.sql", Self.downSQL)] : [(base + ".lua", Self.lua)]
        try OutputFolder.make(folder)
        for (path, text) in files { try OutputFile.write(Array(text.utf8), to: path) }
        return files.map(\.0)
    }

    /// The name as part of a file name: `Add prices` becomes `add_prices`.
    private var slug: String {
        let words = name.lowercased().split { !($0.isLetter || $0.isNumber) }
        return words.joined(separator: "_")
    }

    /// Returns the next number after the highest prefix of the files, with the same number of digits.
    static func number(after files: [String]) -> String {
        let numbers = files.compactMap { $0.hasPrefix(".") ? nil : $0.prefix { $0.isASCII && $0.isNumber } }.filter {
            !$0.isEmpty
        }
        let highest = numbers.compactMap { Int($0) }.max() ?? 0
        let width = numbers.first { Int($0) == highest }?.count ?? 4
        let digits = String(highest + 1)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static let lua = """
        return {
          up = function(db)
          end,
          down = function(db)
          end,
        }

        """
    private static let sql = "-- Changes the schema.\n"
    private static let downSQL = "-- Undoes the change.\n"
}
