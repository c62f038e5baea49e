/// The help texts of the console command `:help`.
enum ConsoleHelp {
    static let topics = topicTexts.map(\.name)

    static let overview = """
        Enter Lua, SQL, or a command. The value of a Lua expression is printed. Input that begins with an SQL keyword is SQL; in it,
        :name is the value of the Lua variable `name`. Each table has a record class: Customer:filter{ Country = "Brazil" }.
        `_` holds the last value; if there were several, `_1`, `_2`, ... hold them. Local variables last until the console ends.

        """.paragraphs

    private static let topicTexts: [(name: String, text: String)] = [
        (
            "keys",
            """
            Enter            run a complete statement, or start a new line
            Alt-Enter        start a new line; also Ctrl-J
            Tab              complete; again for the next name, Shift-Tab for the previous one, Esc to cancel
            Up, Down         previous or next line, then the history; Ctrl-P and Ctrl-N go to the history at once
            Ctrl-R           search the history; again for the next match, Esc to edit it, Ctrl-G to cancel
            Ctrl-A, Ctrl-E   start or end of the line; Alt-< and Alt-> of the whole input
            Alt-B, Alt-F     previous or next word; also Ctrl-Left, Ctrl-Right
            Ctrl-K, Ctrl-U   delete to the end or the start of the line; Ctrl-W, Alt-D a word
            Ctrl-Y           paste deleted text; Ctrl-_ undoes, Ctrl-T swaps two characters
            Ctrl-C           discard the input, or stop the running statement
            Ctrl-L, Ctrl-D   clear the screen; quit
            """
        ),
        (
            "sql",
            """
            SELECT * FROM Customer WHERE Country = :country
            :country is the value of the Lua variable `country`.

            Enter runs a complete statement; a semicolon or an empty line always ends
            it. UPDATE and DELETE without WHERE require the semicolon. They, DROP, and
            ALTER TABLE ... DROP COLUMN ask for confirmation, unless this is a preview
            or a transaction is open.

            BEGIN            opens a transaction; the prompt shows it, and Lua runs in it
            COMMIT           keeps what was changed; ROLLBACK undoes it
            SAVEPOINT a      begins a part that ROLLBACK TO a undoes and RELEASE a keeps

            Quitting asks, and rolls back. Without a terminal, the first error ends the
            console and rolls back an open transaction, unless --no-bail was given. The
            end of the input rolls it back as well, with status 1.
            """
        ),
        (
            "filter",
            """
            Customer:filter{ Country = "Brazil" }                          columns and values
            Customer:filter(Customer.c.CustomerId:gt(10))                  expressions: eq ne lt le gt ge is between like is_in is_null
            Customer:filter("length(City) > ?", 5)                         SQL with arguments
            A request shows its SQL and its first rows; :fetch_all(), :fetch_one(), :fetch_count() fetch.
            """
        ),
        (
            "requests",
            """
            filter order limit offset select distinct group having reversed        derive a request
            fetch_all fetch_one find fetch_count pluck sum min max average rows    fetch
            including_all including_optional including_required                    fetch associated records too
            update_all delete_all                                                  change all rows of a request
            sql() explain()                                                        show the SQL and its query plan
            """
        ),
        (
            "records",
            """
            c = Customer:find(1)          the record with this key
            c.City = "Rio" c:update()     updates its row
            Genre{ Name = "Tango" }:insert()
            c:delete()                    deletes its row
            """
        ),
        (
            "db",
            """
            db:fetch_all(sql, ...)    rows as tables         db:fetch_value(sql, ...)    one value
            db:execute(sql, ...)      runs statements        db:write(function(db) ... end)    all or nothing
            db:tables() db:columns(t) db:indexes(t) db:foreign_keys(t) db:explain(sql)
            """
        ),
        (
            "preview",
            """
            :preview    switch to a private copy of the database, without locking the file
            :changes    show the changes made in the copy
            :apply      apply exactly these changes to the file, or none if a row has changed since
            :discard    drop the changes, and make a new copy
            :live       return to the database itself
            """
        ),
    ]

    /// Returns the help text of a topic or console command; `nil` if the name is unknown.
    static func text(_ topic: String, _ colors: Colors) -> String? {
        if topic.isEmpty { return overview + commands(colors) + topicsLine(colors) }
        let name = topic.hasPrefix(":") ? String(topic.dropFirst()) : topic
        if let text = topicTexts.first(where: { $0.name == name })?.text { return text + "\n" }
        guard let command = ConsoleCommands.list.first(where: { $0.name == name }) else { return nil }
        return line(command, colors)
    }

    private static func commands(_ colors: Colors) -> String {
        ConsoleCommands.list.map { line($0, colors) }.joined()
    }

    private static func line(_ command: ConsoleCommands.Command, _ colors: Colors) -> String {
        let name = ":" + command.name + (command.argument.isEmpty ? "" : " " + command.argument)
        let padding = String(repeating: " ", count: max(1, 20 - name.count))
        return "  " + colors.cyan(name) + padding + command.summary + "\n"
    }

    private static func topicsLine(_ colors: Colors) -> String {
        "\n" + colors.dim("more: :help " + topics.joined(separator: ", :help ")) + "\n"
    }
}

/// The list of console commands.
enum ConsoleCommands {
    struct Command {
        let name: String
        let argument: String
        let summary: String
    }

    static let list = [
        Command(name: "help", argument: "[NAME]", summary: "show this help, or the reference for a name"),
        Command(name: "schema", argument: "[TABLE]", summary: "list the tables, or show the SQL of one"),
        Command(name: "models", argument: "", summary: "list the record classes and their associations"),
        Command(name: "plan", argument: "STATEMENT", summary: "show the query plan of a statement or a request"),
        Command(name: "last", argument: "", summary: "show the last value again, in full"),
        Command(name: "save", argument: "FILE [SQL]", summary: "write the last value, or rows, to a file: .csv, .json, ..."),
        Command(name: "chart", argument: "[SELECT]", summary: "draw the last value, or the rows of a statement"),
        Command(name: "read", argument: "FILE", summary: "run a file of SQL and Lua; stop at its first error"),
        Command(name: "import", argument: "FILE [TABLE]", summary: "import CSV, TSV or JSON; create the table if needed"),
        Command(name: "edit", argument: "[STATEMENT]", summary: "change the last statement in $EDITOR, and run it"),
        Command(name: "watch", argument: "[TIME] SELECT", summary: "show the rows every 2s until Ctrl-C"),
        Command(name: "timing", argument: "[on|off]", summary: "show the duration of each statement"),
        Command(name: "reload", argument: "", summary: "reload the required modules"),
        Command(name: "preview", argument: "", summary: "switch to a private copy of the database"),
        Command(name: "changes", argument: "", summary: "show the changes made in the copy"),
        Command(name: "apply", argument: "", summary: "apply these changes to the database"),
        Command(name: "discard", argument: "", summary: "drop these changes, and make a new copy"),
        Command(name: "live", argument: "", summary: "return from the copy to the database"),
        Command(name: "quit", argument: "", summary: "quit; also Ctrl-D"),
    ]
}
