/// Names of commands and options in other programs, mapped to the names in Perilune.
enum OtherNames {
    /// Returns a suggestion for a command name from another program, such as `repl`.
    static func command(_ name: String) -> String? {
        commands[name].map { "use `perilune \($0)`" }
    }

    /// Returns the end of the error message for an option from another program, such as `--db`; `nil` if no option here has its purpose.
    static func option(_ name: String, of command: String?) -> String? {
        guard let use = command.flatMap({ options["\($0) \(name)"] }) ?? options[name] else { return nil }
        return ". Use '\(use)'"
    }

    private static let commands = [
        "eval": "run -e CODE", "exec": "run FILE", "execute": "run FILE", "start": "run FILE` or `perilune automations run FILE",
        "serve": "automations run FILE", "server": "automations run FILE", "repl": "console", "shell": "console",
        "sql": "query SQL",
        "select": "query SQL", "export": "query SQL --output FILE` or `perilune dump", "backup": "dump", "tables": "schema",
        "describe": "schema TABLE", "generate": "migrate new NAME", "new": "init FOLDER", "create": "init FOLDER",
        "cron": "automations run FILE", "jobs": "automations run FILE", "worker": "automations run FILE",
        "work": "automations run FILE",
        "config": "settings", "env": "settings", "info": "doctor", "check": "doctor", "spec": "test",
        "explain": "query 'EXPLAIN QUERY PLAN ...'",
        "rollback": "migrate --down", "diff": "run --preview FILE", "load": "import FILE --table NAME", "plot": "chart",
    ]

    /// Options of other programs. Some entries apply only to one command.
    private static let options = [
        "--db": "--database", "-d": "--database", "--data": "--database", "-c": "-e", "--eval": "-e", "--execute": "-e",
        "--readonly-mode": "--readonly", "--read-only": "--readonly", "--dry-run": "--preview", "--file": "FILE",
        "--csv": "--format csv", "--json": "--format json", "--tsv": "--format tsv", "--markdown": "--format markdown",
        "-o": "--output",
        "-f": "--format", "--param": "-p", "--params": "-p", "--bind": "-p", "import --delimiter": "--separator", "-t": "--table",
        "import --replace": "--upsert", "import --no-headers": "--no-header", "migrate --rollback": "--down",
        "migrate --undo": "--down",
        "migrate --target": "--to", "migrate --version": "--to", "test --grep": "--filter", "test -k": "--filter",
        "test --only": "--filter",
        "test --name": "--filter", "test --pattern": "--filter", "test --parallel": "--jobs", "test --workers": "--jobs",
        "test --reporter": "--report", "test --cov": "--coverage", "test --fail-fast": "--bail", "test -x": "--bail",
        "test --exclude": "--skip", "test --shuffle": "--order random", "test --update": "--update-snapshots",
        "-u": "--update-snapshots",
        "test --last-failed": "--failed", "test --lf": "--failed",
    ]
}
