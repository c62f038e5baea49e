import Foundation
import PeriluneTestTools
import Testing

/// Scripts that load native modules.
@Suite(.patience, .startsPrograms) struct NativeModuleTests {
    private static let load =
        "package.cpath = '\((NativeLibrary.path as NSString).deletingLastPathComponent)/?.so' "
        + "local native = require 'libPeriluneTestExtension' "

    @Test func `an error object in the callback of a native module keeps its message`() throws {
        let result = try TestFolder().perilune(
            "run", "-e",
            Self.load + """
                print(native.message(function() db:execute("SELEC 1") end))
                print(native.message(function() perilune.date("x") end))
                print(native.message(function() db:write(function() db:execute("SELEC 2") end) end))
                print(native.message(function() print(pcall(db.execute, db, "SELEC 3")) end))
                print(native.message(function()
                  local _, e = pcall(db.execute, db, "SELEC 4")
                  print(type(e), e.kind)
                end))
                print(select(2, pcall(db.execute, db, "SELEC 5")).kind)
                """)
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        try #require(result.status == 0 && lines.count == 9, "\(result)")
        #expect(lines.first?.contains("near \"SELEC\": syntax error") == true)
        #expect(lines[1].contains("\"x\""))
        #expect(lines[2].contains("syntax error"))
        #expect(lines[3].hasPrefix("false\t") && lines[4] == "")
        #expect(lines[5] == "userdata\tsql" && lines[6] == "" && lines[7] == "sql")
    }

    @Test func `a preview refuses a native module, names the option that allows it, and notes allowed ones`() throws {
        let folder = try TestFolder()
        let refused = try folder.perilune("run", "--preview", "-e", Self.load)
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains(
                "require: module `libPeriluneTestExtension` is native code (\(NativeLibrary.path)), which a preview cannot load"))
        #expect(refused.errors.contains("help  use --allow-effects to perform it"))
        let allowed = try folder.perilune("run", "--preview", "--allow-effects", "-e", Self.load + "native.write('written.txt')")
        #expect(allowed.status == 0 && folder.exists("written.txt"))
        #expect(
            allowed.output.contains(
                "warning: native modules were loaded (\(NativeLibrary.path)); what they change themselves is done"))
    }

    @Test func `the error for a native module in a scenario names the required grant`() throws {
        let load = "require 'libPeriluneTestExtension'"
        let folder = try TestFolder([
            "script.lua": load,
            "a_scenarios.lua": """
            scenario("itself", function() \(load) end)
            scenario("granted", { grants = "native" }, function(t) t.run("script.lua") end)
            scenario("other", function() require "lsqlite3complete" end)
            """,
        ])
        let path = (NativeLibrary.path as NSString).deletingLastPathComponent
        let result = try folder.shell("LUA_CPATH='\(path)/?.so' $PERILUNE test a_scenarios.lua")
        #expect(result.output.contains("1 passed, 2 failed"), "\(result)")
        #expect(
            result.output.contains(
                "is native code (\(NativeLibrary.path)), which a scenario file cannot load; a script can, with t.run"),
            "\(result)")
    }

    @Test func `a script without a database has no global variable db`() throws {
        let folder = try TestFolder(["perilune.toml": "database = \"x.sqlite\""])
        let result = try folder.perilune("run", "--no-database", "-e", "db = db or 'its own' print(db)")
        #expect(result.output == "its own\n" && !folder.exists("x.sqlite"), "\(result)")
        let sandboxed = try folder.perilune("run", "--sandbox", "--no-database", "-e", "print(db, perilune.now ~= nil)")
        #expect(sandboxed.output == "nil\ttrue\n", "\(sandboxed)")
        for option in [["--database", "x.sqlite"], ["--preview"], ["--readonly"]] {
            #expect(
                try CommandProcess(TestFolder.binary, ["run", "--no-database"] + option + ["-e", ""], in: folder).wait().status
                    == 64)
        }
    }

    @Test func `a method name of another SQL library is refused with the name of the replacement`() throws {
        let result = try TestFolder().perilune(
            "run", "-e",
            """
            for _, name in ipairs{ "exec", "nrows", "urows", "last_insert_rowid", "commit", "errmsg" } do
              local _, e = pcall(function() return db[name](db, "SELECT 1") end)
              print(e.kind, e.message)
            end
            print(pcall(function() return db:fetch_al() end))
            """)
        let lines = result.output.split(separator: "\n")
        #expect(
            lines.first
                == "unknown_method\tno method `exec`; use db:execute(sql, ...), or db:rows(sql, ...) to iterate over rows",
            "\(result)")
        #expect(lines.last?.contains("did you mean `fetch_all`?") == true)
    }
}
