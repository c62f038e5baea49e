/// Names of options in other programs, mapped to the names in Perilune.
enum OtherNames {
    /// Returns a sentence on an option from another program that has no replacement; otherwise `nil`.
    static func missing(_ name: String, of command: String?) -> String? {
        command.flatMap { missingOptions["\($0) \(name)"] ?? missingOptions[name] }
    }

    /// Returns the replacement for an option from another program, such as `--db`; `nil` if Perilune has no such option.
    ///
    /// - Parameter command: The command; `nil` if the option takes its place, as in `perilune -e CODE`.
    static func option(_ name: String, of command: String?) -> String? {
        guard let command = command == "watch" ? "run" : command else {
            let own = options["run \(name)"] ?? options[name] ?? name
            return PeriluneCommand.has(own, command: "run") ? "perilune run \(own)" : nil
        }
        if let use = options["\(command) \(name)"] { return use }
        // The options of sqlite3 begin with one dash.
        let isWord = name.hasPrefix("-") && !name.hasPrefix("--") && name.count > 2
        guard let use = options[name] ?? (isWord ? options["-" + name] ?? "-" + name : nil) else { return nil }
        return PeriluneCommand.has(use, command: command) ? use : nil
    }

    /// Returns the first option that begins with one dash and has more than one letter, such as `-header`. The argument parser would treat
    /// each letter as an option, and show the help for the letter `h`.
    static func wordWithOneDash(in arguments: [String]) -> String? {
        zip(arguments, [""] + arguments).first { argument, previous in
            argument.wholeMatch(of: /-[A-Za-z][A-Za-z-]+/) != nil && !["-e", "-p", "--parameter"].contains(previous)
        }?.0
    }

    /// Sentences on options without a replacement.
    private static let missingOptions = [
        "query --no-header": noHeader, "query --no-headers": noHeader, "query --noheader": noHeader,
        "query --timeout": "A query has no time limit. Use 'timeout 1s perilune query'",
        "query --limit": limit, "chart --limit": limit,
        "query -c": statement, "query -e": statement, "query --sql": statement, "query --execute": statement,
        "query --command": statement, "chart --table": statement, "chart --sql": statement,
        "dump --table": table, "dump --tables": table, "dump -t": table,
        "run --arg": scriptArgument, "run --args": scriptArgument, "run --argument": scriptArgument,
        "run --param": scriptArgument,
        "run --modules": modules, "run --module-path": modules, "run --path": modules,
        "run --include": modules, "run -I": modules,
        "import --preview": trial, "import --dry-run": trial, "import --check": trial,
        "run --log-level": "'--verbose' adds details, and '--trace' shows the statements",
        "run --debug": "'--verbose' adds details, and '--trace' shows the statements",
        "console -p": parameters, "console --parameter": parameters, "console --param": parameters,
        "console -c": oneStatement, "console -e": oneStatement, "console --command": oneStatement, "console --eval": oneStatement,
        "console --execute": oneStatement, "dump --gzip": compressing, "dump --compress": compressing, "dump -z": compressing,
        "doctor --fix": repair, "doctor --repair": repair, "migrate --force": edited, "migrate --yes": edited,
        "migrate -y": edited,
        "doctor --quiet": verdicts, "doctor -q": verdicts, "doctor --compare": "Compare the dumps of two databases",
        "--config": settingsFile, "--settings": settingsFile,
        "run --busy-timeout": busyTimeout, "query --busy-timeout": busyTimeout, "import --busy-timeout": busyTimeout,
        "apply --preview": savedPlan, "apply --check": savedPlan, "apply --show": savedPlan, "apply --dry-run": savedPlan,
        "automations --save": "The preview of an automation cannot be saved as a plan",
        "migrate --down --all": "Use '--down' once for each migration, or '--to NAME' with the last one to keep",
        "test --retries": retrying, "test --retry": retrying, "test --reruns": retrying, "test --flaky": retrying,
        "test --min": coverageLimit, "test --coverage-min": coverageLimit, "test --cov-fail-under": coverageLimit,
        "test --min-coverage": coverageLimit, "test --coverage-threshold": coverageLimit, "test --fail-under": coverageLimit,
        "test --shard": shards, "test --shards": shards, "test --split": shards, "test --partition": shards,
        "restore --force": newDatabase, "restore --clean": newDatabase, "restore --drop": newDatabase,
    ]

    private static let noHeader = "The names of columns cannot be left out. Use '| tail -n +2'"
    private static let limit = "Write LIMIT in the statement"
    private static let statement = "The statement is an argument without an option: perilune query 'SELECT 1'"
    private static let table = "The table is an argument without an option: perilune dump NAME"
    private static let scriptArgument = "Arguments of the script come after its path: perilune run FILE ARGUMENT"
    private static let modules =
        "Modules are searched in the folder of the script and in the paths of LUA_PATH, as in LUA_PATH='lib/?.lua;;'"
    private static let trial = "Use 'perilune console --preview' with the command :import FILE TABLE"
    private static let parameters = "The parameter :name has the value of the Lua variable `name`. Enter name = VALUE first"
    private static let oneStatement = "Use 'perilune query SQL' for one statement, and 'perilune run -e CODE' for Lua"
    private static let compressing = "Use '| gzip > FILE.sql.gz'"
    private static let repair = "Nothing is changed. Each problem comes with a suggested fix"
    private static let edited = "Migrations run without a question. A file that was edited after being applied does not run again"
    private static let verdicts = "Findings cannot be left out. With '--format json' each has a verdict: ok, warning or fault"
    private static let settingsFile = "Settings are read from perilune.toml in the current folder, or its nearest parent"
    private static let busyTimeout = "Commands wait five seconds for a lock"
    private static let savedPlan = "A saved plan cannot be shown. Without '--yes', apply names the changes and asks"
    private static let retrying = "Scenarios have the option `retry`"
    private static let coverageLimit =
        "Coverage has no limit below which a run fails. '--coverage lcov:FILE' writes it for other programs"
    private static let shards = "A run cannot be split by an option. Name the files of each part"
    private static let newDatabase = "A dump of a whole database is restored into a new file"

