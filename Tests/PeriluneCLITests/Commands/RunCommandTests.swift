import Foundation
import PeriluneTestTools
import Testing

@testable import Perilune
@testable import PeriluneCLI

@Suite(.patience, .startsPrograms) struct RunCommandTests {
    @Test func `a file runs with a database in memory`() throws {
        let folder = try TestFolder([
            "a.lua": """
            db:execute("CREATE TABLE t (a)")
            db:execute("INSERT INTO t VALUES (?)", 42)
            print(db:fetch_value("SELECT a FROM t"))
            """
        ])
        let result = try folder.perilune("run", "a.lua")
        #expect((result.status, result.output, result.errors) == (0, "42\n", ""))
    }

    @Test func `a script from standard input runs`() throws {
        let result = try TestFolder().perilune("run", "-", "x", input: "print('in', ...)\n")
        #expect((result.status, result.output, result.errors) == (0, "in\tx\n", ""))
    }

    @Test func `code from options runs in order in one Lua state, before the file`() throws {
        let folder = try TestFolder(["a.lua": "print(x + y, arg[0], ...)"])
        let result = try folder.perilune("run", "-e", "x = 1", "-e", "y = 2", "a.lua", "-e", "z")
        #expect((result.status, result.output, result.errors) == (0, "3\ta.lua\t-e\tz\n", ""))
    }

    @Test(arguments: ["6 * 7", "return 6 * 7", "local a = 6 return a * 7", "local function f() return 42 end return f()"])
    func `code from options shows the values that it returns`(_ code: String) throws {
        let folder = try TestFolder(["a.lua": "print(_) return 1"])
        let result = try folder.perilune("run", "-e", code)
        #expect((result.status, result.output, result.errors) == (0, "42\n", ""))
        let mixed = try folder.perilune("run", "-e", code, "a.lua")
        #expect((mixed.status, mixed.output, mixed.errors) == (0, "42\nnil\n", ""))
    }

    @Test(arguments: [
        ("io.write('a\\n')", "a\n"), ("io.stdout:write('a\\n'), 42", "a\n42\n"), ("perilune.after(0, print, 'a')", "a\n"),
        ("perilune.spawn(print, 'a')", "a\n"), ("db:execute('CREATE TABLE t (a)')", ""),
    ])
    func `handles and outcomes of statements that the code of -e returns are not printed`(code: String, output: String) throws {
        let result = try TestFolder().perilune("run", "-e", code)
        #expect((result.status, result.output, result.errors) == (0, output, ""))
    }

    @Test(arguments: [
        ("return function(db) error('x') end", true), ("#!x\n-- A schema.\n\n--\nreturn function (db) end\n", true),
        ("return {\n  up = function(db) end,\n}", true), ("local function f() end return f", false), ("return functional", false),
        ("return { upper = 1 }", false), ("--[[\nreturn function() end\n]] print()", false), ("print() return 1", false),
    ])
    func `a migration that is run as a script is noted, because nothing calls its functions`(text: String, isNoted: Bool) throws {
        let folder = try TestFolder(["s.lua": text])
        let result = try folder.perilune("run", "s.lua")
        let note =
            "s.lua only returns functions, which were not called; `perilune migrate FOLDER` runs the migrations of a folder\n"
        #expect((result.status, result.errors) == (0, isNoted ? note : ""))
    }

    @Test func `arguments reach the script unchanged`() throws {
        let folder = try TestFolder(["a.lua": "for i, a in ipairs(arg) do print(i, a) end"])
        let result = try folder.perilune("run", "a.lua", "--", "--frob", "-v", "--", "--database", "", "é")
        #expect(result.output == "1\t--frob\n2\t-v\n3\t--\n4\t--database\n5\t\n6\té\n")
    }

    @Test func `options may follow the file directly`() throws {
        let folder = try TestFolder(["a.lua": "db:execute('CREATE TABLE IF NOT EXISTS t (a)') print(...)"])
        let result = try folder.perilune("run", "a.lua", "--database", "x.sqlite", "y", "-v")
        #expect((result.status, result.output, result.errors) == (0, "y\t-v\n", "created the database x.sqlite\n"))
        #expect(folder.exists("x.sqlite"))
    }

    @Test(arguments: [
        (
            ["--databse", "x.sqlite"],
            "Unknown option '--databse'. Did you mean '--database'? Options of the script come after '--'"
        ),
        (["--prevew", "2026-03"], "Unknown option '--prevew'. Did you mean '--preview'? Options of the script come after '--'"),
        (["--readonly", "--db=x.sqlite"], "Unknown option '--db'. Use '--database'. Options of the script come after '--'"),
        (["--month", "3"], "Unknown option '--month'. Options of the script come after '--'"),
        (["--database"], "Missing value for '--database <path>'"),
    ])
    func `an unknown option directly after the file is refused, and the script does not run`(
        options: [String], message: String
    ) throws {
        let folder = try TestFolder(["a.lua": "print('never')"])
        for command in ["run", "watch"] {
            let result = try CommandProcess(TestFolder.binary, [command, "a.lua"] + options, in: folder).wait()
            #expect((result.status, result.output) == (64, ""))
            #expect(result.errors.hasPrefix("error: \(message)\n"), "\(result.errors)")
            #expect(result.errors.contains("\nUsage: perilune \(command)"), "\(result.errors)")
        }
        let passed = try CommandProcess(TestFolder.binary, ["run", "a.lua", "--"] + options, in: folder).wait()
        #expect((passed.status, passed.output, passed.errors) == (0, "never\n", ""))
    }

