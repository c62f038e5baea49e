import Foundation
import PeriluneTestTools
import Testing

/// `perilune run --sandbox`, which runs scripts in a separate process.
@Suite(.patience, .startsPrograms) struct IsolationTests {
    /// Runs a script that prints a line and then loops, and passes its process to a closure.
    private func looping(_ options: String..., body: (pid_t, CommandProcess) async throws -> Void) async throws -> CommandResult {
        let folder = try TestFolder(["loop.lua": "print('ready')\nwhile true do os.time() end\n"])
        let process = try CommandProcess(
            TestFolder.binary, ["run", "--sandbox"] + options + ["loop.lua"], in: folder, isOutputRead: true)
        #expect(try process.readLine() == "ready")
        try await body(try #require(await process.child()), process)
        return try process.wait()
    }

    @Test func `a sandboxed script reads its arguments, its input and the database, and changes the database`() throws {
        let folder = try TestFolder([
            "a.lua": "db:execute('CREATE TABLE t (x)') db:execute('INSERT INTO t VALUES (?)', ...) print(...)"
        ])
        let result = try folder.perilune(
            "run", "--sandbox", "--require-layers", "limits", "--database", "shop.sqlite", "a.lua", "ü")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "ü\n")
        let read = try folder.perilune(
            "run", "--sandbox", "--database", "shop.sqlite", "-", input: "print(db:fetch_value('SELECT x FROM t'))")
        #expect(read.output == "ü\n", "\(read.errors)")
    }

    @Test func `a sandboxed script with a database in a cluster is refused with advice`() throws {
        let result = try TestFolder().perilune(
            "run", "--sandbox", "--database", "dqlite://127.0.0.1:1/shop?timeout=100ms", "-e", "return 1")
        #expect(result.status != 0)
        #expect(result.errors.contains("a process of its own reaches no cluster, because it has no network"), "\(result.errors)")
        #expect(result.errors.contains("--no-isolate runs the script in this process"), "\(result.errors)")
    }

