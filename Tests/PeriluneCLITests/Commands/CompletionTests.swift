import Foundation
import PeriluneTestTools
import Testing

@testable import PeriluneCLI

/// Shell completions. The tests run bash, which every test machine has; the scripts for zsh and fish come from the same generator.
@Suite(.patience, .startsPrograms) struct CompletionTests {
    private static func makeFolder() throws -> TestFolder {
        let folder = try TestFolder([
            "perilune.toml": "database = \"shop.sqlite\"\n[folders]\nmigrations = \"db\"",
            "db/0001_start.sql": "CREATE TABLE customer (id)", "db/0001_start.down.sql": "", "db/0002_prices.lua": "",
            "scenarios/task_scenario.lua": """
            scenario("a task is added", function(t) end)

            scenario.skip('it waits', "another", function(t) end)
            """, "scenarios/notes.txt": "", "other/x.lua": "",
        ])
        let made = try folder.perilune(
            "run", "-e", "db:execute[[CREATE TABLE customer (id); CREATE TABLE invoice (id); CREATE VIEW cities AS SELECT 1]]")
        try #require(made.status == 0, "\(made.errors)")
        return folder
    }

    /// Returns the completions that bash offers for a line.
    private static func completions(of line: String, in folder: TestFolder) throws -> [String] {
        try folder.write(
            """
            PATH=$(dirname "$PERILUNE"):$PATH
            source <(perilune completion bash)
            COMP_LINE=$1; COMP_POINT=${#1}; read -ra COMP_WORDS <<< "$1"
            [[ $1 == *" " ]] && COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
            _perilune "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """, to: "complete.bash")
        let result = try folder.shell("bash complete.bash '\(line)'")
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.sorted()
    }

    @Test(arguments: [
        ("perilune sch", ["schema"]),
        ("perilune schema ", ["cities", "customer", "invoice"]),
        ("perilune schema cu", ["customer"]),
        ("perilune dump --database shop.sqlite inv", ["invoice"]),
        ("perilune import x.csv --table c", ["cities", "customer"]),
        ("perilune schema --format ", ["diagram", "json", "lua", "sql"]),
        ("perilune migrate --to ", ["0001_start", "0002_prices"]),
        ("perilune test scenarios/", ["scenarios/task_scenario.lua"]),
        ("perilune test --filter ", ["a task is added", "another"]),
        ("perilune completion ", ["bash", "fish", "zsh"]),
        ("perilune schema --database other/none.sqlite ", []),
    ])
    func `bash completes commands, options and names from the project`(line: String, values: [String]) throws {
        let folder = try Self.makeFolder()
        let offered = try Self.completions(of: line, in: folder)
        #expect(offered.filter { !$0.isEmpty } == values, "\(offered)")
    }

    @Test func `line numbers of scenarios are offered after a file name`() throws {
        let folder = try Self.makeFolder()
        let path = folder.path + "/scenarios/task_scenario.lua"
        #expect(CompletionValues.scenarioPaths([], 0, path + ":") == ["\(path):1", "\(path):3"])
        #expect(CompletionValues.scenarios(in: path).map(\.name) == ["a task is added", "another"])
    }

    @Test(arguments: [("a", "a"), ("'a b'", "a b"), ("a\\ b", "a b"), ("\"a'b\"", "a'b"), ("'a\\b", "a\\b"), ("", "")])
    func `the words of a shell command line are parsed`(word: String, text: String) {
        #expect(CompletionValues.unquoted(word) == text)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `the completion script of each shell gets the names from the command`(shell: String) throws {
        let script = try TestFolder().perilune("completion", shell)
        #expect(script.status == 0 && script.output.contains("---completion schema -- positional@0"), "\(script.errors)")
    }
}
