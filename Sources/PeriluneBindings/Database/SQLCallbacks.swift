internal import CPeriluneRows
internal import Foundation
internal import PeriluneRecords

/// The functions that the row path calls to analyze SQL text, types and names. PeriluneRecords implements them. They do not raise
/// Lua errors.
enum SQLCallbacks {
    static var all: pdb_sql_callbacks {
        pdb_sql_callbacks(
            screen: { sql, length, screening in
                screening!.pointee = pdb_screening(SQLScreening(SQLCallbacks.bytes(sql!, length)))
            },
            changes_rows: { SQLScreening.changesRows(SQLCallbacks.bytes($0!, $1)) },
            savepoint: { SQLCallbacks.savepoint($0!, $1!) },
            is_boolean: { DeclaredType(String(cString: $0!)).content == .boolean },
            is_real: { DeclaredType(String(cString: $0!)).affinity == .real },
            nearest: { SQLCallbacks.nearest($0!, $1!, $2) })
    }

    private static func bytes(_ sql: UnsafePointer<CChar>, _ length: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: UnsafeRawPointer(sql).assumingMemoryBound(to: UInt8.self), count: length)
    }

    private static func savepoint(
        _ sql: UnsafePointer<CChar>, _ name: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> pdb_savepoint_command {
        switch SavepointCommand(bytes(sql, strlen(sql))) {
        case .begin(let text): name.pointee = strdup(text); return PDB_SAVEPOINT_BEGIN
        case .release(let text): name.pointee = strdup(text); return PDB_SAVEPOINT_RELEASE
        case .rollBack(let text): name.pointee = strdup(text); return PDB_SAVEPOINT_ROLL_BACK
        case nil: return PDB_NO_SAVEPOINT
        }
    }

    /// Returns the most similar name. The alphabetically first name wins ties, because the order of the Lua table varies.
    private static func nearest(
        _ name: UnsafePointer<CChar>, _ names: UnsafePointer<UnsafePointer<CChar>?>, _ count: CInt
    ) -> CInt {
        let candidates = (0..<Int(count)).map { (name: String(cString: names[$0]!), position: CInt($0)) }.sorted {
            $0.name < $1.name
        }
        let nearest = nearestName(to: String(cString: name), among: candidates.map(\.name))
        return candidates.first { $0.name == nearest }?.position ?? -1
    }
}

extension pdb_screening {
    init(_ screening: SQLScreening) {
        self.init()
        keyword = screening.kind.keyword
        is_temporary = screening.isTemporary
        wants_writer = screening.dependsOnConnection
        reads_rowid = screening.readsRowID
        tells_files = screening.tellsFiles
        opens_file = screening.opensFile
        withUnsafeMutableBytes(of: &word) { word in
            // Text that is too long is truncated between characters. The last byte stays 0.
            var text = screening.words.unicodeScalars
            if text.count >= word.count { text = .init(text.prefix(word.count - 1)) }
            while String(text).utf8.count >= word.count { text.removeLast() }
            word.copyBytes(from: String(text).utf8)
        }
    }
}

extension SQLScreening.Kind {
    fileprivate var keyword: pdb_keyword {
        switch self {
        case .other: PDB_KEYWORD_OTHER
        case .read: PDB_KEYWORD_READ
        case .insert: PDB_KEYWORD_INSERT
        case .change: PDB_KEYWORD_CHANGE
        case .control: PDB_KEYWORD_CONTROL
        case .files: PDB_KEYWORD_FILES
        case .forbidden: PDB_KEYWORD_FORBIDDEN
        case .memory: PDB_KEYWORD_MEMORY
        case .functions: PDB_KEYWORD_FUNCTIONS
        case .unenforced: PDB_KEYWORD_UNENFORCED
        case .empty: PDB_KEYWORD_EMPTY
        }
    }
}
