public import Foundation
internal import PeriluneRecords

/// Changes of rows that were previewed, to be made to the original later: exactly these.
public struct PreviewPlan: Sendable {
    /// The database that the changes are meant for.
    public struct Origin: Codable, Sendable, Equatable {
        /// The file; `nil` if the database was not a file.
        public let path: String?
        /// The SHA-256 of its schema.
        public let schemaHash: String
    }

    /// A script that was previewed.
    public struct Script: Codable, Sendable, Equatable {
        /// The name of the script, usually its path.
        public let name: String
        /// The SHA-256 of its text.
        public let hash: String

        /// Describes a script by its name and a hash of its text.
        public init(name: String, bytes: [UInt8]) {
            self.name = name
            hash = SHA256.hash(bytes)
        }
    }

    /// The format name of plan files.
    package static let formatName = "perilune plan"
    /// The version of the format that this version of Perilune writes and reads. Version 1 did not keep the columns that updates
    /// leave alone.
    public static let currentVersion = 2

    /// Distinguishes a plan from any other file.
    package let format: String
    /// The version of the file format.
    public let version: Int
    /// The database that the plan was made for.
    public let origin: Origin
    /// When the plan was made.
    public let creationDate: Date
    /// The scripts whose changes the plan has.
    public var scripts: [Script] = []
    /// The scripts' effects outside of the database, which were not executed.
    public let effects: [PreviewEffect]
    /// In memory, or in temporary files that are gone with the last copy of the plan.
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

    /// Writes the plan, to a file in one piece or not at all. A file that is not a plan file is not replaced.
    ///
    /// - Throws: ``PlanError``.
    public func write(to path: String) throws {
        try PlanFile(path: path).write(self)
    }

    /// Finds out whether a plan could be written to a path, before a script runs for it.
    ///
    /// - Throws: ``PlanError``.
    package static func checkPath(_ path: String) throws {
        try PlanFile(path: path).check()
    }

    /// Reads a plan, and checks that this version of Perilune understands it. Its changes are in memory only if they are few.
    ///
    /// - Throws: ``PlanError``.
    public init(contentsOf path: String) throws {
        self = try PlanReader(path: path).read()
    }

    // MARK: - Contents

    /// How many rows of each table the plan changes, without the rows.
    public func summary() -> [TableChanges] {
        var tables: [String: TableChanges] = [:]
        for table in changes.outline.tables where table.count > 0 {
            tables[table.name, default: TableChanges(name: table.name)].inserted += table.inserted
            tables[table.name, default: TableChanges(name: table.name)].updated += table.updated
            tables[table.name, default: TableChanges(name: table.name)].deleted += table.deleted
        }
        return tables.values.sorted { $0.name < $1.name }
    }
}
