internal import GRDBSQLite
internal import PeriluneRecords

/// The category of a statement in a cluster, with the SQL that is sent for it.
enum RemoteText {
    /// A statement that concerns the transaction or the connection. It runs locally first.
    case control
    /// A statement that changes the schema. It runs in the cluster, and then locally.
    case schema(String)
    /// A statement that returns rows and changes nothing.
    case reading(String)
    /// A statement that changes rows. With RETURNING, it also returns rows.
    case changing(String)

    var writes: Bool {
        switch self {
        case .schema, .changing: true
        case .control, .reading: false
        }
    }

    /// - Parameters:
    ///   - sql: A statement that SQLite has compiled on the local connection.
    ///   - statement: The compiled statement.
    /// - Throws: ``ClusterFailure`` of kind `refused` if clusters do not support the statement.
    init(_ sql: String, _ statement: OpaquePointer) throws {
        let scan = StatementScan(sql), screening = SQLScreening(text: sql)
        if screening.kind == .control {
            self = .control
            return
        }
        if let pragma = screening.pragma, scan.words.first == "PRAGMA" {
            switch pragma.name {
            // The session applies this setting in the cluster before the next transaction.
            case "foreign_keys": self = .control
            // This setting ends with the transaction, so it can be sent.
            case "defer_foreign_keys" where pragma.hasValue: self = .changing(scan.text)
            default:
                try Self.check(pragma)
                self = .reading(scan.text)
            }
            return
        }
        switch scan.words.first ?? "" {
        case "CREATE", "ALTER", "DROP":
            try Self.checkSchemaChange(scan, statement)
            self = .schema(scan.text)
        case "ATTACH", "DETACH":
            throw Self.refused(
                "ATTACH and DETACH: what is written to attached databases is not replicated; open a file by perilune.queue(path)")
        case "VACUUM": throw Self.refused("VACUUM: nodes keep their databases in memory and take snapshots of them themselves")
        default:
            if scan.mentionsTemporary {
                throw Self.refused(
                    "temporary tables: they belong to a connection to a node, and are gone when another node leads; use an ordinary table"
                )
            }
            let isExplained = sqlite3_stmt_isexplain(statement) != 0
            guard sqlite3_stmt_readonly(statement) != 0 || isExplained, sqlite3_column_count(statement) > 0 else {
                self = .changing(Self.withoutDeclaredTypes(scan, statement))
                return
            }
            self = .reading(isExplained ? scan.text : Self.withoutDeclaredTypes(reading: scan.text, statement))
        }
    }

    private static func refused(_ text: String) -> ClusterFailure { ClusterFailure(.refused, "a cluster has no \(text)") }

    private static func checkSchemaChange(_ scan: StatementScan, _ statement: OpaquePointer) throws {
        if scan.words.count > 1, ["TEMP", "TEMPORARY"].contains(scan.words[1]) || scan.mentionsTemporary {
            throw refused(
                "temporary tables: they belong to a connection to a node, and are gone when another node leads; use an ordinary table"
            )
        }
        if sqlite3_bind_parameter_count(statement) > 0 {
            throw refused(
                "values for a statement that changes the schema; create the table first, and insert the rows by INSERT ... SELECT"
            )
        }
    }

    private static func check(_ pragma: Pragma) throws {
        guard pragma.onlyTells else {
            throw refused(
                "PRAGMA \(pragma.name)\(pragma.hasValue ? " with a value" : ""): it would hold for one connection to one node; "
                    + "only PRAGMAs that read are allowed")
        }
    }

    // MARK: - Declared types

    // A node interprets the declared types of result columns. NULL in a BOOLEAN or DATETIME column arrives as a different value,
    // and a value of an unexpected storage class crashes the node. Expressions have no declared type, so columns are turned into
    // expressions.

    private static func hasDeclaredType(_ statement: OpaquePointer, _ column: CInt) -> Bool {
        sqlite3_column_decltype(statement, column) != nil
    }

    private static func withoutDeclaredTypes(reading sql: String, _ statement: OpaquePointer) -> String {
        let count = sqlite3_column_count(statement)
        guard (0..<count).contains(where: { hasDeclaredType(statement, $0) }) else { return sql }
        let names = (0..<count).map { "c\($0)" }
        // The parenthesis is on a separate line, because the statement may end with a comment.
        return
            "WITH perilune_q(\(names.joined(separator: ","))) AS (\(sql)\n) SELECT \(names.map { "+" + $0 }.joined(separator: ",")) FROM perilune_q"
    }

    /// Returns the statement with a unary plus before each expression of RETURNING. Expands `*` into columns.
    private static func withoutDeclaredTypes(_ scan: StatementScan, _ statement: OpaquePointer) -> String {
        let count = Int(sqlite3_column_count(statement))
        guard count > 0, let returning = scan.returning else { return scan.text }
        let items = returning.items
        let stars = items.count(where: { $0 == "*" })
        guard stars <= 1 || (count - items.count + stars) % stars == 0 else { return scan.text }
        let width = stars == 0 ? 0 : (count - items.count + stars) / stars
        var texts: [String] = [], column = 0
        for item in items {
            guard item == "*" else {
                texts.append("+" + item)
                column += 1
                continue
            }
            for _ in 0..<width {
                texts.append("+" + String(cString: sqlite3_column_name(statement, CInt(column))).quotedName)
                column += 1
            }
        }
        return returning.before + " " + texts.joined(separator: ", ")
    }
}
