--- Subjects that have help but are not names in Lua: `perilune help transactions`.
--
-- Each topic has its names, a title, paragraphs, an example, and the functions, classes and pages to show below it. `commands` are
-- sentences about the command line.

return {
  {
    names = { "transactions", "transaction", "block", "blocks", "begin", "commit", "rollback" },
    title = "Transactions",
    text = {
      "A block runs a function in one transaction. It commits when the function returns, and rolls back if it raises an error. SQL cannot begin or end a transaction.",
      "Each statement outside a block is a transaction of its own. Inside another block that writes, a block is a savepoint.",
    },
    example = "db:write(function(db)\n  db:execute(\"UPDATE book SET is_read = TRUE\")\n  db:execute(\"DELETE FROM tag\")\nend)",
    see = { "db:write", "db:read", "db:in_transaction", "db:in_savepoint", "db:write_without_transaction", "db:after_next_transaction" },
    commands = { "The console has BEGIN, COMMIT and ROLLBACK." },
  },
  {
    names = { "kinds", "error kinds" },
    title = "Kinds of errors",
    text = {
      "An error is an object. Its field `kind` is one of the words below; programs decide on it. `message` is for people.",
      "`perilune help KIND` explains one of them.",
    },
    example = "local ok, err = pcall(Author.insert, Author, { name = \"Jules Verne\" })\nif not ok and err.kind == \"constraint_unique\" then print(err.columns[1]) end",
    see = {},
    alias = "perilune.error_kind",
  },
  {
    names = { "limits", "timeout", "memory limit", "time limit" },
    title = "Limits",
    text = {
      "A limit bounds the time, memory or disk that one run of a script may use. A script cannot catch it: the run ends, open transactions are rolled back, and the command exits with status 5.",
      "Each callback of a timer, and each run of an automation, has the whole limit. Limits alone do not restrict what a script may reach; `--sandbox` does.",
    },
    example = "perilune run --sandbox --timeout 2s --memory 64M --disk 1G untrusted.lua",
    see = {},
    commands = { "`perilune help run` explains the options. `[limits]` in perilune.toml sets them for a project." },
  },
  {
    names = { "sandbox", "untrusted", "security" },
    title = "The sandbox",
    text = {
      "With `--sandbox`, a script has its database and nothing else: no files, no programs, no network, no native code. It runs in a process of its own.",
      "Functions that are not granted are nil, and SQL that reaches files raises an error of kind `forbidden`.",
    },
    example = "perilune run --sandbox --timeout 2s --memory 64M untrusted.lua",
    see = {},
    commands = { "`perilune doctor` lists what the system can take from the process." },
  },
  {
    names = { "previews", "preview", "plan", "plans" },
    title = "Previews and plans",
    text = {
      "A preview runs a script on a private copy of the database, and reports what it would change. A plan keeps these changes; `apply` makes exactly them, or none if a row has changed since.",
    },
    example = "perilune run close.lua --database shop.sqlite --preview --save close.plan\nperilune apply close.plan\nperilune apply close.plan --undo",
    see = {},
    commands = { "`perilune migrate --preview`, `perilune automations preview` and `perilune console --preview` preview other changes." },
  },
  {
    names = { "waiting", "wait", "await", "async" },
    title = "Waiting",
    text = {
      "A function that waits is called like any other. Other tasks run in the meantime.",
      "A script cannot wait inside a database block, in a comparison of `table.sort`, or in an SQL function: it raises an error of kind `yield`. Fetch first, wait, then write.",
    },
    see = { "perilune.sleep", "perilune.spawn", "task:wait", "observation:next" },
  },
  {
    names = { "null", "nil" },
    title = "NULL",
    text = {
      "NULL in a row or a record is nil. To write NULL in a table or a list, where nil would end or omit the field, use `perilune.null`.",
      "In a condition, `{ country = perilune.null }` and `Author.c.country:is_null()` match NULL.",
    },
    example = "Author:insert{ name = \"Ada\", country = perilune.null }\nprint(Author:filter{ country = perilune.null }:fetch_count())",
    see = { "column:is_null", "column:is_not_null", "row:has" },
  },
  {
    names = { "conditions", "where", "operators", "comparisons" },
    title = "Conditions",
    text = {
      "A condition is a table of columns and values, an expression, or SQL text with arguments. Combine expressions with `&`, `|` and `~`.",
      "Lua's `==`, `<`, `and`, `or` and `not` cannot make conditions. Write `:eq(v)`, `:lt(v)`, `&`, `|`, `~`.",
    },
    example = "Book:filter{ author_id = 1, year = { 1846, 1851 } }\nBook:filter(Book.c.year:lt(1850) | Book.c.pages:is_null())\nBook:filter(\"length(title) > ?\", 10)",
    see = {
      "request:filter", "request:filter_given", "column:eq", "column:lt", "column:between", "column:is_in", "column:like", "column:contains",
    },
  },
  {
    names = { "arguments", "parameters", "placeholders" },
    title = "Arguments of SQL",
    text = {
      "Pass one argument for each `?`, or one table with a value for each `:name`. Too few, too many and unknown names are errors. Never put a value into the SQL text.",
    },
    example = "db:fetch_all(\"SELECT * FROM book WHERE year > ? AND pages < ?\", 1800, 400)\ndb:fetch_all(\"SELECT * FROM book WHERE year > :year\", { year = 1800 })",
    see = { "db:fetch_all", "db:execute", "db:prepare" },
  },
  {
    names = { "joins", "join", "related" },
    title = "Related records",
    text = { "An association relates two classes. `including_...` fetches related records, `joining_...` uses them in conditions." },
    example = "Author.books = Author:has_many(Book)\nfor _, author in ipairs(Author:including_all(Author.books):fetch_all()) do\n  print(author.name, #author.books)\nend",
    see = {
      "Class:has_many", "Class:belongs_to", "request:including_all", "request:including_required", "request:including_optional",
      "request:joining_required", "request:join",
    },
  },
  {
    names = { "tests", "testing", "jest", "pytest", "busted", "mock", "mocks", "mocking" },
    title = "Testing scripts",
    text = { "A scenario is a test in Lua, in a file NAME_scenario.lua. It has a migrated database of its own, a frozen clock and repeatable random numbers." },
    example = "scenario(\"a customer is added once\", function(t)\n  t.run(\"scripts/add_customer.lua\", { name = \"Ada\" })\n  check(t.db:fetch_value(\"SELECT count(*) FROM customer\") == 1)\nend)",
    see = { "scenario", "check", "expect", "effects:stub", "scenarios", "expectations" },
    commands = { "`perilune test` runs the scenarios of a project; `perilune init` makes one." },
  },
  {
    names = { "text tables", "text table", "text_table", "text_tables" },
    title = "Text tables in scenarios",
    text = {
      "A text table has a heading with columns and a line for each row. `t.given` inserts its rows, and `rows`, `rows_any_order` and `has_rows` compare rows with it.",
      "A line of dashes below the heading, with at least three in each cell, is ignored: `|----|------|`. `--` at the start of a line begins a comment.",
      "`~` is NULL. `\"...\"` is text, whatever it contains. `now` is the time of the clock. `@name` is the value that it first matched.",
      "Only in comparisons: `*` is any value except NULL, `...` at the end ignores the rest of a row, `a -> b` is a change. An empty cell is a column that an update has not changed, or that the table of a change does not have. In `t.given`, it means the default of the column.",
      "`t.given` stores quoted text as written, even in a date column; a date without quotes is stored in the form of records, `2026-03-31 18:00:00.000`.",
      "A cell without quotes matches text, a number, a boolean or a date that is written like this. A cell with `|` needs quotes: `\"a|b\"`. `| 1 | ... |` checks only the first column.",
    },
    example = "t.given.customer [[\n  | id | name | email |\n  | 1  | Ada  | ~     |\n]]\nexpect(t.db.customer):rows [[\n  | id | name | email |\n  | 1  | Ada  | ~     |\n]]",
    see = { "expectation:rows", "expectation:rows_any_order", "expectation:has_rows" },
  },
  {
    names = { "exit statuses", "exit status", "exit-status", "exit codes", "exit code", "exit-codes", "exit-code", "exit", "status codes" },
    title = "Exit statuses of the command",
    text = {
      "0: success. 1: the script, the query or a row failed, or `--check` found something wrong. 2: with `--check`, something is pending. 4: no test was found.",
      "5: a limit was exceeded. 64: the command line is wrong. 65: a file has the wrong format, or a script does not parse. 70: the test runner failed.",
      "74: a file cannot be used. 75: another process holds a lock. 78: perilune.toml is wrong. 130: Ctrl-C. A script ends with its own status through `os.exit`.",
    },
    example = "perilune migrate --check --database shop.sqlite || echo \"status $?\"",
    see = {},
    commands = { "`perilune help run`, and the help of each other command, lists its statuses." },
  },
  {
    names = { "perilune.toml", "settings file", "toml", "configuration" },
    title = "The settings of a project",
    text = {
      "perilune.toml in the folder of a project, or in a folder above the current one, sets defaults for options. Options and environment variables take precedence.",
    },
    example = "database = \"shop.sqlite\"\n\n[limits]\ntimeout = \"20s\"",
    see = {},
    commands = { "`perilune settings` lists all settings, their values and sources." },
  },
  {
    names = { "backup", "backups" },
    title = "Backups",
    text = { "Do not copy the file of a live database. Write a compact copy, or SQL, while others read and write." },
    example = "perilune query \"VACUUM INTO 'backup.sqlite'\" --write --database shop.sqlite\nperilune dump --database shop.sqlite | gzip > shop.sql.gz",
    see = { "db:backup_to" },
    commands = { "`perilune restore` makes a database from a dump." },
  },
  {
    names = { "cron", "schedules", "services" },
    title = "Schedules and services",
    text = { "An automation runs a function on a schedule, on an event or on a change of data. A service runs the automations of a file." },
    example = "perilune.automation{\n  name = \"report\", on = { schedule = \"@daily\" },\n  run = function() print(\"ran\") end,\n}",
    see = { "perilune.automation", "perilune.schedule" },
    commands = { "`perilune automations run FILE` is the service, `perilune automations status` looks at it." },
  },
}
