/// A PRAGMA in a statement, and how scripts may use it.
package struct Pragma: Equatable, Sendable {
    /// The name in lower case, without a schema name.
    package let name: String
    /// Whether the statement passes a value or an argument.
    package let hasValue: Bool

    package struct Facts: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Allowed even for scripts without file access: the setting does not outlast the script, reveal files or endanger the
        /// database.
        package static let harmless = Facts(rawValue: 1)
        /// Never allowed to set: the setting would break GRDB or this library, outlast the script's limits, affect the whole
        /// process, or allow a truncated file to crash it.
        package static let forbidden = Facts(rawValue: 2)
        /// Only reads if no value is passed.
        package static let telling = Facts(rawValue: 4)
        /// Only reads even if a value is passed, because the value selects what to read.
        package static let tellingOfValue = Facts(rawValue: 8)
    }

    package var facts: Facts { Self.facts[name] ?? [] }

    /// Whether this use of the PRAGMA only reads.
    package var onlyTells: Bool { facts.contains(hasValue ? .tellingOfValue : .telling) }

    private static let facts: [String: Facts] = {
        let asked: Facts = [.harmless, .telling], described: Facts = [.harmless, .telling, .tellingOfValue]
        return [
            "analysis_limit": .harmless, "application_id": asked, "busy_timeout": .forbidden, "case_sensitive_like": .harmless,
            "collation_list": asked, "compile_options": asked, "data_version": asked, "database_list": .telling,
            "defer_foreign_keys": asked,
            "encoding": asked, "foreign_key_check": described, "foreign_key_list": described, "foreign_keys": .harmless,
            "freelist_count": asked,
            "function_list": asked, "hard_heap_limit": .forbidden, "index_info": described, "index_list": described,
            "index_xinfo": described,
            "integrity_check": described, "journal_mode": .telling, "mmap_size": .forbidden, "module_list": asked,
            "optimize": .harmless,
            "page_count": asked, "page_size": asked, "pragma_list": asked, "query_only": .forbidden, "quick_check": described,
            "recursive_triggers": asked, "schema_version": .telling, "soft_heap_limit": .forbidden, "synchronous": .telling,
            "table_info": described, "table_list": described, "table_xinfo": described, "temp_store": .harmless,
            "user_version": asked,
            "writable_schema": .forbidden,
        ]
    }()
}