    @Test func `an option of run after an argument of the script is refused, and the script does not run`() throws {
        let folder = try TestFolder(["a.lua": "print(...)"])
        func refusal(_ command: String, _ arguments: String...) throws -> String {
            let result = try CommandProcess(TestFolder.binary, [command] + arguments, in: folder).wait()
            #expect((result.status, result.output) == (64, ""))
            return result.errors
        }
        for name in RunArguments.valued.union(RunArguments.flags) {
            #expect(
                try refusal("run", "a.lua", "3", "x", name, "1") == """
                    error: \(name) comes after the script's argument 3, so `perilune run` would pass it to the script
                      help  put it before a.lua; or, if it is meant for the script, put `--` after a.lua

                    """)
        }
        #expect(
            try refusal("watch", "--readonly", "a.lua", "3", "--save", "x.plan", "--database=x", "--database=y") == """
                error: --save and --database come after the script's argument 3, so `perilune watch` would pass them to the script
                  help  put them before a.lua; or, if they are meant for the script, put `--` after a.lua

                """)
        for (name, meant) in [
            ("--databse", "--database"), ("--prevew", "--preview"), ("--timout", "--timeout"), ("--db", "--database"),
            ("--dry-run", "--preview"), ("--read-only", "--readonly"),
        ] {
            #expect(
                try refusal("run", "a.lua", "3", name) == """
                    error: \(name) comes after the script's argument 3, so `perilune run` would pass it to the script
                      help  did you mean `\(meant)`? put it before a.lua; or, if it is meant for the script, put `--` after a.lua

                    """)
        }
    }

    @Test(arguments: [
        (["a.lua", "--", "3", "--database", "x.sqlite"], "3\t--database\tx.sqlite\n"),
        (["--", "a.lua", "3", "--preview"], "3\t--preview\n"),
        (["a.lua", "3", "--", "--preview"], "3\t--\t--preview\n"),
        (["a.lua", "--database", ":memory:", "3", "--month", "2", "--batch", "9", "-v"], "3\t--month\t2\t--batch\t9\t-v\n"),
    ])
    func `options after -- and options of the script's own are passed to the script`(
        arguments: [String], output: String
    ) throws {
        let folder = try TestFolder(["a.lua": "print(...)"])
        let result = try CommandProcess(TestFolder.binary, ["run"] + arguments, in: folder).wait()
        #expect((result.status, result.output, result.errors) == (0, output, ""))
    }

    @Test func `a script with a shebang line keeps its line numbers`() throws {
        let folder = try TestFolder(["a.lua": "#!/usr/bin/env -S perilune run\nerror('here')\n"])
        let result = try folder.perilune("run", "a.lua")
        #expect(result.status == 1)
        #expect(result.errors == "error: here\n  at a.lua:2\n  2 | error('here')\n")
    }

    @Test func `an executable script runs by its name`() throws {
        let folder = try TestFolder(["a.lua": "#!/usr/bin/env -S perilune run --\nprint(...)\n"])
        // The script is copied, because processes that other tests have just forked may still hold the original open for writing.
        let result = try folder.shell(
            """
            mkdir bin && ln -s "$PERILUNE" bin/perilune && cp a.lua b.lua && chmod +x b.lua && \
            PATH="$PWD/bin:$PATH" ./b.lua x --timeout 3 -y
            """)
        #expect((result.status, result.output, result.errors) == (0, "x\t--timeout\t3\t-y\n", ""))
    }

    @Test func `modules are found next to the script`() throws {
        let folder = try TestFolder([
            "s/a.lua": "print(require('m').x, require('p.q'))", "s/m.lua": "return { x = 1 }", "s/p/q.lua": "return 2",
        ])
        #expect(try folder.perilune("run", "s/a.lua").output.hasPrefix("1\t2"))
    }

    @Test func `an error in a module shows the line of the module`() throws {
        let folder = try TestFolder(["s/a.lua": "require('m')()", "s/m.lua": "return function()\n  error('deep')\nend"])
        let result = try folder.perilune("run", "s/a.lua")
        #expect(result.errors.hasPrefix("error: deep\n  at s/m.lua:2\n  2 |   error('deep')\n  trace "))
        #expect(result.errors.hasSuffix(" < main (s/a.lua:1)\n"))
    }

    // MARK: - Errors

    @Test func `a script that fails before it writes leaves no new database`() throws {
        let folder = try TestFolder()
        for code in ["CREATE TABLE x(a)", "db:execute('CREATE nonsense')"] {
            let result = try folder.perilune("run", "--database", "new.sqlite", "-e", code)
            #expect(result.status != 0)
            #expect(
                result.errors.hasPrefix("created the database new.sqlite\nremoved new.sqlite, which is empty\nerror: "),
                "\(result.errors)")
            #expect(!folder.exists("new.sqlite") && !folder.exists("new.sqlite-wal"))
        }
        let kept = try folder.perilune(
            "run", "--database", "new.sqlite", "-e", "db:execute('CREATE TABLE t (a)') error('late')")
        #expect(kept.status == 1 && folder.exists("new.sqlite") && !kept.errors.contains("removed"), "\(kept.errors)")
        let again = try folder.perilune("run", "--database", "new.sqlite", "-e", "error('x')")
        #expect(again.status == 1 && folder.exists("new.sqlite"))
    }

    @Test func `SQL in place of Lua, and the path of a file of SQL, are recognized`() throws {
        let folder = try TestFolder(["q.sql": "SELECT 1;\n"])
        for code in ["CREATE TABLE x(a)", "select 1", " INSERT INTO t VALUES (1)"] {
            let result = try folder.perilune("run", "-e", code)
            #expect(result.status == 65)
            #expect(
                result.errors.hasSuffix("  help  this is SQL; use `perilune query [--write] SQL`, or in Lua db:execute[[SQL]]\n"),
                "\(result.errors)")
        }
        #expect(try !folder.perilune("run", "-e", "local t = {").errors.contains("this is SQL"))
        #expect(
            try folder.perilune("run", "q.sql").errors.hasSuffix(
                "  help  run expects Lua; use `perilune console < q.sql` for statements, `perilune restore q.sql` for a dump\n"))
        for path in ["q.sql", "@q.sql"] {
            let result = try folder.perilune("query", path)
            #expect(result.status == 64)
            #expect(
                result.errors == """
                    error: expected a statement, got the path of a file
                      help  use `perilune query - < q.sql`, or for several statements `perilune console < q.sql`

                    """)
        }
    }

    @Test func `an SQLite error is reported with its location, SQL and suggestions`() throws {
        let folder = try TestFolder([
            "close.lua": """
            db:execute("CREATE TABLE invoice (id INTEGER PRIMARY KEY, total_cents INTEGER, paid BOOLEAN)")
            local function close_month()
              local due = db:fetch_all("select totl_cents from invoice where paid = ?", false)
              return due
            end
            print("before")
            close_month()
            """
        ])
        let result = try folder.perilune("run", "close.lua")
        #expect(result.status == 1)
        #expect(result.output == "before\n")
        #expect(
            result.errors == """
                error: no such column: totl_cents
                  at close.lua:3
                  3 |   local due = db:fetch_all("select totl_cents from invoice where paid = ?", false)
                  SQL   select totl_cents from invoice where paid = ?
                               ^
                  help  did you mean `total_cents`?  invoice has: id, total_cents, paid
                  trace close_month (close.lua:3) < main (close.lua:7)

                """)
    }

    @Test func `an unknown method is reported with the nearest name`() throws {
        let result = try TestFolder().perilune("run", "-e", "db:fetch_al('SELECT 1')")
        #expect(result.errors.hasPrefix("error: no method `fetch_al`; did you mean `fetch_all`? Available: "))
        #expect(
            try TestFolder().perilune("run", "-e", "perilune.quue()").errors.hasPrefix(
                "error: no member `quue`; did you mean `queue`?"))
        #expect(ScriptNames.suggestion(for: "attempt to call a nil value (global 'quue')") == nil)
        #expect(ScriptNames.suggestion(for: "attempt to call a nil value (field 'quue')", in: "other.quue()") == nil)
        #expect(ScriptNames.suggestion(for: "attempt to call a nil value (method 'paint')") == nil)
        #expect(ScriptNames.suggestion(for: "attempt to call a nil value (global 'scenaro')") == "scenario")
        #expect(ScriptNames.suggestion(for: "attempt to index a nil value (global 'perlune')") == "perilune")
        #expect(ScriptNames.suggestion(for: "attempt to call a nil value (global 'it')") == nil)
        #expect(ScriptNames.help(for: "attempt to call a nil value (global 'it')")?.contains("scenario(name") == true)
        #expect(ScriptNames.help(for: "module 'lsqlite3' not found:\n\tno field")?.contains("`db`") == true)
        let hook = ScriptNames.help(for: "attempt to call a boolean value (method 'will_save')")
        #expect(hook?.contains("function Class:will_save(") == true)
        #expect(ScriptNames.help(for: "attempt to call a boolean value (method 'is_paid')") == nil)
        #expect(ScriptNames.help(for: "attempt to call a nil value (method 'length')")?.contains("#list") == true)
        #expect(ScriptNames.help(for: "attempt to index a nil value (global 'arg')")?.contains("os.getenv") == true)
        #expect(ScriptNames.help(for: "attempt to index a nil value (global 'json')") == "use perilune.json")
        #expect(ScriptNames.help(for: "attempt to call a nil value (method 'split')")?.contains("text:gmatch") == true)
        #expect(ScriptNames.help(for: "near \":ids\": syntax error")?.contains("json_each") == true)
        #expect(ScriptNames.help(for: "near \"%\": syntax error")?.contains("use ? or :name") == true)
        #expect(ScriptNames.help(for: "bad argument #2 to 'date' (number expected, got date)")?.contains("date:format") == true)
        #expect(ScriptNames.help(for: "'then' expected near '!'")?.contains("`~=`") == true)
        #expect(ScriptNames.help(for: "syntax error near '+'")?.contains("name = name + 1") == true)
        #expect(ScriptNames.help(for: "')' expected near '?'")?.contains("condition and first or second") == true)
        #expect(ScriptNames.help(for: "syntax error near 'end'") == nil)
        #expect(ScriptNames.help(for: "attempt to index a nil value (field 'integer index')")?.contains("list[1]") == true)
        #expect(ScriptNames.help(for: "attempt to index a nil value (field 'author')") == nil)
        #expect(ScriptNames.help(for: "attempt to index a string value (field 'data')")?.contains("types = { column") == true)
        #expect(ScriptNames.help(for: "invalid value (table) at index 1 in table for 'concat'")?.contains("fetch_values") == true)
        #expect(ScriptNames.help(for: "no such column: author.name")?.contains("joining_required") == true)
        #expect(ScriptNames.help(for: "no such column: name")?.contains("joining_required") != true)
        #expect(ScriptNames.help(for: "attempt to call a nil value (global 'setTimeout')") == "use perilune.after(delay, f)")
        #expect(ScriptNames.help(for: "attempt to call a nil value (global 'xscenario')")?.contains("scenario.skip") == true)
        #expect(ScriptNames.help(for: "module 'pl.List' not found:")?.contains("loops") == true)
        #expect(ScriptNames.replacement(forMember: "map", of: "table")?.contains("ipairs(list)") == true)
        #expect(ScriptNames.replacement(forMember: "insert", of: "table") == nil)
        #expect(ScriptNames.help(for: "no such function: NOW")?.contains("CURRENT_TIMESTAMP") == true)
        #expect(ScriptNames.help(for: "near \"ILIKE\": syntax error")?.contains("LIKE") == true)
        #expect(ScriptNames.help(for: "no such function: REGEXP")?.contains("add_function") == true)
        #expect(ScriptNames.help(for: "no such function: regexp")?.contains("add_function") == true)
        #expect(ScriptNames.help(for: "no such function: date_format")?.contains("strftime") == true)
        #expect(ScriptNames.help(for: "misuse of aliased window function place")?.contains("filter(expression:le(2))") == true)
        #expect(ScriptNames.help(for: "attempt to index a number value")?.contains("86400") == true)
        #expect(ScriptNames.help(for: "attempt to sub a 'string' with a 'string'")?.contains("perilune.date(first)") == true)
        #expect(ScriptNames.help(for: "attempt to call a nil value (method 'map')")?.contains("ipairs(list)") == true)
        #expect(ScriptNames.help(for: "attempt to call a nil value (method 'paint')") == nil)
        #expect(ScriptNames.help(for: "attempt to index a nil value (global 'ngx')")?.contains("perilune.after") == true)
        #expect(ScriptNames.help(for: "attempt to call a string value (method 'save')")?.contains("Class.save(record") == true)
        #expect(ScriptNames.help(for: "attempt to call a string value (method 'paint')") == nil)
        let iterated = try TestFolder().perilune("run", "-e", "for row in db:fetch_all('SELECT 1') do print(row) end")
        #expect(
            iterated.errors.contains("help  a list is not an iterator; use `for _, row in ipairs(list) do`"), "\(iterated.errors)"
        )
    }

    @Test func `the second variable of a loop over rows is explained`() throws {
        let folder = try TestFolder([
            "rows.lua": "for _, row in db:rows('SELECT 1 AS x') do\n  print(row.x)\nend",
            "pairs.lua": "for _, row in pairs({ a = false }) do\n  local row = nil\n  print(row.x)\nend",
        ])
        let help = "help  rows() returns one value per step; use `for row in source:rows() do`\n"
        let rows = try folder.perilune("run", "rows.lua"), pairs = try folder.perilune("run", "pairs.lua")
        #expect(rows.errors.contains(help), "\(rows.errors)")
        #expect(!pairs.errors.contains("rows()"), "\(pairs.errors)")
    }

    @Test func `a missing module is reported with the nearest name, or with its replacement`() throws {
        let folder = try TestFolder([
            "s/a.lua": "require(...)", "s/util.lua": "return 1", "s/shop/prices.lua": "return 1", "s/mail/init.lua": "return 1",
        ])
        for (name, help) in [
            ("utill", "did you mean `util`?"), ("shop.price", "did you mean `shop.prices`?"), ("mial", "did you mean `mail`?"),
            ("csv", "use the command `perilune import FILE --table NAME`, and `perilune query --format csv` for output"),
            ("argparse", "use the global `arg`, or `...`"),
            (
                "lsqlite3",
                "use the global `db`, or perilune.queue(path); once the module is installed, its programs run with "
                    + "`perilune run --no-database`"
            ),
        ] {
            let errors = try folder.perilune("run", "s/a.lua", name).errors
            #expect(errors.contains("\n  help  \(help)\n"), "\(errors)")
        }
        #expect(try !folder.perilune("run", "s/a.lua", "../s/utill").errors.contains("did you mean"))
    }

    @Test func `an error about a missing module explains where modules are searched`() throws {
        let folder = try TestFolder(["s/a.lua": "require(...)", "a.lua": "require(...)"])
        let paths = "and in the paths of LUA_PATH, as in LUA_PATH='lib/?.lua;;'"
        for (first, second, place) in [
            ("s/a.lua", "zzz", "`s`, the folder of the script,"), ("s/a.lua", "../zzz", "`s`, the folder of the script,"),
            ("a.lua", "zzz", "the current folder"), ("-e", "require('zzz')", "the current folder"),
        ] {
            let errors = try folder.perilune("run", first, second).errors
            #expect(errors.contains("\n  help  modules are searched in \(place) \(paths)\n"), "\(errors)")
        }
        #expect(try !folder.perilune("run", "--sandbox", "s/a.lua", "zzz").errors.contains("LUA_PATH"))
        let unknown = try folder.perilune("run", "--modules", "s", "a.lua").errors
        let sentence = "Unknown option '--modules'. Modules are searched in the folder of the script \(paths)"
        #expect(unknown.contains(sentence), "\(unknown)")
    }

    @Test func `an error about a missing table mentions that the database is in memory`() throws {
        let result = try TestFolder().perilune("run", "-e", "print(perilune.record('artist'):fetch_count())")
        #expect(
            result.errors.contains("help  the database is empty and in memory; use --database PATH to open a file\n"),
            "\(result.errors)")
    }

    @Test func `an error about a column that hides a row method shows how to call the method`() throws {
        let script = "local row = db:fetch_one(\"SELECT '2026-03-01' AS date\")"
        let hidden = try TestFolder().perilune("run", "-e", "\(script) print(row:date('date'))")
        #expect(
            hidden.errors.contains("help  a column `date` of a row hides the method; use perilune.row.date(row, ...)\n"),
            "\(hidden.errors)")
        let reached = try TestFolder().perilune(
            "run", "-e", "\(script) print(perilune.row.date(row, 'date').year, row:get('date', 'date').year)")
        #expect(reached.output == "2026\t2026\n")
    }

    @Test func `a file that dofile cannot open is reported with the line of the call`() throws {
        let folder = try TestFolder(["a.lua": "print(1)\ndofile(\"missing.lua\")\n"])
        let result = try folder.perilune("run", "a.lua")
        #expect(result.errors.hasPrefix("error: cannot open missing.lua"), "\(result.errors)")
        #expect(result.errors.contains("\n  at a.lua:2\n"), "\(result.errors)")
    }

    @Test func `an error in a coroutine is reported with the line in the coroutine`() throws {
        let folder = try TestFolder(["a.lua": "local f = coroutine.wrap(function()\n  error('inside')\nend)\nf()\n"])
        let result = try folder.perilune("run", "a.lua")
        #expect(result.errors.hasPrefix("error: inside\n  at a.lua:2\n  2 |   error('inside')\n"))
    }

    @Test func `errors can be printed as JSON`() throws {
        let result = try TestFolder().perilune("run", "--error-format", "json", "-e", "db:execute('SELEC 1')")
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix(#"{"kind":"sql","code":1,"message":"near \"SELEC\": syntax error","#))
        #expect(result.errors.contains(#""sql":"SELEC 1","sql_offset":0"#))
        #expect(result.errors.hasSuffix("}\n") && result.errors.count { $0 == "\n" } == 1)
    }

    @Test func `a syntax error ends with the exit status for bad data`() throws {
        let result = try TestFolder(["a.lua": "print('never')\nlocal = 1\n"]).perilune("run", "a.lua")
        #expect((result.status, result.output) == (65, ""))
        #expect(result.errors == "error: <name> expected near '='\n  at a.lua:2\n  2 | local = 1\n")
    }

    @Test func `an uncaught table shows its message or its fields`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "-e", "error{ message = 'said' }").errors.hasPrefix("error: said\n"))
        let result = try folder.perilune("run", "-e", "error{ code = 3, name = 'x' }")
        #expect(result.errors.contains(#"{ code = 3, name = "x" }"#))
        #expect(result.errors.contains("at (command line):1"))
    }

    @Test(arguments: [
        "error()", "error(nil)", "error(true)", "error(print)", "error(setmetatable({}, { __tostring = error }))",
    ])
    func `any uncaught value is reported`(code: String) throws {
        let result = try TestFolder().perilune("run", "-e", code)
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("error: "))
    }

    @Test func `colors are used on request`() throws {
        let folder = try TestFolder()
        #expect(
            try folder.perilune("run", "--color", "always", "-e", "error('x')").errors.hasPrefix("\u{1B}[1;31merror:"))
        #expect(
            try folder.perilune("run", "-e", "error('x')", environment: ["FORCE_COLOR": "1"]).errors.hasPrefix(
                "\u{1B}["))
        #expect(
            try folder.perilune("run", "-e", "error('x')", environment: ["FORCE_COLOR": "1", "NO_COLOR": "1"]).errors
                .hasPrefix("error:"))
    }

    @Test func `output before an error is not lost`() throws {
        let result = try TestFolder().shell("$PERILUNE run -e 'io.write(\"a\") error(\"b\")' 2>&1")
        #expect(result.output.hasPrefix("aerror: b\n"))
    }

    @Test func `a missing script ends with the exit status for missing input`() throws {
        let result = try TestFolder().perilune("run", "none.lua")
        #expect((result.status, result.output) == (74, ""))
        #expect(result.errors == "error: cannot read none.lua: No such file or directory\n")
    }

    @Test func `arguments for the code of -e need a file before them`() throws {
        let folder = try TestFolder()
        let missing = try folder.perilune("run", "-e", "print(...)", "a", "b")
        #expect(missing.status == 74)
        #expect(
            missing.errors == """
                error: cannot read a: No such file or directory
                  help  the first argument after -e CODE is FILE; with /dev/null as FILE, only the code runs, with the other arguments

                """)
        #expect(try folder.perilune("run", "-e", "print(...)", "/dev/null", "a", "b").output == "a\tb\n")
    }

    @Test func `an unknown option is named even if an argument is missing`() throws {
        let folder = try TestFolder()
        for (arguments, message) in [
            (["query", "--nosuch"], "Unknown option '--nosuch'\nUsage: perilune query"),
            (["query", "--csv"], "Unknown option '--csv'. Use '--format csv'\nUsage: perilune query"),
            (["import", "--no-header", "--ignore", "x.csv"], "Unknown option '--ignore'. Use '--errors FILE'\n"),
            (["query", "--format", "csv"], "Missing expected argument '<sql>'\n"),
            (["import", "x.csv", "--header"], "Missing expected argument '--table <table>'\n"),
            (["migrate", "new", "--sql"], "Missing expected argument '<name>'\n"),
        ] {
            let result = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
            #expect(result.status == 64 && result.errors.hasPrefix("error: \(message)"), "\(result.errors)")
        }
    }

    @Test func `a folder is refused as a script`() throws {
        #expect(try TestFolder().perilune("run", "/").status == 74)
    }

    @Test(arguments: [("7", 7), ("0", 0), ("true", 0), ("false", 1), ("", 0), ("256", 1), ("-1", 1)])
    func `a script can set the exit status`(argument: String, status: Int32) throws {
        let result = try TestFolder().perilune("run", "-e", "io.write('x') os.exit(\(argument)) print('never')")
        #expect((result.status, result.output, result.errors) == (status, "x", ""))
    }

    @Test func `an error of kind usage in a script is a failure of the script, not a usage error of the command`() throws {
        let folder = try TestFolder([
            "migrations/0001_a.lua": "return function(db) error{ kind = 'usage', message = 'wrong' } end"
        ])
        for code in ["error{ kind = 'usage', message = 'wrong' }", "db:write(function() return 'rollback' end)"] {
            let result = try folder.perilune("run", "--error-format", "json", "-e", code)
            #expect(result.status == 1 && result.errors.contains(#""kind":"usage""#), "\(result.errors)")
        }
        let migrated = try folder.perilune("migrate", "--database", "x.sqlite")
        #expect(migrated.status == 1 && migrated.errors.contains("error: wrong"), "\(migrated.errors)")
    }

    // MARK: - The database

    @Test func `a database file is created, written and read again`() throws {
        let folder = try TestFolder()
        let made = try folder.perilune(
            "run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t AS SELECT 5 AS a')")
        #expect((made.status, made.errors) == (0, "created the database x.sqlite\n"))
        let read = try folder.perilune(
            "run", "--database", "x.sqlite", "-e", "print(db:fetch_value('SELECT a FROM t'))")
        #expect((read.status, read.output) == (0, "5\n"))
    }

    @Test func `a database opened with --readonly must exist and cannot be changed`() throws {
        let folder = try TestFolder()
        _ = try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (a)')")
        let result = try folder.perilune(
            "run", "--readonly", "--database", "x.sqlite", "-e", "db:execute('DROP TABLE t')")
        #expect(result.status == 1)
        #expect(result.errors.contains("help  the database was opened with --readonly\n"))
        let missing = try folder.perilune("run", "--readonly", "--database", "none.sqlite", "-e", "print(1)")
        #expect((missing.status, missing.output) == (74, ""))
        #expect(!folder.exists("none.sqlite"))
    }

    @Test func `a file that is not a database is bad data, and one that cannot be created is an output error`() throws {
        let folder = try TestFolder(["x.sqlite": String(repeating: "no database ", count: 100)])
        let result = try folder.perilune("run", "--database", "x.sqlite", "-e", "print(db:fetch_value('SELECT 1'))")
        #expect((result.status, result.output) == (65, ""))
        #expect(result.errors == "error: cannot open the database x.sqlite: file is not a database\n")
        #expect(try folder.perilune("run", "--database", "none/x.sqlite", "-e", "print(1)").status == 74)
    }

    @Test func `a missing script does not create the database`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "none.lua", "--database", "x.sqlite").status == 74)
        #expect(!folder.exists("x.sqlite"))
    }

    @Test func `a database that another process is writing to is busy`() throws {
        let folder = try TestFolder([
            "hold.lua": """
            db:write(function(db)
              db:execute("CREATE TABLE t (a)")
              print("holding") io.stdout:flush()
              io.read("l")
              while true do os.time() end
            end)
            """
        ])
        let holder = try CommandProcess(
            TestFolder.binary, ["run", "hold.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try holder.readLine() == "holding")
        let result = try folder.perilune(
            "run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE u (a)')")
        holder.interrupt()
        #expect(try holder.wait().status == 130)
        #expect(result.status == 75)
        #expect(result.errors.contains("database is locked"))
        #expect(result.errors.contains("perilune (\(holder.id))"), "\(result.errors)")
    }

    @Test func `a database in a missing folder is not reported as created`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune("run", "--database", "nodir/x.sqlite", "-e", "1")
        #expect(result.status == 74 && !result.errors.contains("created"), "\(result.errors)")
        #expect(result.errors.contains("help  the folder `nodir` does not exist"), "\(result.errors)")
    }

    @Test func `the path of the database is shown on request`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "-v", "-e", "").errors == "database: private, in memory\n")
        #expect(
            try folder.perilune("run", "-v", "--database", "x.sqlite", "-e", "").errors
                == "database: x.sqlite (--database)\ncreated the database x.sqlite\n")
    }

    @Test func `statements are traced on request, without bound values`() throws {
        let result = try TestFolder().perilune(
            "run", "--trace", "-e", "print(db:fetch_value('SELECT ? || 1', 'secret'))")
        #expect(result.output == "secret1\n")
        #expect(result.errors == "sql: SELECT ? || 1\n")
    }

    @Test func `a trace does not show the statements that limits run on a connection`() throws {
        let result = try TestFolder().perilune(
            "run", "--trace", "--timeout", "60", "--memory", "64M", "-e", "db:execute('SELECT 1')")
        #expect(result.errors == "sql: SELECT 1\n")
    }

    // MARK: - Limits

    @Test func `a script that exceeds its time limit is ended`() throws {
        let result = try TestFolder().perilune("run", "--timeout", "2", "-e", "io.write('x') while true do end")
        #expect((result.status, result.output) == (5, "x"))
        #expect(
            result.errors.hasPrefix(
                "error: the script ran longer than its limit of 2.0 seconds\n  at (command line):1\n"))
        #expect(result.errors.contains("help  the limit was set by --timeout\n"))
    }

    @Test func `code that cannot be interrupted is ended with the process`() throws {
        let folder = try TestFolder()
        try #require(mkfifo(folder.path + "/f", 0o600) == 0)
        let result = try folder.perilune("run", "--timeout", "3s", "-e", "print('before') io.open('f') print('after')")
        #expect((result.status, result.output) == (5, "before\n"))
        #expect(
            result.errors
                == "error: the script ran longer than its limit of 3.0 seconds\n  help  the limit was set by --timeout\n")
    }

    @Test func `the end of the process is reported in the requested format`() throws {
        let folder = try TestFolder()
        try #require(mkfifo(folder.path + "/f", 0o600) == 0)
        let result = try folder.perilune("run", "--error-format", "json", "--timeout", "1s", "-e", "io.open('f')")
        #expect(result.status == 5)
        #expect(result.errors.contains(#""kind":"timeout""#))
    }

    @Test func `SQL that exceeds the time limit is ended`() throws {
        let sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"
        let result = try TestFolder().perilune(
            "run", "--timeout", "200ms", "-e", "pcall(db.fetch_value, db, '\(sql)') print(1)")
        #expect((result.status, result.output) == (5, ""))
    }

    @Test func `log messages count as output`() throws {
        let result = try TestFolder().perilune(
            "run", "--sandbox", "--output", "2000", "-e",
            "while true do perilune.log.error(('x'):rep(100), { more = ('y'):rep(50) }) end")
        #expect(result.status == 5)
        #expect(result.errors.contains("perilune.log: the script has written more than its limit of output"))
        #expect((10...13).contains(result.errors.split(separator: "\n").count { $0.contains("xxx") && $0.contains("yyy") }))
    }

    @Test func `a script that exceeds its memory limit is ended`() throws {
        let result = try TestFolder().perilune(
            "run", "--memory", "8M", "-e", "local t = {} while true do t[#t + 1] = {} end")
        #expect(result.status == 5)
        #expect(result.errors.contains("memory"))
        #expect(result.errors.contains("help  the limit was set by --memory\n"))
        let tiny = try TestFolder().perilune("run", "--memory", "64", "-e", "print(1)")
        #expect(tiny.status == 5)
        #expect(tiny.errors.contains("help  --memory is in bytes unless it has a unit, as in 64M\n"), "\(tiny.errors)")
    }

    @Test func `the sandbox removes all access to the outside`() throws {
        let folder = try TestFolder(["m.lua": "return 1"])
        let result = try folder.perilune(
            "run", "--sandbox", "-e", "print(io, os.execute, debug.getinfo, dofile, os.time ~= nil)")
        #expect((result.status, result.output) == (0, "nil\tnil\tnil\tnil\ttrue\n"))
        #expect(try folder.perilune("run", "--sandbox", "-e", "require 'm'").status == 1)
        #expect(
            try folder.perilune("run", "--sandbox", "-e", "io.open('m.lua')").errors.contains(
                "help  --sandbox removes it\n"))
        let attached = try folder.perilune("run", "--sandbox", "-e", "db:execute([[ATTACH 'y.sqlite' AS y]])")
        #expect(attached.status == 1)
        #expect(!folder.exists("y.sqlite"))
        let opened = try folder.perilune("run", "--sandbox", "-e", "perilune.queue('y.sqlite')")
        #expect(opened.status == 1)
        #expect(!folder.exists("y.sqlite"))
    }

    @Test func `the name of a chunk cannot make an error report quote a file`() throws {
        let folder = try TestFolder(["secret.txt": "password\n"])
        let result = try folder.perilune("run", "--sandbox", "-e", "load('error(1)', '@secret.txt')()")
        #expect(result.status == 1)
        #expect(!result.errors.contains("password"))
    }

    // MARK: - Ctrl-C and pipes

    @Test(
        .endsLoopBySignal,
        arguments: [
            "print('ready') io.stdout:flush() while true do end",
            "print('ready') io.stdout:flush() while true do pcall(function() while true do end end) end",
            "print('ready') io.stdout:flush() coroutine.wrap(function() while true do end end)()",
            "print('ready') io.stdout:flush() perilune.sleep(60)",
            """
            print('ready') io.stdout:flush()
            db:fetch_value('WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c')
            """,
        ])
    func `Ctrl-C ends a script`(code: String) throws {
        let folder = try TestFolder()
        let process = try CommandProcess(TestFolder.binary, ["run", "-e", code], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 130)
        #expect(result.errors.hasPrefix("error: interrupted; open transactions were rolled back\n"))
    }

    @Test func `Ctrl-C ends a callback`() throws {
        let folder = try TestFolder()
        let code = "local timer = perilune.after(0, function() print('ready') io.stdout:flush() while true do os.time() end end)"
        let process = try CommandProcess(TestFolder.binary, ["run", "-e", code], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        #expect(try process.wait().status == 130)
    }

    @Test(arguments: [("INT", 130), ("TERM", 0), ("HUP", 0)] as [(String, Int32)])
    func `a signal ends a waiting script without a message`(signal: String, status: Int32) throws {
        let folder = try TestFolder()
        let code = """
            perilune.every(60, print)
            db:observe(function() return 1 end, function() end)
            perilune.after(0.01, function() print("ready") io.stdout:flush() end)
            """
        let process = try CommandProcess(TestFolder.binary, ["run", "-e", code], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.send(signal)
        let result = try process.wait()
        #expect((result.status, result.errors) == (status, ""))
    }

    @Test func `a script runs until it has no timers, tasks or observations left`() throws {
        let folder = try TestFolder([
            "a.lua": """
            local left = 3
            local timer
            timer = perilune.every("5ms", function()
              print("tick")
              left = left - 1
              if left == 0 then timer:cancel() end
            end)
            print("end of script")
            """
        ])
        let result = try folder.perilune("run", "a.lua")
        #expect(result.output == "end of script\ntick\ntick\ntick\n")
        #expect(result.status == 0)
    }

    @Test(arguments: [
        ("perilune.after(0.01, function() error('late') end)", "error: late\n", 1),
        ("perilune.after(0.01, function() error('late') end) perilune.sleep(60)", "error: late\n", 1),
        ("perilune.spawn(function() error('of a task') end) perilune.sleep(60)", "error: of a task\n", 1),
        ("perilune.after(0.01, function() os.exit(7) end) perilune.every(1, print)", "", 7),
    ])
    func `an error in a callback ends the script`(code: String, errors: String, status: Int32) throws {
        let result = try TestFolder().perilune("run", "-e", code)
        #expect(result.errors.hasPrefix(errors))
        #expect(result.status == status)
    }

    @Test func `a script can handle a signal and decide how to end`() throws {
        let folder = try TestFolder()
        let code = """
            local ticks, timer = 0, perilune.every(60, print)
            perilune.on_signal("INT", function(name)
              print("got", name) io.stdout:flush()
              ticks = ticks + 1
              if ticks == 2 then timer:cancel() end
            end)
            print("ready") io.stdout:flush()
            """
        let process = try CommandProcess(TestFolder.binary, ["run", "-e", code], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        #expect(try process.readLine() == "got\tINT")
        process.interrupt()
        let result = try process.wait()
        #expect(result.status == 0)
        #expect(result.errors == "")
    }

    @Test func `an unknown signal is refused`() throws {
        let result = try TestFolder().perilune("run", "-e", "perilune.on_signal('TREM', print)")
        #expect(result.errors.contains("no signal `TREM`; did you mean `TERM`?"))
    }

    @Test func `Ctrl-C rolls back`() throws {
        let folder = try TestFolder([
            "a.lua": """
            db:execute("CREATE TABLE t (a)")
            db:write(function(db)
              db:execute("INSERT INTO t VALUES (1)")
              print("ready") io.stdout:flush()
              while true do os.time() end
            end)
            """
        ])
        let process = try CommandProcess(
            TestFolder.binary, ["run", "a.lua", "--database", "x.sqlite"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.interrupt()
        #expect(try process.wait().status == 130)
        #expect(!folder.exists("x.sqlite-journal"))
        let count = try folder.perilune("query", "--database", "x.sqlite", "SELECT count(*) AS n FROM t")
        #expect(count.output == "{\"n\":0}\n")
    }

    @Test func `a script ends quietly when its reader closes the pipe`() throws {
        let result = try TestFolder().shell("$PERILUNE run -e 'for i = 1, 1e9 do print(i) end' | head -n 2")
        #expect((result.output, result.errors) == ("1\n2\n", ""))
    }

    @Test func `unwritable output is an error`() throws {
        let result = try TestFolder().shell("$PERILUNE run -e 'print(1)' > /dev/full")
        #expect(result.status == 74)
        #expect(result.errors.hasPrefix("error: cannot write to standard output: "))
        let query = try TestFolder().shell("$PERILUNE query 'SELECT 1' > /dev/full")
        #expect(query.status == 74)
        #expect(query.errors == "error: cannot write to standard output: No space left on device\n")
    }

    // MARK: - Wrong usage

    @Test func `an unknown option is reported with the nearest name`() throws {
        let result = try TestFolder().perilune("run", "--databse", "x", "a.lua")
        #expect((result.status, result.output) == (64, ""))
        #expect(result.errors.hasPrefix("error: Unknown option '--databse'. Did you mean '--database'?\n"))
        let json = try TestFolder().perilune("run", "--error-format=json", "--databse", "x", "a.lua")
        #expect(json.errors.hasPrefix(#"{"kind":"usage","message":"Unknown option '--databse'."#))
    }

    @Test func `commands and options of other programs are reported with their replacement`() throws {
        let folder = try TestFolder()
        let command = try folder.perilune("sql", "SELECT 1")
        #expect(command.errors == "error: unknown command sql\n  help  use `perilune query SQL`\n")
        let logs = try folder.perilune("automations", "logs")
        #expect(logs.errors.hasSuffix("logs\n  help  use `perilune automations trace`\n"), "\(logs.errors)")
        for (arguments, option) in [
            (["run", "--db", "x.sqlite", "x.lua"], "--database"), (["run", "-c", "print(1)"], "-e"),
            (["query", "--csv", "SELECT 1"], "--format csv"),
            (["test", "--grep", "x"], "--filter"), (["migrate", "--rollback"], "--down"),
            (["import", "x.csv", "--database", "x.sqlite", "--table", "x", "--delimiter", ";"], "--separator"),
            (["-e", "print(1)"], "perilune run -e"), (["--eval", "print(1)"], "perilune run -e"),
            (["--db", "x.sqlite", "run", "x.lua"], "perilune run --database"), (["watch", "--db", "x", "x.lua"], "--database"),
            (["migrate", "--up"], "perilune migrate"), (["migrate", "--plan"], "--preview"), (["run", "--plan", "x"], "--save"),
            (["import", "x.csv", "--table", "x", "--database", "x.sqlite", "--pk", "a"], "--primary-key"),
            (["import", "x.csv", "--into", "x"], "--table"), (["query", "SELECT :id", "--arg", "id=2"], "-p"),
            (["query", "--create", "CREATE TABLE t (a)"], "perilune console --create"),
            (["query", "--file", "q.sql"], "- < FILE"), (["query", "-f", "q.sql"], "- < FILE"),
            (["console", "-f", "q.sql"], "< FILE"), (["migrate", "-n"], "--dry-run"),
            (["query", "--mode", "csv", "SELECT 1"], "--format"), (["apply", "x.plan", "--force"], "--changed-columns-only"),
            (["automations", "run", "a.lua", "--once"], "perilune automations run FILE NAME"),
        ] {
            #expect(
                try CommandProcess(TestFolder.binary, arguments, in: folder).wait().errors.contains("'. Use '\(option)'\n"),
                "\(arguments)")
        }
    }

    @Test(arguments: [
        (["jobs"], "use `perilune automations status` or `perilune query 'SELECT * FROM perilune_job'`"),
        (["up"], "use `perilune migrate`"), (["vacuum"], "use `perilune query VACUUM --write`"),
        (["select 1"], "use `perilune query SQL`"),
        (
            ["diff", "a.sqlite", "b.sqlite"],
            "for what a script would change, use `perilune run --preview FILE`; to compare two databases, compare their dumps: "
                + "`perilune dump --database FILE > FILE.sql` for each, then diff"
        ),
        (["automations", "stop"], "press Ctrl-C, or send SIGTERM to the process of the service"),
        (["automations", "retry", "nightly"], "use `perilune automations run FILE NAME`"),
        (
            ["automations", "disable", "a.lua", "nightly"],
            "set `enabled = false` in the definition of the automation; a running service reloads its file"
        ),
        (
            ["automations", "emit", "paid"],
            "use `perilune run --database FILE -e 'perilune.emit(NAME)'` for durable automations; "
                + "others receive only the events of their own process, and `perilune automations run FILE NAME` runs them now"
        ),
    ])
    func `a command that does not exist is reported with the one to use`(arguments: [String], help: String) throws {
        let result = try CommandProcess(TestFolder.binary, arguments, in: TestFolder()).wait()
        #expect(result.status == 64 && result.errors.hasSuffix("\n  help  \(help)\n"), "\(result.errors)")
    }

    @Test(arguments: [
        (["apply", "x.plan", "--show"], "A saved plan cannot be shown. Without '--yes', apply names the changes and asks\n"),
        (["query", "--timeout", "1s", "SELECT 1"], "A query has no time limit. Use 'timeout 1s perilune query'\n"),
        (["query", "--limit", "1", "SELECT 1"], "Unknown option '--limit'. Write LIMIT in the statement\n"),
        (
            ["run", "--log-level", "debug", "a.lua"],
            "'--log-level'. '--verbose' adds details, and '--trace' shows the statements\n"
        ),
        (["console", "-p", "n=1"], "The parameter :name has the value of the Lua variable `name`. Enter name = VALUE first\n"),
        (["console", "--database", "x.sqlite", "-c", "SELECT 1"], "'-c'. Use 'perilune query SQL' for one statement"),
        (["dump", "--database", "x.sqlite", "--gzip"], "Unknown option '--gzip'. Use '| gzip > FILE.sql.gz'\n"),
        (["doctor", "--fix"], "Unknown option '--fix'. Nothing is changed. Each problem comes with a suggested fix\n"),
        (["migrate", "--force"], "A file that was edited after being applied does not run again\n"),
        (["settings", "get", "database"], "All settings are shown. They are set in perilune.toml\n"),
        (["restore", "d.sql", "new.sqlite"], "new.sqlite is an argument of restore. Use '--database new.sqlite'\n"),
        (["schema", "--format", "markdown"], "'--format <format>'. Please provide one of 'sql',"),
        (["doctor", "--quiet"], "Findings cannot be left out. With '--format json' each has a verdict"),
        (
            ["settings", "--config", "x.toml"],
            "Settings are read from perilune.toml in the current folder, or its nearest parent\n"
        ),
        (["migrate", "--down", "--all"], "Use '--down' once for each migration, or '--to NAME' with the last one to keep\n"),
        (["automations", "preview", "a.lua", "x", "--save", "p"], "The preview of an automation cannot be saved as a plan\n"),
        (["dump", "a", "b", "--database", "x.sqlite"], "A dump has one table, or all\n"),
        (
            ["dump", "--database", "x.sqlite", "--tables", "a"],
            "The table is an argument without an option: perilune dump NAME\n"
        ),
        (["query", "-c", "SELECT 1"], "The statement is an argument without an option: perilune query 'SELECT 1'\n"),
        (["query", "SELECT 1", "--limit", "3"], "Unknown option '--limit'. Write LIMIT in the statement\n"),
        (["run", "--arg", "a=1", "x.lua"], "Arguments of the script come after its path: perilune run FILE ARGUMENT\n"),
        (
            ["import", "x.csv", "--table", "x", "--database", "x.sqlite", "--dry-run"],
            "Use 'perilune console --preview' with the command :import FILE TABLE\n"
        ),
        (
            ["automations", "status", "a.lua", "--database", "x.sqlite"],
            "The status comes from the database, so it needs no file of automations\n"
        ),
        (["query", "SELECT ?", "-p", "2026-10-02"], "the first ? of the statement has the name 1, as in -p 1=VALUE\n"),
        (["migrate", "new", "--foo", "x"], "\n  See 'perilune migrate new --help' for more information.\n"),
    ])
    func `an option or argument without a replacement is explained`(arguments: [String], sentence: String) throws {
        let result = try CommandProcess(TestFolder.binary, arguments, in: TestFolder()).wait()
        #expect(result.status == 64 && result.errors.contains(sentence), "\(result.errors)")
    }

    @Test func `no replacement is suggested if the command does not have it`() throws {
        let folder = try TestFolder()
        for arguments in [
            ["schema", "--database", "x.sqlite", "--dry-run"], ["apply", "x.plan", "--dry-run"],
        ] {
            let errors = try CommandProcess(TestFolder.binary, arguments, in: folder).wait().errors
            #expect(errors.hasPrefix("error: Unknown option '--dry-run'") && !errors.contains("Use '"), "\(errors)")
        }
    }

    @Test(arguments: [
        (["query", "-csv", "SELECT 1"], "-csv", "use `--format csv`"),
        (["query", "SELECT 1", "-header"], "-header", "use `--format csv`"),
        (["run", "-database", "x.sqlite", "a.lua"], "-database", "use `--database`"),
        (
            ["doctor", "-quick"], "-quick",
            "options of more than one letter begin with two dashes; `perilune help doctor` lists them"
        ),
    ])
    func `an option that begins with one dash is refused`(arguments: [String], option: String, help: String) throws {
        let folder = try TestFolder(["a.lua": "print(...)"])
        let result = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
        #expect((result.status, result.output) == (64, ""))
        #expect(result.errors == "error: unknown option \(option)\n  help  \(help)\n")
        #expect(try folder.perilune("run", "-e", "-1 + 3").output == "2\n")
        #expect(try folder.perilune("run", "a.lua", "-header").output == "-header\n")
    }

    @Test func `a database given as an argument is refused, and the error names the option`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "--database", "x.sqlite", "-e", "db:execute('CREATE TABLE t (a)')").status == 0)
        for (arguments, message) in [
            (["query", "x.sqlite", "SELECT 1"], "Unexpected argument 'SELECT 1'. Use '--database x.sqlite'\n"),
            (["query", "SELECT\n1", "x.sqlite"], "Unexpected argument 'x.sqlite'. Use '--database x.sqlite'\n"),
            (["doctor", "x.sqlite"], "Unexpected argument 'x.sqlite'. Use '--database x.sqlite'\n"),
            (["console", "x.sqlite", "SELECT 1"], "Unexpected argument 'SELECT 1'. Statements are read from standard input\n"),
            (
                ["query", "SELECT ?", "4"],
                "Unexpected argument '4'. Use '-p 1=VALUE' or '-p NAME=VALUE' for the value of a parameter\n"
            ),
            (["query", "x.sqlite"], "expected a statement, got a database\n  help  use --database x.sqlite\n"),
            (
                ["query", ".tables"],
                ".tables is a command of another shell, and not SQL\n  help  use `perilune schema` for tables and columns\n"
            ),
            (["run", "x.sqlite", "-e", "1"], "x.sqlite is a database, and not a script\n  help  use --database x.sqlite\n"),
            (["x.sqlite", "SELECT 1"], "unknown command x.sqlite\n  help  use `perilune console x.sqlite`, or "),
        ] {
            let result = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
            #expect(result.status == 64)
            #expect(result.errors.hasPrefix("error: \(message)"), "\(result.errors)")
        }
    }

    @Test func `an unknown command is reported with the nearest name`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune("rnu", "a.lua")
        #expect((result.status, result.output) == (64, ""))
        #expect(result.errors == "error: unknown command rnu\n  help  did you mean `run`?\n")
        #expect(try folder.perilune("shop.lua").errors.contains("did you mean `perilune run shop.lua`?"))
        #expect(
            try folder.perilune("zzz").errors.contains(
                "available: run, watch, console, query, chart, import, schema, dump, restore, apply, "))
    }

    @Test(arguments: [
        ["run"], ["run", ""], ["run", "--timeout", "x", "-e", ""], ["run", "--memory", "0", "-e", ""],
        ["run", "--database", "", "-e", ""], ["run", "--color", "blue", "-e", ""], ["run", "-e"], ["query"], ["--frob"],
    ])
    func `wrong usage exits with 64, and nothing runs`(arguments: [String]) throws {
        let folder = try TestFolder()
        let result = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
        #expect((result.status, result.output) == (64, ""))
        #expect(result.errors.hasPrefix("error: "))
    }

    @Test(arguments: [
        ["--help"], ["help"], ["help", "run"], ["run", "--help"], ["apply", "--help"], ["query", "--help"],
        ["version", "--help"],
    ])
    func `help goes to standard output and has examples`(arguments: [String]) throws {
        let folder = try TestFolder()
        let result = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
        #expect((result.status, result.errors) == (0, ""))
        #expect(result.output.contains("EXAMPLES:"))
        #expect(result.output.count { $0 == "\n" } > 5)
    }

    @Test func `the version option lists the versions`() throws {
        let result = try TestFolder().perilune("version")
        #expect((result.status, result.errors) == (0, ""))
        #expect(result.output.contains(#/^perilune \d+\.\d+\.\d+\nLua 5\.4\.\d+\n/#))
        #expect(result.output.contains(#/\nSQLite 3\.\d+\.\d+\nSwift \d/#))
    }

    // MARK: - Databases and arguments

    @Test func `a new database is reported, but a preview does not create one`() throws {
        let folder = try TestFolder()
        var result = try folder.perilune("run", "-e", "print(db)", "--database", "new.sqlite")
        #expect(result.status == 0)
        #expect(result.errors == "created the database new.sqlite\n")
        #expect(result.output.hasPrefix("database (") && result.output.hasSuffix("new.sqlite)\n"))
        result = try folder.perilune("run", "-e", "print(1)", "--database", "new.sqlite")
        #expect(result.errors == "")
        result = try folder.perilune("run", "--preview", "-e", "print(1)", "--database", "nwe.sqlite")
        #expect(result.status == 74)
        #expect(
            result.errors
                == "error: cannot open the database nwe.sqlite: No such file or directory\n  help  did you mean `new.sqlite`?\n")
        result = try folder.perilune("run", "--preview", "--create", "-e", "print(1)", "--database", "none.sqlite")
        #expect(result.status == 0)
        #expect(result.errors == "the database none.sqlite does not exist; the script uses an empty one\n")
        #expect(!folder.exists("none.sqlite") && !folder.exists("nwe.sqlite"))
        #expect(try folder.perilune("run", "--create", "-e", "print(1)").errors.contains("--create requires --preview"))
    }

    @Test func `arguments that are not UTF-8 keep their bytes`() throws {
        let folder = try TestFolder(["a.lua": "print((...):byte(1, -1)) print(arg[1] == ..., select('#', ...), select(2, ...))"])
        let result = try folder.shell(#""$PERILUNE" run a.lua --database :memory: "$(printf '\377a\303')" é"#)
        #expect(result.output == "255\t97\t195\ntrue\t2\té\n")
    }

    @Test func `another program's unfinished transaction is reported to a reader`() throws {
        let folder = try TestFolder()
        #expect(
            try folder.perilune(
                "run", "-e", "db:execute('PRAGMA journal_mode = delete; CREATE TABLE t (a)')", "--database", "x.sqlite"
            ).status == 0)
        let process = try CommandProcess(
            TestFolder.binary,
            [
                "run", "--database", "x.sqlite", "-e",
                """
                db:execute("PRAGMA cache_size = 5")
                db:write(function(db)
                  for i = 1, 500 do db:execute("INSERT INTO t VALUES (zeroblob(2000))") end
                  print("ready") io.stdout:flush()
                  while true do end
                end)
                """,
            ], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        process.send("KILL")
        _ = try process.wait()
        try #require(folder.exists("x.sqlite-journal"))
        let reason =
            "a program ended while writing to the database, and a read-only connection cannot recover it; open it once for writing"
        var result = try folder.perilune(
            "run", "--readonly", "--database", "x.sqlite", "-e", "db:fetch_value('SELECT count(*) FROM t')")
        #expect(result.errors.contains(reason), "\(result.errors)")
        result = try folder.perilune(
            "run", "--preview", "--database", "x.sqlite", "-e", "db:fetch_value('SELECT count(*) FROM t')")
        #expect(result.errors.contains(reason), "\(result.errors)")
        // Commands that read the database restore its last commit first.
        result = try folder.perilune("query", "--database", "x.sqlite", "SELECT count(*) AS n FROM t")
        #expect(result.output == "{\"n\":0}\n", "\(result.errors)")
    }

    @Test func `temporary files that a killed process has left are removed by the next run`() throws {
        let folder = try TestFolder([
            "tmp/perilune-1-killed/.lock": "", "tmp/perilune-1-killed/1-preview/copy.sqlite": "x",
            "tmp/perilune-2-live/.lock": "",
            "tmp/perilune-3-young/.lock": "", "tmp/perilune-4-other/x": "", "tmp/other/.lock": "",
        ])
        let past = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -60)]
        for name in ["perilune-1-killed", "perilune-2-live", "other"] {
            try FileManager.default.setAttributes(past, ofItemAtPath: "\(folder.path)/tmp/\(name)/.lock")
        }
        // The test does not depend on how long the command takes to start.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 600)], ofItemAtPath: "\(folder.path)/tmp/perilune-3-young/.lock")
        let lock = open(folder.path + "/tmp/perilune-2-live/.lock", O_RDWR | O_CLOEXEC)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        #expect(try folder.perilune("run", "-e", "print(1)", environment: ["TMPDIR": folder.path + "/tmp"]).status == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/tmp").sorted()
        #expect(left == ["other", "perilune-2-live", "perilune-3-young", "perilune-4-other"])
    }

    @Test func `a database given as an argument is reported with the option to use`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "--database", "b.sqlite", "-e", "db:execute('CREATE TABLE t (a)')").status == 0)
        for arguments in [["dump", "b.sqlite"], ["schema", "b.sqlite"], ["import", "b.sqlite", "x.csv", "--table", "t"]] {
            let errors = try CommandProcess(TestFolder.binary, arguments, in: folder).wait().errors
            #expect(errors.contains(" an argument of \(arguments[0]). Use '--database b.sqlite'\nUsage:"), "\(errors)")
        }
        for command in ["dump", "schema"] {
            let errors = try folder.perilune(command, "b.sqlite", environment: ["PERILUNE_DATABASE": "b.sqlite"]).errors
            #expect(errors == "error: unknown table b.sqlite\n  help  use --database b.sqlite\n")
        }
    }

    @Test func `a format of sqlite3 is reported with its replacement`() throws {
        let folder = try TestFolder()
        #expect(
            try folder.perilune("query", "--format", "column", "SELECT 1").errors.contains(
                "is invalid for '--format <format>'. Use '--format table'. Please"))
        #expect(
            try folder.perilune("query", "--format", "tabs", "SELECT 1").errors.contains(
                "is invalid for '--format <format>'. Use '--format tsv'. Please"))
    }

    @Test func `an error of a single call on the command line has its line`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune("run", "-e", "\ndb:create_index('a')")
        #expect(result.errors.contains("\n  at (command line):2\n  2 | db:create_index('a')\n"), "\(result.errors)")
        #expect(try folder.perilune("run", "-e", "1, nil, 3").output == "1\tnil\t3\n")
    }

    @Test func `help for an unknown command is wrong usage and suggests the nearest name`() throws {
        let folder = try TestFolder()
        var result = try folder.perilune("help", "nonsense")
        #expect((result.status, result.output) == (64, ""))
        #expect(result.errors.contains("no help on nonsense"))
        #expect(try folder.perilune("help", "ScriptHost").errors.contains("names in Swift"))
        #expect(try folder.perilune("help", "fetch_al").errors.contains("did you mean `fetch_all`?"))
        #expect(try folder.perilune("help", "rnu").errors.contains("did you mean `run`?"))
        #expect(try folder.perilune("help", "export").errors.contains("help  use `perilune query SQL --output FILE`"))
        #expect(try folder.perilune("docs").errors == "error: unknown command docs\n  help  use `perilune help topics`\n")
        #expect(try folder.perilune("help", "run").status == 0)
        #expect(try folder.perilune("help").status == 0)
        #expect(try folder.perilune("help", "automations", "list").output.contains("private copy"))
        for arguments in [
            ["--hlep"], ["run", "--hlep"], ["run", "--hlep", "a.lua"], ["automations", "list", "--hlep"], ["query", "--hepl"],
        ] {
            result = try CommandProcess(TestFolder.binary, arguments, in: folder).wait()
            #expect(result.status == 64)
            #expect(result.errors.contains("Did you mean '--help'?"), "\(arguments): \(result.errors)")
        }
    }
}
