internal import PeriluneRecords

/// The suggestion for an unknown name in `perilune.toml`.
struct SettingSuggestion: Equatable {
    /// The name that was probably meant: of a setting, or of a table.
    let name: String?
    let help: String

    /// - Parameter name: The name with its table, such as `limits.cpu`.
    init(for name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let last = parts.last ?? name, table = parts.count > 1 ? parts[0] : nil
        let names = table.map(Self.names) ?? []
        let inTable = names.map { String($0.drop { $0 != "." }.dropFirst()) }
        if let table, !names.isEmpty {
            let found = Self.meant(last, among: inTable, Self.otherNames[table] ?? [:]).map { "\(table).\($0)" }
            self.name = found ?? Self.elsewhere(last)
        } else {
            // A whole table may have another name, such as `limit`. Otherwise the setting may lack its table, as `timeout` would.
            let tables = Self.tables.filter { Setting(name: $0) == nil }
            self.name =
                Self.otherTables[name.lowercased()] ?? Self.elsewhere(last)
                ?? nearestName(to: name, among: Self.names(in: nil) + tables)
        }
        let other = self.name ?? name
        let listed = !names.isEmpty ? names : Setting(name: other) == nil ? Self.names(in: other) : []
        // The settings of one table do not matter if the name belongs to another.
        let isListed = self.name.map { found in listed.contains { $0 == found || $0.hasPrefix(found + ".") } } ?? true
        let available = "available: " + (listed.isEmpty ? Self.all : listed).joined(separator: ", ")
        help = [self.name.map { "did you mean `\($0)`?" }, isListed ? available : nil].compactMap { $0 }.joined(separator: " ")
    }

    /// The names of all settings. The database is `database` outside of the table `[database]`.
    private static let all = Setting.allCases.map(\.rawValue)
    private static let tables = ["database", "folders", "limits"]

    /// Returns the settings in a table, or with `nil` those without one; nothing for an unknown table.
    private static func names(in table: String?) -> [String] {
        guard let table else { return all.filter { !$0.contains(".") } }
        return (table == Setting.database.rawValue ? [Setting.databasePath] : []) + all.filter { $0.hasPrefix(table + ".") }
    }

    /// Returns the setting of another table that has a name.
    private static func elsewhere(_ name: String) -> String? {
        if let setting = all.first(where: { $0.split(separator: ".").last.map(String.init) == name }) { return setting }
        return otherNames.sorted { $0.key < $1.key }.lazy.compactMap { table, names in names[name].map { "\(table).\($0)" } }
            .first
    }

    private static func meant(_ name: String, among names: [String], _ others: [String: String]) -> String? {
        others[name.lowercased()] ?? nearestName(to: name, among: names)
    }

    // MARK: - Names of other programs

    private static func names(_ list: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: list.flatMap { name, others in others.split(separator: " ").map { (String($0), name) } })
    }

    private static let otherTables = names([
        "limits": "limit quota quotas resources resource", "folders": "folder directories directory dirs dir paths",
        "database": "db sqlite", "context": "env environment mode", "extensions": "extension plugins load_extension",
    ])

    /// For each table, the settings by their names in other programs.
    private static let otherNames = [
        "database": names([
            "path": "file filename name database url location sqlite db",
            "journal_mode": "journal journaling wal journal_type", "synchronous": "sync fsync",
            "double_quoted_strings": "dqs double_quotes double_quoted",
        ]),
        "folders": names([
            "migrations": "migration migrate migrations_dir migrations_path", "scenarios": "scenario tests test specs spec",
            "types": "type editor",
        ]),
        "limits": names([
            "timeout": "cpu cpu_time time time_limit max_time wall wall_time seconds duration deadline",
            "memory": "mem ram heap rss memory_limit max_memory", "output": "stdout print output_limit max_output",
            "disk": "files storage space disk_quota disk_limit max_disk",
        ]),
    ]
}
