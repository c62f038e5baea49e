internal import Foundation

/// A folder of migrations, with one Lua or SQL file for each.
package struct MigrationFolder {
    package struct File: Equatable, Sendable {
        /// The name of the migration: the file name without its extension.
        package let name: String
        package let path: String
        package let isSQL: Bool
        /// The path of the SQL file that reverts the migration, `NAME.down.sql`, if it exists.
        package fileprivate(set) var downPath: String?

        /// Reads the migration. If an SQL file has up and down sections, returns only the up section.
        package func read() throws(MigrationFolderError) -> [UInt8] {
            let text = try Self.read(path)
            return isSQL ? MigrationSections(text)?.up ?? text : text
        }

        /// Reads the SQL that reverts the migration, from a separate file or from a down section; `nil` if there is neither.
        package func readDown() throws(MigrationFolderError) -> [UInt8]? {
            let section = isSQL ? MigrationSections(try Self.read(path))?.down : nil
            guard let downPath else { return section }
            guard section == nil else {
                throw MigrationFolderError(
                    .mistake, path, "\(path) has a section that undoes it, and so has \(downPath); keep one of them")
            }
            return try Self.read(downPath)
        }

        private static func read(_ path: String) throws(MigrationFolderError) -> [UInt8] {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw MigrationFolderError(.unreadable, path, "cannot read the migration \(path)")
            }
            return Array(data)
        }
    }

    /// The names of all entries in the folder, including modules that migrations require and files that revert migrations.
    package let names: [String]
    /// The migrations in the order in which they run: sorted by the bytes of their names.
    package let files: [File]

    /// Reads the names of the files. Hidden files, and files that are neither Lua nor SQL, are not migrations.
    ///
    /// - Throws: ``MigrationFolderError`` if the folder cannot be read or its files are inconsistent.
    package init(_ path: String) throws(MigrationFolderError) {
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw MigrationFolderError(
                .unreadable, path, "cannot read the folder of migrations \(path): \(Self.reason(path))")
        }
        files = try Self.files(among: names, in: path)
    }

    /// Returns the migrations among the given file names.
    static func files(among names: [String], in folder: String) throws(MigrationFolderError) -> [File] {
        var files: [File] = []
        var undoing: [String] = []
        for name in names.sorted(by: isBefore) where !name.hasPrefix(".") {
            guard let dot = name.lastIndex(of: ".") else { continue }
            let suffix = String(name[dot...].dropFirst())
            guard ["lua", "sql"].contains(suffix.lowercased()) else { continue }
            guard suffix == suffix.lowercased() else {
                throw MigrationFolderError(.mistake, folder, "\(folder)/\(name): write the extension in lower case")
            }
            let file = File(name: String(name[..<dot]), path: "\(folder)/\(name)", isSQL: suffix == "sql")
            if file.isSQL, file.name.hasSuffix(".down") {
                undoing.append(String(file.name.dropLast(".down".count)))
            } else {
                files.append(file)
            }
        }
        files.sort { isBefore($0.name, $1.name) }
        for name in undoing { try setDown(of: name, among: &files, in: folder) }
        try requireNoDownMigrations(files, in: folder)
        for (file, next) in zip(files, files.dropFirst()) { try check(file, before: next, in: folder) }
        return files
    }

    /// Records the SQL file that reverts a migration.
    private static func setDown(of name: String, among files: inout [File], in folder: String) throws(MigrationFolderError) {
        let path = "\(folder)/\(name).down.sql"
        guard let index = files.firstIndex(where: { $0.name == name }) else {
            throw MigrationFolderError(.mistake, folder, "\(path) undoes a migration that does not exist: `\(name).sql`")
        }
        guard files[index].isSQL else {
            throw MigrationFolderError(
                .mistake, folder,
                "\(path): `\(name)` is a Lua migration and defines its own `down`; return { up = ..., down = ... }")
        }
        files[index].downPath = path
    }

    /// Rejects a migration such as `0003_tax_down`, which would run after `0003_tax` and undo it.
    private static func requireNoDownMigrations(_ files: [File], in folder: String) throws(MigrationFolderError) {
        let names = Set(files.map(\.name))
        for file in files {
            guard let suffix = ["_down", "-down"].first(where: file.name.hasSuffix) else { continue }
            let name = String(file.name.dropLast(suffix.count))
            guard names.contains(name) else { continue }
            throw MigrationFolderError(
                .mistake, folder,
                "\(folder): `\(file.name)` would run after `\(name)`, as a migration of its own; name the SQL file that undoes `\(name)` "
                    + "\(name).down.sql")
        }
    }

    /// Compares names by bytes, like `LC_ALL=C sort`, because Swift compares strings by Unicode.
    private static func isBefore(_ name: String, _ other: String) -> Bool {
        name.utf8.lexicographicallyPrecedes(other.utf8)
    }

    private static func check(_ file: File, before next: File, in folder: String) throws(MigrationFolderError) {
        guard file.name != next.name else {
            throw MigrationFolderError(
                .mistake, folder,
                "\(folder): `\(file.name)` exists twice, in Lua and in SQL; keep one of the files")
        }
        guard let first = number(before: file.name), let second = number(before: next.name), first > second
        else { return }
        throw MigrationFolderError(
            .mistake, folder,
            "\(folder): `\(file.name)` would run before `\(next.name)`, since names are compared by their characters; "
                + "give their numbers the same number of digits")
    }

    /// Returns the number at the start of a name, if any.
    private static func number(before name: String) -> Int? {
        Int(name.prefix { $0.isASCII && $0.isNumber })
    }

    private static func reason(_ path: String) -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return "it does not exist" }
        return isFolder.boolValue ? "permission denied" : "it is a file"
    }
}

/// The error of a folder of migrations that cannot be used.
package struct MigrationFolderError: Error, Equatable {
    package enum Kind: Sendable {
        case unreadable
        /// The files of the folder contradict each other.
        case mistake
    }

    package let kind: Kind
    package let path: String
    package let message: String

    init(_ kind: Kind, _ path: String, _ message: String) {
        self.kind = kind
        self.path = path
        self.message = message
    }
}
