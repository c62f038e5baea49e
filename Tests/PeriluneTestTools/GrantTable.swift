package import Foundation

/// A table of the Sandbox article that shows which grants include which capabilities.
package struct GrantTable {
    /// The headings of the columns, without backticks.
    package let grants: [String]
    /// The rows: a capability, and for each grant whether it includes the capability.
    package let rows: [(capability: String, isGiven: [Bool])]

    /// Reads the table whose first grant has a name.
    package init?(firstGrant: String) {
        let article = URL(filePath: #filePath).appending(path: "../../../Sources/Perilune/Perilune.docc/Sandbox.md")
            .standardizedFileURL
        guard let text = try? String(contentsOf: article, encoding: .utf8) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let head = lines.firstIndex(where: { $0.hasPrefix("| capability | \(firstGrant) |") }) else { return nil }
        grants = Self.cells(lines[head]).dropFirst().map { $0.replacing("`", with: "") }
        rows = lines[(head + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            let cells = Self.cells(line)
            return (cells[0], cells.dropFirst().map { $0 == "yes" })
        }
    }

    private static func cells(_ line: String) -> [String] {
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Lua code that uses each capability, and raises an error if it is missing.
    private static let uses: [String: String] = [
        "read a file": "assert(io.open(folder .. '/script.lua')):close()",
        "write a file": "assert(io.open(folder .. '/new.txt', 'w')):close()",
        "remove or rename a file":
            "assert(os.rename(folder .. '/old.txt', folder .. '/moved.txt')) assert(os.remove(folder .. '/moved.txt'))",
        "run a program with `io.popen`": "local p = assert(io.popen('echo x')) assert(p:read('a') == 'x\\n') p:close()",
        "run a program with `os.execute`": "assert(os.execute('true'))",
        "read an environment variable": "assert(os.getenv('PATH'))",
        "run a file of Lua": "assert(dofile(folder .. '/script.lua') == 7)",
        "load a native module": "assert(package.loadlib(library, 'luaopen_libPeriluneTestExtension'))",
        "load bytecode": "assert(load(string.dump(function() end)))",
        "see the registry": "assert(debug.getregistry())",
        "open another database file": "perilune.queue(folder .. '/other.sqlite'):close()",
        "attach a database file": """
        db:write_without_transaction(function(db)
          db:execute("ATTACH ? AS other", folder .. '/other.sqlite')
          db:execute("DETACH other")
        end)
        """,
    ]

    /// Returns a script that returns whether it has a capability; `nil` for an unknown capability.
    ///
    /// - Parameter folder: A folder with the files of ``prepare(_:)``.
    package static func script(using capability: String, in folder: String) -> String? {
        uses[capability].map { use in
            "local folder, library = '\(folder)', '\(NativeLibrary.path)'\nreturn (pcall(function()\n\(use)\nend))"
        }
    }

    /// Writes the files that scripts use.
    package static func prepare(_ folder: String) throws {
        try Data("return 7".utf8).write(to: URL(filePath: folder + "/script.lua"))
        try Data().write(to: URL(filePath: folder + "/old.txt"))
    }
}
