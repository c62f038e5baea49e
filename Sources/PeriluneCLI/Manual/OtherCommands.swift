/// Names of commands in other programs, mapped to the commands of Perilune.
enum OtherCommands {
    /// Returns a suggestion for a command of another program, such as `repl`, or for a subcommand, such as `automations logs`.
    static func replacement(for name: String) -> String? {
        commands[name].map { "use `perilune \($0)`" } ?? missingCommands[name]
    }

    private static let commands = [
        "eval": "run -e CODE", "exec": "run FILE", "execute": "run FILE", "start": "run FILE` or `perilune automations run FILE",
        "serve": "automations run FILE", "server": "automations run FILE", "repl": "console", "shell": "console",
        "sql": "query SQL",
        "select": "query SQL", "export": "query SQL --output FILE` or `perilune dump",
        "backup": "dump` or `perilune query \"VACUUM INTO 'copy.sqlite'\" --write", "tables": "schema",
        "describe": "schema TABLE", "generate": "migrate new NAME", "new": "init FOLDER", "create": "init FOLDER",
        "cron": "automations run FILE", "worker": "automations run FILE",
        "jobs": "automations status` or `perilune query 'SELECT * FROM perilune_job'",
        "queue": "automations status` or `perilune query 'SELECT * FROM perilune_job'",
        "status": "automations status` or `perilune migrate --status", "logs": "automations trace", "log": "automations trace",
        "plan": "run --preview --save PLAN FILE` or `perilune migrate --preview", "up": "migrate", "down": "migrate --down",
        "undo": "apply PLAN --undo` or `perilune migrate --down", "vacuum": "query VACUUM --write",
        "insert": "query SQL --write", "update": "query SQL --write", "delete": "query SQL --write",
        "copy": "query \"VACUUM INTO 'copy.sqlite'\" --write", "preview": "run --preview FILE",
        "work": "automations run FILE",
        "config": "settings", "env": "settings", "info": "doctor", "check": "doctor", "spec": "test",
        "docs": "help topics", "doc": "help topics", "documentation": "help topics",
        "man": "help topics` or `perilune manual FOLDER",
        "explain": "query 'EXPLAIN QUERY PLAN ...'",
        "automations start": "automations run FILE", "automations log": "automations trace",
        "automations logs": "automations trace", "automations history": "automations trace",
        "automations retry": "automations run FILE NAME", "automations rerun": "automations run FILE NAME",
        "automations trigger": "automations run FILE NAME", "automations fire": "automations run FILE NAME",
        "automations signal": "run --database FILE -e 'perilune.signal(AUTOMATION, KEY, NAME)'",
        "automations jobs": "automations status", "automations dry-run": "automations preview",
        "rollback": "migrate --down", "load": "import FILE --table NAME", "plot": "chart",
    ]

    private static let comparing =
        "for what a script would change, use `perilune run --preview FILE`; to compare two databases, compare their dumps: "
        + "`perilune dump --database FILE > FILE.sql` for each, then diff"

    /// Sentences on commands without a replacement.
    private static let missingCommands = [
        "stop": "press Ctrl-C, or send SIGTERM to the process of the service",
        "diff": comparing, "compare": comparing,
        "automations stop": "press Ctrl-C, or send SIGTERM to the process of the service",
        "automations emit":
            "use `perilune run --database FILE -e 'perilune.emit(NAME)'` for durable automations; "
            + "others receive only the events of their own process, and `perilune automations run FILE NAME` runs them now",
        "automations disable": disabling, "automations pause": disabling,
        "automations enable": enabling, "automations resume": enabling,
        "automations reload": "a running service reloads its file when it changes",
    ]

    private static let disabling = "set `enabled = false` in the definition of the automation; a running service reloads its file"
    private static let enabling =
        "remove `enabled = false` from the definition of the automation; a running service reloads its file"
}
