internal import Foundation
internal import PeriluneRecords

/// A streaming reader for plan files.
struct PlanReader {
    private let path: String

    init(path: String) {
        self.path = path
    }

    /// Reads and validates the plan.
    ///
    /// - Throws: ``PlanError``.
    func read() throws -> PreviewPlan {
        let contents = try contents(keepsChanges: true)
        guard let contents, let version = contents.version else { throw PlanError(.format, "\(path) is not a plan file") }
        guard version == PreviewPlan.currentVersion else {
            throw PlanError(
                .format,
                "\(path) is a plan of version \(version); this perilune reads version \(PreviewPlan.currentVersion); make the plan again"
            )
        }
        do {
            if let header = contents.header, let changes = try contents.changes() { return PreviewPlan(header, changes: changes) }
        } catch let error as StorageError {
            throw failure(error)
        }
        throw PlanError(.format, "\(path) is a damaged plan file")
    }

    /// Returns whether the file is a plan file of any version.
    ///
    /// - Throws: ``PlanError`` if the file cannot be read.
    func isPlan() throws -> Bool {
        try contents(keepsChanges: false)?.version != nil
    }

    private func contents(keepsChanges: Bool) throws -> PlanContents? {
        guard let file = fopen(path, "rb") else { throw failure(StorageError(errno)) }
        defer { fclose(file) }
        do {
            return try PlanContents(
                ByteScanner { buffer in
                    let count = fread(buffer.baseAddress, 1, buffer.count, file)
                    guard ferror(file) == 0 else { throw StorageError(errno) }
                    return count
                }, keepsChanges: keepsChanges)
        } catch let error as StorageError {
            throw failure(error)
        }
    }

    private func failure(_ error: StorageError) -> PlanError {
        PlanError(.file, "cannot read the plan \(path): \(error.reason)")
    }
}

/// The contents of a plan file.
private struct PlanContents {
    /// All members except the changes, as a JSON object.
    private let rest: Data
    private var members: [String: StoredBytes] = [:]

    /// - Parameter keepsChanges: Whether to read the whole file. Otherwise, reading stops after the format and the version.
    /// - Returns: `nil` if the text is not a JSON object.
    init?(_ scanner: ByteScanner, keepsChanges: Bool) throws {
        var object = JSONObjectScanner(scanner)
        var rest = Data("{".utf8)
        guard try object.begin() else { return nil }
        var (isDamaged, keys) = (false, Set<String>())
        while let key = try object.nextKey() {
            if [PlanHeader.ChangesKey.changeset, PlanHeader.ChangesKey.seen].contains(key), try object.isAtString() {
                let spool = ByteSpool()
                var decoder = Base64.Decoder()
                var bytes: [UInt8] = []
                let isWhole = try object.takeString { text in
                    guard keepsChanges, !isDamaged else { return }
                    bytes.removeAll(keepingCapacity: true)
                    if !decoder.decode(text, to: &bytes) { isDamaged = true }
                    try bytes.withUnsafeBytes { try spool.append($0) }
                }
                guard isWhole else { return nil }
                if !decoder.isComplete || members[key] != nil { isDamaged = true }
                members[key] = try spool.finish()
            } else {
                guard let value = try object.takeValue(limitInBytes: Self.restInBytes - rest.count) else { return nil }
                if rest.count > 1 { rest.append(UInt8(ascii: ",")) }
                rest.append(contentsOf: [UInt8(ascii: "\"")] + Array(key.utf8) + Array("\":".utf8))
                rest.append(contentsOf: value)
                keys.insert(key)
                // The format and the version have been read.
                if !keepsChanges, keys.isSuperset(of: ["format", "version"]) { break }
            }
        }
        guard try !keepsChanges || object.isAtEnd() else { return nil }
        rest.append(UInt8(ascii: "}"))
        self.rest = rest
        if isDamaged { members = [:] }
    }

    /// The maximum size of all members except the changes, in bytes.
    private static let restInBytes = 256 << 20

    /// The version of the format; `nil` if the file is not a plan file.
    var version: Int? {
        guard let header = try? PlanHeader.decoder.decode(PlanHeader.Version.self, from: rest),
            header.format == PreviewPlan.formatName
        else { return nil }
        return header.version
    }

    var header: PlanHeader? { try? PlanHeader.decoder.decode(PlanHeader.self, from: rest) }

    private struct Hash: Codable {
        let changesetHash: String
    }

    /// Returns the changes; `nil` if they are missing or damaged.
    ///
    /// - Throws: ``StorageError``.
    func changes() throws -> PlanChanges? {
        guard let changeset = members[PlanHeader.ChangesKey.changeset], let seen = members[PlanHeader.ChangesKey.seen],
            let expected = try? PlanHeader.decoder.decode(Hash.self, from: rest).changesetHash
        else { return nil }
        var hash = SHA256()
        for bytes in [changeset, seen] { try bytes.forEachPiece { hash.add($0) } }
        guard hash.digits() == expected, let outline = try ChangesetStructure.outline(of: changeset),
            try ChangesetStructure.outline(of: seen, ofSeenRows: true) != nil
        else { return nil }
        return PlanChanges(changeset: ChangesetStream(changeset), seen: SeenRows(rows: ChangesetStream(seen)), outline: outline)
    }
}
