internal import Foundation

/// The contents of a plan file without the row changes.
struct PlanHeader: Codable {
    /// The fields that plan files of all versions contain.
    struct Version: Codable {
        let format: String
        let version: Int
    }

    let format: String
    let version: Int
    let origin: PreviewPlan.Origin
    let created: Date
    let scripts: [PreviewPlan.Script]
    let effects: [PreviewEffect]

    init(_ plan: PreviewPlan) {
        (format, version, origin, created) = (plan.format, plan.version, plan.origin, plan.creationDate)
        (scripts, effects) = (plan.scripts, plan.effects)
    }

    /// The JSON keys of the changes in the file.
    enum ChangesKey {
        static let changeset = "changeset"
        static let seen = "seen"
        /// The SHA-256 of both values, because SQLite does not detect every damaged changeset.
        static let hash = "changeset_hash"
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
