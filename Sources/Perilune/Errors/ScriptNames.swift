internal import PeriluneRecords

/// Names that scripts use, and help texts for common mistakes, for error reports.
package enum ScriptNames {
    /// The global names of Lua, Perilune and scenario files.
    package static let globals = [
        "after_each", "assert", "before_each", "check", "collectgarbage", "coroutine", "db", "debug", "dofile", "error", "expect",
        "expect_error", "factory", "fixture", "getmetatable", "group", "io", "ipairs", "load", "loadfile", "math", "matrix",
        "next", "os",
        "package", "pairs", "pcall", "perilune", "print", "rawequal", "rawget", "rawlen", "rawset", "require", "scenario",
        "select",
        "setmetatable", "string", "table", "template", "tonumber", "tostring", "type", "utf8", "warn", "xpcall",
    ]

    /// Global functions of other libraries and Lua versions, with their replacements.
    private static let otherGlobals: [String: String] = [
        "create_table": "db:create_table(name, function(t) ... end)", "drop_table": "db:drop_table(name)",
        "alter_table": "db:alter_table(name, function(t) ... end)",
        "add_column": "db:alter_table(name, function(t) t:add_column(name, type) end)",
        "create_index": "db:create_index(table, { column })", "add_index": "db:create_index(table, { column })",
        "column": "t:column(name, type)", "migrate": "perilune.migrator(), or migration files and `perilune migrate`",
        "migration": "perilune.migrator(), or migration files and `perilune migrate`",
        "transaction": "db:write(function(db) ... end)",
        "record": "perilune.record(table)", "Record": "perilune.record(table)", "model": "perilune.record(table)",
        "Model": "perilune.record(table)",
        "automation": "perilune.automation{ name = ..., on = { ... }, run = f }", "every": "perilune.every(period, f)",
        "after": "perilune.after(duration, f)", "schedule": "perilune.schedule(\"0 9 * * mon-fri\", f)",
        "cron": "perilune.schedule(\"0 9 * * mon-fri\", f)",
        "enqueue": "perilune.jobs(name):enqueue(payload)", "job": "perilune.jobs(name)", "sleep": "perilune.sleep(duration)",
        "now": "perilune.now()",
        "setTimeout": "perilune.after(delay, f)", "setInterval": "perilune.every(period, f)",
        "set_timeout": "perilune.after(delay, f)", "set_interval": "perilune.every(period, f)",
        "clearTimeout": "timer:cancel(), with the result of perilune.after",
        "clearInterval": "timer:cancel(), with the result of perilune.every",
        "wait": "perilune.sleep(duration)", "delay": "perilune.after(duration, f)",
        "try": "pcall(f, ...), which returns false and the error object if f raises", "raise": "error(message)",
        "throw": "error(message)",
        "printf": "print(string.format(format, ...))", "len": "#list", "range": "for i = first, last do ... end",
        "map": loop, "filter": loop, "foreach": loop,
        "unpack": "table.unpack(list)", "loadstring": "load(text)", "setfenv": "load(text, name, \"t\", environment)",
        "query": "db:fetch_all(sql, ...)", "fetch_all": "db:fetch_all(sql, ...)", "fetch_one": "db:fetch_one(sql, ...)",
        "execute": "db:execute(sql, ...)",
        "describe": "group(name, f) in a scenario file", "it": "scenario(name, function(t) ... end) in a scenario file",
        "test": "scenario(name, function(t) ... end) in a scenario file",
        "xit": skipped, "xtest": skipped, "xscenario": skipped, "xdescribe": skipped,
        "fit": "scenario.only(name, function(t) ... end)", "fscenario": "scenario.only(name, function(t) ... end)",
    ]

    private static let skipped = "scenario.skip(reason, name, function(t) ... end)"

    private static let database =
        "the global `db`, or perilune.queue(path); once the module is installed, its programs run with `perilune run --no-database`"
    private static let csv =
        "the command `perilune import FILE --table NAME`, and `perilune query --format csv` for output"
    private static let arguments = "the global `arg`, or `...`"

    /// Modules of other libraries, with their replacements.
    private static let otherModules: [String: String] = [
        "sqlite3": database, "lsqlite3": database, "lsqlite3complete": database, "luasql": database, "luasql.sqlite3": database,
        "ljsqlite3": database, "DBI": database, "luadbi": database,
        "lapis.db": "the global `db`", "lapis.db.model": "perilune.record(table)", "json": "perilune.json",
        "cjson": "perilune.json", "dkjson": "perilune.json",
        "rapidjson": "perilune.json", "lunajson": "perilune.json", "date": "perilune.date", "luatz": "perilune.date",
        "inspect": "perilune.json.encode(value), or print(value) for rows and records", "log": "perilune.log",
        "logging": "perilune.log", "uuid": "perilune.uuid()", "csv": csv, "ftcsv": csv, "lua-csv": csv, "argparse": arguments,
        "cliargs": arguments, "bit": "the operators & | ~ << >>", "bit32": "the operators & | ~ << >>",
        "busted": "scenario files and `perilune test`", "luaunit": "scenario files and `perilune test`",
        "copas": "perilune.spawn and perilune.sleep",
        "pl": "Lua's own loops, and the libraries `table` and `string`",
        "penlight": "Lua's own loops, and the libraries `table` and `string`",
        "socket": "functions of the host, and perilune.sleep(duration) for `socket.sleep`", "lfs": "io.open(path)",
    ]

    /// Help texts for messages of SQLite and Lua.
    private static let messageHelp: [String: String] = [
        "attempt to call a table value (for iterator 'for iterator')":
            "a list is not an iterator; use `for _, row in ipairs(list) do`, or rows() in place of fetch_all()",
        "bad argument #1 to 'for iterator' (table expected, got function)":
            "rows() is an iterator; use `for row in request:rows() do`, or ipairs(request:fetch_all())",
        "no such function: REGEXP":
            "define it with db:add_function(\"regexp\", function(pattern, text) ... end), or use glob or like",
        "no such function: NOW": "use CURRENT_TIMESTAMP or datetime('now'), or pass perilune.now()",
        "no such function: now": "use CURRENT_TIMESTAMP or datetime('now'), or pass perilune.now()",
        "no such function: CONCAT": "use a || b",
        "no such function: concat": "use a || b",
        "no such function: YEAR": "use strftime('%Y', column)",
        "no such function: year": "use strftime('%Y', column)",
        "no such function: MONTH": "use strftime('%m', column)",
        "no such function: DATE_FORMAT": "use strftime(format, column)",
        "no such function: TO_CHAR": "use strftime(format, column)",
        "no such function: DATE_TRUNC": "use date(column, 'start of month')",
        "no such function: LEN": "use length(text)",
        "no such function: LEFT": "use substr(text, 1, count)",
        "no such function: GETDATE": "use CURRENT_TIMESTAMP, or pass perilune.now()",
        "no such function: STRING_AGG": "use group_concat(column, separator)",
        "no such function: UUID": "pass perilune.uuid()",
        "no such column: nil": "in SQL, a missing value is NULL: column IS NULL",
        "near \"ILIKE\": syntax error": "LIKE ignores the case of ASCII letters",
        "near \"SHOW\": syntax error": "use db:tables() or db:columns(table)",
        "near \"DESCRIBE\": syntax error": "use db:columns(table)",
        "near \"TOP\": syntax error": "use LIMIT at the end of the statement",
        "near \"TRUNCATE\": syntax error": "use DELETE FROM",
        "near \"?\": syntax error":
            "a placeholder stands for one value: not for a list, a table or a column; use IN (SELECT value FROM json_each(?)) for a list",
        "near \"%\": syntax error": "values are arguments: use ? or :name in place of %s and %d",
        "bad argument #2 to 'date' (number expected, got date)":
            "use date:format(\"%Y-%m-%d\"), or date.unix // 1 for the seconds",
        "bad argument #1 to 'date' (string expected, got date)": "use date:format(\"%Y-%m-%d\"), or tostring(date)",
        "bad argument #1 to 'time' (table expected, got date)": "use date.unix",
        "bad argument #1 to 'difftime' (number expected, got date)": "use first - second, or first:seconds_since(second)",
        "bad argument #1 to 'for iterator' (table expected, got string)":
            "a text has no elements; use perilune.json.decode(text) if it holds JSON",
        "unrecognized token: \":\"": "use CAST(value AS type) in place of value::type",
        "unrecognized token: \"{\"": "use :name with { name = value }, or ? with a value",
        "unrecognized token: \"!\"": "use NOT",
        "attempt to index a function value": "rows() is an iterator; use `for row in db:rows(sql) do`, without ipairs",
        "attempt to index a nil value (global 'arg')": "only `perilune run` sets `arg`; use os.getenv(name)",
        "attempt to call a nil value (method 'match')": "an error object has fields; use err.message:match(pattern), or err.kind",
        "attempt to index a number value":
            "a number has no fields; the difference of two dates is a number of seconds: (first - second) // 86400 for whole days",
        "attempt to sub a 'string' with a 'string'":
            "texts are not dates; use perilune.date(first) - perilune.date(second). Text in a field becomes a date when the record is written",
        "attempt to perform arithmetic on a row value": "use row.column, or db:fetch_value(sql, ...) for a single value",
        "attempt to perform arithmetic on a request value":
            "use first | second for rows of either request, union or except for others",
        "attempt to perform bitwise operation on a request value":
            "use request:filter(condition) for both, first:except(second) for the rows of one",
        "unable to use function MATCH in the requested context":
            "MATCH needs a full-text table (db:create_fts5); use like, glob or contains",
    ]

    private static let loop = "a loop: for _, value in ipairs(list) do ... end"

    /// Functions of the standard libraries of other languages, with their replacements in Lua.
    private static let otherMembers: [String: String] = [
        "table.map": loop, "table.filter": loop, "table.reduce": loop, "table.foreach": loop, "table.each": loop,
        "table.contains": loop,
        "table.find": loop, "table.index_of": loop, "table.foreachi": loop, "table.any": loop, "table.all": loop,
        "table.keys": "a loop: for key in pairs(values) do ... end",
        "table.values": "a loop: for _, value in pairs(values) do ... end",
        "table.merge": "a loop: for key, value in pairs(other) do values[key] = value end",
        "table.copy": "table.move(list, 1, #list, 1, {}) for a list",
        "table.clone": "table.move(list, 1, #list, 1, {}) for a list",
        "table.slice": "table.move(list, first, last, 1, {})", "table.length": "#list", "table.getn": "#list",
        "table.size": "#list",
        "table.len": "#list", "table.push": "table.insert(list, value)", "table.append": "table.insert(list, value)",
        "table.pop": "table.remove(list)", "table.join": "table.concat(list, separator)",
        "string.join": "table.concat(list, separator)", "math.round": "math.floor(number + 0.5)",
        "math.clamp": "math.max(low, math.min(number, high))",
    ]

    /// Methods of texts in other languages, with their replacements in Lua.
    private static let otherTextMethods: [String: String] = [
        "split": "for part in text:gmatch(\"[^,]+\") do ... end", "trim": "text:match(\"^%s*(.-)%s*$\")",
        "strip": "text:match(\"^%s*(.-)%s*$\")", "starts_with": "text:sub(1, #prefix) == prefix",
        "startswith": "text:sub(1, #prefix) == prefix", "ends_with": "text:sub(-#suffix) == suffix",
        "endswith": "text:sub(-#suffix) == suffix", "contains": "text:find(part, 1, true)",
        "replace": "text:gsub(pattern, replacement)",
        "to_upper": "text:upper()", "to_lower": "text:lower()", "substring": "text:sub(first, last)",
        "substr": "text:sub(first, last)",
    ]

    /// Returns the replacement for a function of another language's library, such as `table.map`; nil if none is known.
    package static func replacement(forMember member: String, of library: String) -> String? {
        otherMembers["\(library).\(member)"] ?? (library == "string" ? otherTextMethods[member] : nil)
    }

    /// Returns the help text for a list in place of a named value, as in `IN :ids`, and for a method of texts in other languages, as in
    /// `attempt to call a nil value (method 'split')`.
    private static func otherFormHelp(for message: String) -> String? {
        if let help = syntaxHelp(for: message) ?? indexHelp(for: message) { return help }
        if message.hasPrefix("misuse of aliased window function ") {
            return "use the expression itself in place of its name, as in filter(expression:le(2))"
        }
        if message.wholeMatch(of: /near "[:@$]\w+": syntax error/) != nil { return messageHelp["near \"?\": syntax error"] }
        guard let match = message.wholeMatch(of: /attempt to call a nil value \(method '(\w+)'\)/),
            let use = otherTextMethods[String(match.1)]
        else { return nil }
        return "texts have no method `\(match.1)`; use \(use)"
    }

    /// Returns the help text for an operator of another language, as in `'then' expected near '!'`.
    private static func syntaxHelp(for message: String) -> String? {
        let isSyntax =
            message.hasPrefix("syntax error near ") || message.contains(" expected near ")
            || message.hasPrefix("unexpected symbol near ")
        guard isSyntax else { return nil }
        if message.hasSuffix(" near '!'") { return "`~=` is Lua's operator for not equal, and `not` negates a condition" }
        if message.hasSuffix(" near '+'") || message.hasSuffix(" near '-'") && message.hasPrefix("syntax error") {
            return "Lua has neither `++` nor `+=`; use name = name + 1"
        }
        if message.hasSuffix(" near '?'") { return "use `condition and first or second`" }
        if message.hasSuffix(" near '&'") || message.hasSuffix(" near '|'") { return "use `and` and `or` for conditions" }
        return nil
    }

    /// Returns the help text for an element of a list that does not exist, for a field of a text, for a column of a table that a statement
    /// does not read, and for a list of rows that is joined like a list of texts.
    private static func indexHelp(for message: String) -> String? {
        if message == "attempt to index a nil value (field 'integer index')"
            || message == "attempt to index a nil value (field '?')"
        {
            return "the element does not exist; the first element of a list is list[1], the last list[#list]"
        }
        if message.prefixMatch(of: /attempt to index a string value/) != nil {
            return
                "the fields of a text cannot be set; if it holds JSON, use the class option types = { column = \"json\" }, with which records "
                + "have the decoded document as their field"
        }
        if message.wholeMatch(of: /invalid value \((?:table|row|userdata)\) at index \d+ in table for 'concat'/) != nil {
            return "rows are not texts; db:fetch_values(sql, ...) and request:pluck(\"column\") return lists of values"
        }
        if let match = message.wholeMatch(of: /no such column: (\w+)\.(\w+)/) {
            return
                "a statement reads columns of `\(match.1)` after joining it: joining_required(Class.association) in requests, JOIN in SQL"
        }
        return nil
    }

    /// Returns the replacement for a global of another library, from a message such as `attempt to call a nil value (global 'describe')`.
    private static func otherGlobal(in message: String) -> String? {
        if let match = message.wholeMatch(of: /attempt to index a nil value \(global '(\w+)'\)/) {
            return otherLibraries[String(match.1)] ?? otherModules[String(match.1)]
        }
        guard let match = message.wholeMatch(of: /attempt to call a nil value \(global '(\w+)'\)/) else { return nil }
        return otherGlobals[String(match.1)]
    }

    /// Returns the existing name that is nearest to the name in a message such as `attempt to call a nil value (global 'prnt')`.
    ///
    /// - Parameter line: The source line, if known. It determines whether an unknown method is called on a string literal.
    package static func suggestion(for message: String, in line: String? = nil) -> String? {
        if let method = message.wholeMatch(of: /attempt to call a nil value \(method '([^']*)'\)/),
            line?.contains(/["']\):/) == true
        {
            return nearestName(to: String(method.1), among: strings)
        }
        guard let match = message.wholeMatch(of: /attempt to (?:call|index) a nil value \(global '([^']*)'\)/) else { return nil }
        if otherGlobal(in: message) != nil { return nil }
        return nearestName(to: String(match.1), among: globals)
    }

    /// The functions in Lua's `string` library, which are methods of strings.
    private static let strings = [
        "byte", "char", "dump", "find", "format", "gmatch", "gsub", "len", "lower", "match", "pack", "packsize", "rep", "reverse",
        "sub", "unpack",
        "upper",
    ]

    /// The names of functions that the sandbox removes, in the form in which Lua's messages contain them.
    private static let namesTakenAway = [
        "(global 'io')", "(global 'package')", "(global 'dofile')", "(global 'loadfile')",
        "(field 'execute')", "(field 'exit')", "(field 'getenv')", "(field 'remove')", "(field 'rename')", "(field 'tmpname')",
    ]

    /// Returns whether a message concerns a function that the sandbox removes.
    package static func isTakenAway(_ message: String) -> Bool { namesTakenAway.contains(where: message.contains) }

    /// The methods of rows, which a column with the same name hides.
    private static let rowMethods: Set = [
        "boolean", "columns", "copy", "date", "date_components", "float", "get", "has", "integer", "pairs", "require",
        "storage_class", "string", "to_table", "unpack", "values",
    ]

    /// The methods of records. A column with the same name hides the method.
    private static let recordMethods: Set = [
        "changes", "copy", "delete", "delete_forever", "exists", "has_changes", "history", "included", "insert", "inserted",
        "invalid",
        "preload", "refresh", "restore", "save", "update", "update_changes", "upsert", "validation_errors",
    ]

    /// The replacements for libraries that are only globals in other Lua hosts. Modules are globals there, too.
    private static let otherLibraries: [String: String] = [
        "ngx": "perilune.after(delay, f), perilune.log and functions of the host in place of `ngx`", "jit": "plain Lua 5.4",
        "ffi": "perilune.blob and string.pack", "lfs": "io.open(path)", "socket": "functions of the host",
    ]

    /// Methods that scripts call on plain lists by mistake: methods of lists in other languages and libraries, and methods of requests.
    private static let listMethods: Set = [
        "all", "append", "average", "clear", "count", "delete_all", "each", "extend", "fetch_all", "fetch_count", "fetch_one",
        "filter",
        "find", "first", "for_each", "group", "includes", "index_of", "insert", "is_empty", "join", "last", "length", "limit",
        "map", "order", "pluck", "pop",
        "push",
        "reduce", "remove", "rows", "select", "size", "slice", "sort", "sort_by", "sum", "to_json", "update_all", "where",
    ]

    /// Returns the help text for a method call on a plain list.
    private static func listHelp(for message: String) -> String? {
        guard let match = message.wholeMatch(of: /attempt to call a nil value \(method '(\w+)'\)/),
            listMethods.contains(String(match.1))
        else { return nil }
        return
            "lists are plain tables without methods; use ipairs(list), #list and the library `table`, or a method of the request: "
            + "Class:filter{ ... }"
    }

    /// Returns the help text for a call of a hook on its class, as in `attempt to call a boolean value (method 'will_save')`. A class has
    /// `false` for a hook that it does not define.
    private static func hookHelp(for message: String) -> String? {
        let call = /attempt to call a boolean value \((?:method|field) '((?:will|did|around)_\w+|validate)'\)/
        guard let match = message.wholeMatch(of: call) else { return nil }
        return "a hook is defined as a method of the class: function Class:\(match.1)(...) ... end"
    }

    /// Returns the help text for a name of another library, for `assert.equal`, or for a column that hides a row method, as in `attempt to
    /// call a string value (method 'date')`.
    package static func help(for message: String) -> String? {
        if let use = otherGlobal(in: message) { return "use \(use)" }
        if let help = messageHelp[message] ?? otherFormHelp(for: message) ?? listHelp(for: message) ?? hookHelp(for: message) {
            return help
        }
        if message == "attempt to index a function value (global 'assert')" {
            return "use assert(a == b), or expect(a):equals(b) in a scenario"
        }
        if let match = message.prefixMatch(of: /(?:require: )?module [`']([^'`]+)['`] not found/),
            let use = otherModules[String(match.1)] ?? otherModules[String(match.1.prefix { $0 != "." })]
        {
            return "use \(use)"
        }
        if let match = message.wholeMatch(of: /no such function: (\w+)/),
            let help = messageHelp["no such function: \(match.1.uppercased())"]
        {
            return help
        }
        guard let match = message.wholeMatch(of: /attempt to call a (?:string|number|boolean) value \(method '(\w+)'\)/) else {
            return nil
        }
        let isOfRows = rowMethods.contains(String(match.1)), isOfRecords = recordMethods.contains(String(match.1))
        if isOfRows && isOfRecords {
            return "a column `\(match.1)` hides the method; use perilune.row.\(match.1)(row), or Class.\(match.1)(record)"
        }
        if isOfRows { return "a column `\(match.1)` of a row hides the method; use perilune.row.\(match.1)(row, ...)" }
        return isOfRecords ? "a column `\(match.1)` of a record hides the method; use Class.\(match.1)(record, ...)" : nil
    }
}
