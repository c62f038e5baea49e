public import Foundation
internal import PeriluneRecords

/// The row changes that a preview has found, which can be applied to the original database without running the scripts again.
public struct PreviewPlan: Sendable {
    /// The database that the plan was made for.
    public struct Origin: Codable, Sendable, Equatable {
        /// The path of the file or the cluster URL; `nil` for an in-memory database.
        public let path: String?
        /// The SHA-256 of the database's schema.
        public let schemaHash: String
    }

    /// A previewed script.
    public struct Script: Codable, Sendable, Equatable {
        /// The name of the script, usually its path.
        public let name: String
        /// The SHA-256 of the script's text.
        public let hash: String

        /// Creates the description of a script with a name and a text.
        package init(name: String, bytes: [UInt8]) {
            self.name = name
            hash = SHA256.hash(bytes)
        }
    }

    /// The format name of plan files.
    package static let formatName = "perilune plan"
    /// The version of the file format that this version of Perilune writes and reads. Version 1 did not contain the unchanged columns of
    /// updated rows.
    package static let currentVersion = 2

    /// The name of the file format, which identifies plan files.
    package let format: String
    /// The version of the file format.
    package let version: Int
    /// The database that the plan was made for.
    public let origin: Origin
    /// The time when the plan was made.
    public let creationDate: Date
    /// The scripts that made the changes.
    public package(set) var scripts: [Script] = []
    /// The scripts' effects outside of the database, which the preview did not execute.
    public let effects: [PreviewEffect]
    /// The changes, in memory or in temporary files, which are deleted when the last copy of the plan is released.
    let changes: PlanChanges

    init(origin: Origin, changes: PlanChanges, effects: [PreviewEffect]) {
        format = Self.formatName
        version = Self.currentVersion
        self.origin = origin
        creationDate = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        self.effects = effects
        self.changes = changes
    }

    init(_ header: PlanHeader, changes: PlanChanges) {
        (format, version) = (header.format, header.version)
        (origin, creationDate, scripts, effects) = (header.origin, header.created, header.scripts, header.effects)
        self.changes = changes
    }

    // MARK: - Files

    /// Writes the plan to a file. Atomically replaces an existing plan file, and refuses to overwrite any other file.
    ///
    /// - Throws: ``PlanError``.
    public func write(to path: String) throws {
        try PlanFile(path: path).write(self)
    }

    /// Checks that a plan can be written to a path, before any script runs.
    ///
    /// - Throws: ``PlanError``.
    package static func checkPath(_ path: String) throws {
        try PlanFile(path: path).check()
    }

    /// Reads a plan from a file. Large changes are kept in temporary files.
    ///
    /// - Throws: ``PlanError``.
    public init(contentsOf path: String) throws {
        self = try PlanReader(path: path).read()
    }

    // MARK: - Contents

    /// Returns the number of changed rows of each table, without the rows. Like the report, omits tables that only the library uses.
    public func summary() -> [TableChanges] {
        var tables: [String: TableChanges] = [:]
        for table in changes.outline.tables where table.count > 0 && !OwnTables.recordsProgress(table.name) {
            tables[table.name, default: TableChanges(name: table.name)].inserted += table.inserted
            tables[table.name, default: TableChanges(name: table.name)].updated += table.updated
            tables[table.name, default: TableChanges(name: table.name)].deleted += table.deleted
        }
        return tables.values.sorted { $0.name < $1.name }
    }
}
