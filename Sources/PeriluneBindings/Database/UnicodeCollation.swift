internal import CPeriluneRows
internal import Foundation
package import GRDB

/// The Unicode collations, by their names in scripts and SQL. SQLite's built-in collations handle only ASCII letters.
///
/// Tables defined by scripts use GRDB's names for the collations, which other GRDB programs provide, too.
package enum UnicodeCollation: String, CaseIterable {
    case unicode
    case unicodeCaseInsensitive = "unicode_case_insensitive"
    case localized
    case localizedCaseInsensitive = "localized_case_insensitive"
    case localizedStandard = "localized_standard"

    /// Defines the collations on a GRDB connection.
    package static func install(on db: Database) {
        if let connection = db.sqliteConnection { install(on: connection) }
    }

    static func install(on connection: OpaquePointer) {
        for collation in allCases {
            _ = sqlite3_create_collation_v2(connection, collation.rawValue, SQLITE_UTF8, nil, collation.function, nil)
        }
    }

    /// The C comparison function for SQLite, which ignores its context argument.
    private var function: @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafeRawPointer?, CInt, UnsafeRawPointer?) -> CInt {
        switch self {
        case .unicode:
            {
                UnicodeCollation.compare($1, $2, $3, $4) {
                    $0 < $1 ? .orderedAscending : $0 == $1 ? .orderedSame : .orderedDescending
                }
            }
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
