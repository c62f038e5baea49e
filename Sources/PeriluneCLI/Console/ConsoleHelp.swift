/// What `:help` says.
enum ConsoleHelp {
    static let topics = topicTexts.map(\.name)

    static let overview = """
        Type Lua, SQL, or a command. Lua: an expression shows its value, anything else is run. What begins with a word of SQL is SQL;
        :name in it is the value of the Lua variable `name`. Each table is a record class: Customer:filter{ Country = "Brazil" }.
        `_` is the last value, `_1`, `_2`, ... all that it consisted of. Variables that a line calls local stay.

        """

    private static let topicTexts: [(name: String, text: String)] = [
        (
            "keys",
            """
            Enter            runs a whole statement, else begins a line
            Alt-Enter        begins a line; so does Ctrl-J
            Tab              completes; again goes through the names, Shift-Tab back, Esc leaves
            Up, Down         a line up or down, then through the history; Ctrl-P and Ctrl-N at once
            Ctrl-R           searches the history; again goes on, Esc edits what was found, Ctrl-G leaves
            Ctrl-A, Ctrl-E   start and end of the line; Alt-< and Alt-> of the whole
            Alt-B, Alt-F     a word back, a word forth; Ctrl-Left, Ctrl-Right
            Ctrl-K, Ctrl-U   removes to the end, to the start of the line; Ctrl-W, Alt-D a word
            Ctrl-Y           puts back what was removed; Ctrl-_ undoes; Ctrl-T exchanges two letters
            Ctrl-C           drops the line, or ends the statement that runs
            Ctrl-L, Ctrl-D   clears the screen; ends the console
            """
        ),
        (
            "sql",
            """
            SELECT * FROM Customer WHERE Country = :country     :country is the Lua variable `country`
            A statement ends with Enter where it is whole; a semicolon or an empty line always ends it. UPDATE and DELETE without WHERE
            need the semicolon, and ask before they change a database itself.
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
            including_all including_optional including_required                    bring associated records along
            update_all delete_all                                                 change all rows of a request
            sql() explain()                                                       show how
            """
        ),
        (
            "records",
            """
            c = Customer:find(1)          the record of a key
            c.City = "Rio" c:update()     changes its row
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
            :preview    goes on with a private copy of the database; nothing holds a lock on the file meanwhile
            :changes    shows what the copy has changed
            :apply      makes exactly that in the file, or nothing where a row is not as it was
            :discard    forgets it, and copies anew
            :live       goes back to the database itself
            """
        ),
    ]

    /// The text for a topic or a command; `nil` if there is none.
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

/// The commands of the console.
enum ConsoleCommands {
    struct Command {
        let name: String
        let argument: String
        let summary: String
    }

    static let list = [
        Command(name: "help", argument: "[NAME]", summary: "shows this, or what is known of a name"),
        Command(name: "schema", argument: "[TABLE]", summary: "lists the tables, or shows how one was made"),
        Command(name: "models", argument: "", summary: "lists the record classes and their associations"),
        Command(name: "plan", argument: "STATEMENT", summary: "shows how SQLite would run a statement or a request"),
        Command(name: "last", argument: "", summary: "shows the last value again, all of it"),
        Command(name: "timing", argument: "[on|off]", summary: "says how long statements take"),
        Command(name: "reload", argument: "", summary: "loads the modules again that were required"),
        Command(name: "preview", argument: "", summary: "goes on with a private copy of the database"),
        Command(name: "changes", argument: "", summary: "shows what has changed in the copy"),
        Command(name: "apply", argument: "", summary: "makes these changes in the database itself"),
        Command(name: "discard", argument: "", summary: "forgets these changes"),
        Command(name: "live", argument: "", summary: "goes back from the copy to the database itself"),
        Command(name: "quit", argument: "", summary: "ends the console; so does Ctrl-D"),
    ]
}
