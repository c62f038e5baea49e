public import Foundation
internal import PeriluneRecords

/// Changes of rows that were previewed, to be made to the original later: exactly these.
public struct PreviewPlan: Codable, Sendable {
    /// The database that the changes are meant for.
    public struct Origin: Codable, Sendable, Equatable {
        /// The file; `nil` if the database was not a file.
        public let path: String?
        /// The SHA-256 of its schema.
        public let schemaHash: String
    }

    /// A script that was previewed.
    public struct Script: Codable, Sendable, Equatable {
        /// What the script is called, usually its path.
        public let name: String
        /// The SHA-256 of its text.
        public let hash: String

        /// Describes a script by its name and a hash of its text.
        public init(name: String, bytes: [UInt8]) {
            self.name = name
            hash = SHA256.hash(bytes)
        }
    }

    /// What is read as a plan.
    public static let formatName = "perilune plan"
    /// The version of the format that this version of Perilune writes and reads. Version 1 did not keep the columns that updates
    /// leave alone.
    public static let currentVersion = 2

    /// What tells a plan from any other file.
    public let format: String
    /// The version of the file format.
    public let version: Int
    /// The database that the plan was made for.
    public let origin: Origin
    /// When the plan was made.
    public let created: Date
    /// The scripts whose changes the plan has.
    public var scripts: [Script] = []
    /// What the scripts would have done outside of the database.
    public let effects: [PreviewEffect]
    let changesetBytes: Data
    /// The rows that are updated, in the columns that are not: see ``SeenRows``.
    private let seenBytes: Data
    /// The SHA-256 of both: SQLite does not find out whatever is wrong with them.
    /// `nil` until the plan is written.
    private var changesetHash: String?

    package var changeset: Changeset { Changeset(bytes: changesetBytes) }
    var seen: SeenRows { SeenRows(rows: Changeset(bytes: seenBytes)) }

    init(origin: Origin, changes: ChangeCollector.Changes, effects: [PreviewEffect]) {
        format = Self.formatName
        version = Self.currentVersion
        self.origin = origin
        created = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        self.effects = effects
        changesetBytes = changes.changeset.bytes
        seenBytes = changes.seen.rows.bytes
    }

    private enum CodingKeys: String, CodingKey {
        case format, version, origin, created, scripts, effects, changesetHash
        case changesetBytes = "changeset"
        case seenBytes = "seen"
    }

    /// Writes the plan as it stands in a file.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(format, forKey: .format)
        try container.encode(version, forKey: .version)
        try container.encode(origin, forKey: .origin)
        try container.encode(created, forKey: .created)
        try container.encode(scripts, forKey: .scripts)
        try container.encode(effects, forKey: .effects)
        try container.encode(changesetBytes, forKey: .changesetBytes)
        try container.encode(seenBytes, forKey: .seenBytes)
        try container.encode(SHA256.hash(changesetBytes + seenBytes), forKey: .changesetHash)
    }

    // MARK: - Files

    /// Writes the plan, to a file in one piece or not at all. A file that is not a plan file is not replaced.
    ///
    /// - Throws: ``PlanError``.
    public func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try PlanFile(path: path).write(try encoder.encode(self) + Data("\n".utf8))
        } catch is EncodingError {
            throw PlanError(.file, "cannot write the plan \(path)")
        }
    }

    /// Finds out whether a plan could be written to a path, before a script runs for it.
    ///
    /// - Throws: ``PlanError``.
    package static func checkPath(_ path: String) throws {
        try PlanFile(path: path).check()
    }

    /// Reads a plan, and checks that this version of Perilune understands it.
    ///
    /// - Throws: ``PlanError``.
    public init(contentsOf path: String) throws {
        let data: Data
        do {
            data = Data(try ScriptFile.read(path))
        } catch let error as ScriptFileError {
            throw PlanError(.file, "cannot read the plan \(path): \(error.reason)")
        }
        guard let header = Self.header(of: data) else {
            throw PlanError(.format, "\(path) is not a plan file")
        }
        guard header.version == Self.currentVersion else {
            throw PlanError(
                .format,
                "\(path) is a plan of version \(header.version); this perilune reads version \(Self.currentVersion); make the plan again")
        }
        guard let plan = try? Self.decoder.decode(PreviewPlan.self, from: data), plan.isIntact else {
            throw PlanError(.format, "\(path) is a damaged plan file")
        }
        self = plan
    }

    private var isIntact: Bool {
        guard SHA256.hash(changesetBytes + seenBytes) == changesetHash else { return false }
        guard ChangesetStructure.isSound(changesetBytes), ChangesetStructure.isSound(seenBytes, ofSeenRows: true) else { return false }
        return (try? changeset.forEach { _ in }) != nil && (try? seen.rows.forEach { _ in }) != nil
    }

    private struct Header: Codable {
        let format: String
        let version: Int
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    /// The header of a plan of any version; `nil` if the bytes are not a plan.
    private static func header(of data: Data) -> Header? {
        guard let header = try? decoder.decode(Header.self, from: data), header.format == formatName else { return nil }
        return header
    }

    /// Whether bytes are a plan, perhaps of a version to come.
    static func isPlan(_ data: Data) -> Bool {
        header(of: data) != nil
    }

    // MARK: - Contents

    /// How many rows of each table the plan changes, without the rows.
    ///
    /// - Throws: ``PlanError`` if the changes cannot be read.
    public func summary() throws -> [TableChanges] {
        var tables: [String: TableChanges] = [:]
        try changeset.forEach { change in
            let name = change.table
            switch change.kind {
            case .inserted: tables[name, default: TableChanges(name: name)].inserted += 1
            case .updated: tables[name, default: TableChanges(name: name)].updated += 1
            case .deleted: tables[name, default: TableChanges(name: name)].deleted += 1
            }
        }
        return tables.values.sorted { $0.name < $1.name }
    }
}
