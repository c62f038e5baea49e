public import Foundation

/// Changes of rows that were previewed, to be made to the original later: exactly these.
public struct PreviewPlan: Codable, Sendable {
    /// The database that the changes are meant for.
    public struct Origin: Codable, Sendable, Equatable {
        /// The file; `nil` if it was none.
        public let path: String?
        /// The SHA-256 of its schema.
        public let schemaHash: String
    }

    /// A script that was previewed.
    public struct Script: Codable, Sendable, Equatable {
        public let name: String
        /// The SHA-256 of its text.
        public let hash: String

        public init(name: String, bytes: [UInt8]) {
            self.name = name
            hash = SHA256.hash(bytes)
        }
    }

    /// What is read as a plan.
    public static let formatName = "perilune plan"
    /// The version of the format that this version of Perilune writes, and the highest that it reads.
    public static let currentVersion = 1

    public let format: String
    public let version: Int
    public let origin: Origin
    public let created: Date
    public var scripts: [Script] = []
    /// What the scripts would have done outside of the database.
    public let effects: [PreviewEffect]
    let changesetBytes: Data

    package var changeset: Changeset { Changeset(bytes: changesetBytes) }

    init(origin: Origin, changeset: Changeset, effects: [PreviewEffect]) {
        format = Self.formatName
        version = Self.currentVersion
        self.origin = origin
        created = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        self.effects = effects
        changesetBytes = changeset.bytes
    }

    private enum CodingKeys: String, CodingKey {
        case format, version, origin, created, scripts, effects
        case changesetBytes = "changeset"
    }

    // MARK: - Files

    /// Writes the plan, in one piece or not at all.
    ///
    /// - Throws: ``PlanError``.
    public func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try Self.write(try encoder.encode(self) + Data("\n".utf8), to: path)
        } catch is EncodingError {
            throw PlanError(.file, "cannot write the plan \(path)")
        }
    }

    private static func write(_ data: Data, to path: String) throws {
        let part = "\(path).\(UUID().uuidString).part"
        let isWritten = data.withUnsafeBytes { bytes in
            guard let file = fopen(part, "wx") else { return false }
            let count = fwrite(bytes.baseAddress, 1, bytes.count, file)
            return fclose(file) == 0 && count == bytes.count && rename(part, path) == 0
        }
        guard !isWritten else { return }
        let reason = String(cString: strerror(errno))
        unlink(part)
        throw PlanError(.file, "cannot write the plan \(path): \(reason)")
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
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        guard let header = try? decoder.decode(Header.self, from: data), header.format == Self.formatName else {
            throw PlanError(.format, "\(path) is no plan of perilune")
        }
        guard header.version <= Self.currentVersion else {
            throw PlanError(
                .format,
                "\(path) is a plan of version \(header.version); this perilune reads version \(Self.currentVersion)")
        }
        do {
            self = try decoder.decode(PreviewPlan.self, from: data)
            try changeset.forEach { _ in }
        } catch {
            throw PlanError(.format, "\(path) is a damaged plan")
        }
    }

    private struct Header: Codable {
        let format: String
        let version: Int
    }

    // MARK: - Contents

    /// How many rows of each table the plan changes, without the rows.
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