    @Test func `a sandboxed script can sort data that needs temporary files`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune(
            "run", "--sandbox", "-e",
            """
            print(db:fetch_value("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) SELECT i FROM (SELECT i, hex(randomblob(100)) AS h FROM n ORDER BY h) ORDER BY i LIMIT 1"))
            """)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "1\n")
    }

    @Test func `a preview of a sandboxed script saves its plan`() throws {
        let folder = try TestFolder()
        #expect(
            try folder.perilune("run", "--database", "a.sqlite", "-e", "db:execute('CREATE TABLE t (x INTEGER PRIMARY KEY)')")
                .status == 0)
        let result = try folder.perilune(
            "run", "--sandbox", "--database", "a.sqlite", "--preview", "--save", "a.plan", "-e",
            "db:execute('INSERT INTO t VALUES (1)')")
        #expect(result.status == 0, "\(result.errors)")
        #expect(folder.exists("a.plan"))
    }

    @Test func `a crash ends only the child process and is reported with the signal and the line`() async throws {
        let result = try await looping { child, _ in kill(child, SIGSEGV) }
        #expect(result.status == 1)
        #expect(result.errors.contains("the process of the script was ended by SIGSEGV"))
    }

    @Test func `an isolated process that exceeds its time limit is killed`() async throws {
        let result = try await looping("--timeout", "3s") { child, _ in kill(child, SIGSTOP) }
        #expect(result.status == 5)
        #expect(result.errors.contains("ran longer than its limit"))
    }

    @Test func `signals are forwarded to the isolated process and end the script`() async throws {
        for signal in ["INT", "TERM"] {
            let result = try await looping { _, process in process.send(signal) }
            #expect(result.status == 130)
            #expect(result.errors.contains("interrupted"))
        }
    }

    @Test func `the child process ends with its parent`() async throws {
        var started: pid_t = 0
        let result = try await looping { child, process in
            started = child
            process.send("KILL")
        }
        #expect(result.status == 128 + SIGKILL)
        #expect(await eventually { kill(started, 0) != 0 })
    }

    @Test func `an isolated script's error and exit status are passed on`() throws {
        let folder = try TestFolder(["fail.lua": "local t = nil\nprint(t.x)\n"])
        let result = try folder.perilune("run", "--sandbox", "fail.lua")
        #expect(result.status == 1)
        #expect(result.errors.contains("fail.lua:2"))
        #expect(
            try folder.perilune(
                "run", "--sandbox", "--memory", "8M", "-e", "local t = {} while true do t[#t + 1] = ('x'):rep(1e5) .. #t end"
            ).status == 5)
        #expect(try folder.perilune("run", "--sandbox", "--timeout", "200ms", "-e", "while true do end").status == 5)
        let refused = try folder.perilune("run", "--sandbox", "-e", "db:execute(\"ATTACH 'x.db' AS x\")")
        #expect(refused.errors.contains("help  the script runs with --sandbox\n"), "\(refused.errors)")
    }

    @Test func `an error about a limit names the option, the settings file or the default that set it`() throws {
        let folder = try TestFolder(["perilune.toml": "[limits]\ntimeout = \"200ms\"\noutput = \"1K\"\n"])
        let endless = try folder.perilune("run", "-e", "while true do end")
        #expect(endless.errors.contains("help  the limit was set by perilune.toml:2\n"), "\(endless.errors)")
        let printing = "print(('x'):rep(2000))"
        let long = try folder.perilune("run", "-e", printing)
        #expect(long.status == 5 && long.errors.contains("help  the limit was set by perilune.toml:3\n"), "\(long.errors)")
        let option = try folder.perilune("run", "--output", "1K", "-e", printing)
        #expect(option.errors.contains("help  the limit was set by --output\n"), "\(option.errors)")
        try folder.write("", to: "perilune.toml")
        let standard = try folder.perilune(
            "run", "--sandbox", "-e", "local x = ('x'):rep(1000000) for i = 1, 100 do print(x) end")
        #expect(
            standard.errors.contains("help  this is the limit with --sandbox; --output sets another\n"), "\(standard.errors)")
    }

    @Test func `the bytes that an isolated script writes to files are limited`() throws {
        let folder = try TestFolder()
        let loop = "db:execute('CREATE TABLE t (a)') while true do db:execute('INSERT INTO t VALUES (zeroblob(1000000))') end"
        for isolation in ["--isolate", "--no-isolate"] {
            let result = try folder.perilune(
                "run", "--sandbox", isolation, "--disk", "4M", "--database", "\(isolation.dropFirst(2)).sqlite", "-e", loop)
            #expect(result.status == 5, "\(result.errors)")
            #expect(result.errors.contains("the script wrote more to files than its limit of 4 MB"), "\(result.errors)")
            #expect(result.errors.contains("the limit was set by --disk"))
        }
    }

    @Test func `an isolated preview that exceeds its time limit is ended, including the time of callbacks`() throws {
        let folder = try TestFolder()
        #expect(try folder.perilune("run", "--database", "a.sqlite", "-e", "db:execute('CREATE TABLE t (x)')").status == 0)
        for script in [
            "while true do end", "perilune.every(0.01, function() end)",
            "for i = 1, 200 do perilune.spawn(function() while true do perilune.sleep(0) end end) end",
        ] {
            let result = try folder.perilune("run", "--database", "a.sqlite", "--preview", "--timeout", "300ms", "-e", script)
            #expect(result.status == 5, "\(script): \(result.errors)")
            #expect(result.errors.contains("ran longer than its limit of 0.3 seconds"), "\(script): \(result.errors)")
        }
    }

    @Test func `limits in the project's settings apply to isolated scripts`() throws {
        let folder = try TestFolder(["perilune.toml": "database = 'shop.sqlite'\n[limits]\ntimeout = '2s'\n"])
        let result = try folder.perilune("run", "--sandbox", "-e", "db:execute('CREATE TABLE t (x)') while true do end")
        #expect(result.status == 5, "\(result.errors)")
        #expect(folder.exists("shop.sqlite"))
    }

    @Test func `the process of a sandboxed script writes the page of a preview`() throws {
        let folder = try TestFolder()
        let result = try folder.perilune(
            "run", "--sandbox", "--preview", "--report", "page.html", "-e", "db:execute('CREATE TABLE t (x)')")
        #expect(result.status == 0, "\(result.errors)")
        #expect(folder.exists("page.html"))
    }

    @Test func `contradictory isolation options are refused`() throws {
        let folder = try TestFolder()
        for arguments in [
            ["--isolate"], ["--sandbox", "--no-isolate", "--require-layers", "limits"], ["--require-layers", "limits"],
            ["--sandbox", "--require-layers", "moat"], ["--sandbox", "--supervised"],
        ] {
            let line = "$PERILUNE run " + arguments.joined(separator: " ") + " -e 'print(1)'"
            let result = try folder.shell(line)
            #expect(result.status == 64, "\(line): \(result.errors)")
            #expect(result.output == "")
        }
    }

    @Test func `a script without isolation starts no child process`() async throws {
        let folder = try TestFolder()
        let result = try folder.perilune("run", "--sandbox", "--no-isolate", "-e", "print(1)")
        #expect(result.output == "1\n")
    }

    @Test func `the doctor command names the layers of the sandbox`() throws {
        #expect(try TestFolder().perilune("doctor").output.contains("isolation of --sandbox: limits, privileges"))
    }
}
