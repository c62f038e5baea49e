internal import CPeriluneRows
internal import Foundation
package import GRDB

/// The collations beside SQLite's own, which know the letters of ASCII only, by the names that scripts and SQL call them.
///
/// In tables that scripts define they go by GRDB's names, which programs with GRDB know too.
package enum UnicodeCollation: String, CaseIterable {
    case unicode
    case unicodeCaseInsensitive = "unicode_case_insensitive"
    case localized
    case localizedCaseInsensitive = "localized_case_insensitive"
    case localizedStandard = "localized_standard"

    /// Defines them for a connection of GRDB.
    package static func install(on db: Database) {
        if let connection = db.sqliteConnection { install(on: connection) }
    }

    static func install(on connection: OpaquePointer) {
        for collation in allCases {
            _ = sqlite3_create_collation_v2(connection, collation.rawValue, SQLITE_UTF8, nil, collation.function, nil)
        }
    }

    /// What SQLite calls, without a context.
    private var function: @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafeRawPointer?, CInt, UnsafeRawPointer?) -> CInt {
        switch self {
        case .unicode: { UnicodeCollation.compare($1, $2, $3, $4) { $0 < $1 ? .orderedAscending : $0 == $1 ? .orderedSame : .orderedDescending } }
        case .unicodeCaseInsensitive: { UnicodeCollation.compare($1, $2, $3, $4) { $0.caseInsensitiveCompare($1) } }
        case .localized: { UnicodeCollation.compare($1, $2, $3, $4) { $0.localizedCompare($1) } }
        case .localizedCaseInsensitive: { UnicodeCollation.compare($1, $2, $3, $4) { $0.localizedCaseInsensitiveCompare($1) } }
        case .localizedStandard: { UnicodeCollation.compare($1, $2, $3, $4) { $0.localizedStandardCompare($1) } }
        }
    }

    private static func compare(
        _ leftCount: CInt, _ left: UnsafeRawPointer?, _ rightCount: CInt, _ right: UnsafeRawPointer?,
        _ compare: (String, String) -> ComparisonResult
    ) -> CInt {
        CInt(compare(text(left, leftCount), text(right, rightCount)).rawValue)
    }

    private static func text(_ start: UnsafeRawPointer?, _ count: CInt) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count)), as: UTF8.self)
    }
}