    /// Options of other programs. Some entries apply only to one command.
    private static let options = [
        "--db": "--database", "-d": "--database", "--data": "--database", "run -c": "-e", "run --eval": "-e",
        "run --execute": "-e",
        "--readonly-mode": "--readonly", "--read-only": "--readonly", "--dry-run": "--preview", "--file": "FILE",
        "automations --dry-run": "perilune automations preview",
        "--csv": "--format csv", "--json": "--format json", "--tsv": "--format tsv", "--markdown": "--format markdown",
        "query -header": "--format csv", "query -headers": "--format csv", "query --header": "--format csv",
        "--html": "--format html", "--column": "--format table", "query --expanded": "--format line",
        "query --aligned": "--format table", "query --unaligned": "--format csv", "query --ndjson": "--format jsonl",
        "query --md": "--format markdown", "--box": "--format box", "--line": "--format line",
        "--tabs": "--format tsv", "--insert": "--format insert",
        "-o": "--output",
        "-f": "--format", "query -f": "- < FILE", "console -f": "< FILE", "console --file": "< FILE", "run -f": "FILE",
        "restore -f": "FILE", "migrate -n": "--dry-run", "--param": "-p", "--params": "-p", "--bind": "-p",
        "import --delimiter": "--separator", "-t": "--table",
        "import --pk": "--primary-key", "import --key": "--primary-key", "import --keys": "--primary-key",
        "import --into": "--table", "import --to": "--table", "query --arg": "-p", "query --args": "-p", "query --argument": "-p",
        "chart --arg": "-p",
        "query --create": "perilune console --create", "query --file": "- < FILE", "--mode": "--format",
        "apply --force": "--changed-columns-only", "restore --input": "FILE",
        "run --instructions": "--timeout",
        "automations --once": "perilune automations run FILE NAME", "automations --interval": "--poll",
        "automations -n": "--last",
        "import --replace": "--upsert", "import --on-conflict": "--upsert",
        "import --ignore": "--errors FILE", "import --skip-errors": "--errors FILE",
        "dump --format": "perilune query --output FILE",
        "schema --tables": "perilune schema", "schema --table": "perilune schema TABLE", "schema --sql": "--format sql",
        "import --no-headers": "--no-header", "migrate --rollback": "--down",
        "migrate --undo": "--down", "migrate --list": "--status", "migrate --info": "--status",
        "migrate --up": "perilune migrate", "migrate --latest": "perilune migrate",
        "migrate --all": "perilune migrate", "migrate --apply": "perilune migrate", "migrate --plan": "--preview",
        "migrate --redo": "--down", "migrate --steps": "--to NAME", "migrate --step": "--to NAME",
        "migrate --new": "perilune migrate new NAME", "migrate --create": "perilune migrate new NAME", "run --plan": "--save",
        "migrate --target": "--to", "migrate --version": "--to", "test --grep": "--filter", "test -k": "--filter",
        "test --only": "--filter",
        "test --name": "--filter", "test --pattern": "--filter", "test --parallel": "--jobs", "test --workers": "--jobs",
        "test --reporter": "--report", "test --cov": "--coverage", "test --fail-fast": "--bail", "test -x": "--bail",
        "test --exclude": "--skip", "test --shuffle": "--order random", "test --update": "--update-snapshots",
        "-u": "--update-snapshots",
        "test --last-failed": "--failed", "test --lf": "--failed",
        "test --junitxml": "--report junit:FILE", "test --junit-xml": "--report junit:FILE",
        "test --junit": "--report junit:FILE",
        "test --format": "--report FORMAT", "test --output": "--report FORMAT:FILE", "test -o": "--report FORMAT:FILE",
        "test --maxfail": "--bail", "test --max-fail": "--bail", "test --collect-only": "--list", "test --dry-run": "--list",
        "test --accept": "--update-snapshots", "test --snapshot-update": "--update-snapshots", "test -n": "--jobs",
        "test -q": "--report dots", "test --quiet": "--report dots", "test --debug": "--verbose", "test --trace": "--verbose",
        "test -s": "--verbose", "test --runs": "--stress", "test --iterations": "--stress", "test --count": "--stress",
        "test --num-runs": "--stress", "test --times": "--repeat", "test --only-tag": "--tag", "test --tags": "--tag",
        "test --skip-tags": "--skip-tag", "test --exclude-tag": "--skip-tag", "test --exclude-tags": "--skip-tag",
        "test --not-tag": "--skip-tag", "test --slow": "--durations", "test --slowest": "--durations",
        "test --profile": "--durations",
    ]
}
