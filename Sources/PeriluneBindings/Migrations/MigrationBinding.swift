internal import CPeriluneRows
internal import GRDB
internal import Logging
package import PeriluneLua
package import PeriluneRecords

/// The native functions of the Lua module for migrations: `perilune.native.migrations`.
struct MigrationBinding {
    /// Whether scripts may read migration folders and run SQL that accesses files.
    let allowsFiles: Bool
    /// The logger that records when a database is erased.
    let logger: Logger

    func install(in loader: LibraryLoader) {
        loader.provide(native: "migrations", makeFunctions)
    }

    private func makeFunctions(in state: LuaState) throws -> LuaTable {
        let functions = try state.makeTable()
        try functions.setFunction("make") { arguments in
            try ScriptMigrator(allowsFiles: allowsFiles, logger: logger).makeFunctions(in: arguments.state)
        }
        try functions.setFunction("folder") { arguments in [.table(try readFolder(arguments))] }
        try functions.setFunction("load", Self.load)
        return functions
    }

    /// Returns the files of a folder in order. Each file is a table with the fields name, path, is_sql, text, checksum, and down if
    /// the migration can be undone.
    private func readFolder(_ arguments: LuaArguments) throws -> LuaTable {
        let path: String = try arguments.get(1)
        guard allowsFiles else {
            throw BindingError("sandbox", "this script may not read files, such as the migrations in \(path)")
        }
        let list = try arguments.state.makeTable()
        for (index, file) in try MigrationFolder(path).files.enumerated() {
            let entry = try arguments.state.makeTable()
            try entry.set("name", .string(LuaString(file.name)))
            try entry.set("path", .string(LuaString(file.path)))
            try entry.set("is_sql", .boolean(file.isSQL))
            let text = try file.read()
            try entry.set("text", .string(LuaString(text)))
            try entry.set("checksum", .string(LuaString(MigrationChecksums.checksum(of: text))))
            if let down = try file.readDown() { try entry.set("down", .string(LuaString(down))) }
            try list.rawSet(.integer(Int64(index + 1)), .table(entry))
        }
        return list
    }

    /// Runs the text of a Lua file with an argument. The file must return the migration, and cannot use databases while it is loading.
    private static func load(_ arguments: LuaArguments) throws -> [LuaValue] {
        let state = try arguments.state
        let chunk = try state.load(arguments.get(1, as: LuaString.self), named: arguments.get(2))
        let argument = arguments[3]
        return try state.withUnsafeStack { L, _ in
            let outer = pdb_enter_place(L, PDB_IN_MIGRATION_FILE)
            defer { _ = pdb_enter_place(L, outer) }
            return try chunk.call([argument])
        }
    }
}

extension MigrationFolderError: LuaErrorDescribing {
    package var luaKind: String {
        switch kind {
        case .unreadable: "cannot_open"
        case .mistake: "argument"
        }
    }
    package var luaMessage: String { message }
    package var luaFields: [String: ScriptValue] { ["path": .string(path)] }
}
