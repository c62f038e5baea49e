internal import Foundation

/// The files of a new project, which works and passes its scenarios without changes.
enum ProjectTemplate {
    static let files: [(path: String, text: String)] = [
        (
            "migrations/0001_start.lua",
            """
            -- The first migration. `perilune migrate` runs each file here once, in the order of their names.
            return {
              up = function(db)
                db:create_table("task", function(t)
                  t:auto_incremented_primary_key("id")
                  t:column("title", "text"):not_null():check("title <> ''")
                  t:column("is_done", "boolean"):not_null():default(false)
                end)
              end,
              down = function(db) db:drop_table("task") end,
            }

            """
        ),
        (
            "scripts/add_task.lua",
            """
            -- Adds a task and lists those that are open.
            --
            --     perilune run scripts/add_task.lua "Write the report"
            local arguments = ...
            local title = type(arguments) == "table" and arguments.title or arguments
            local Task = perilune.record("task")

            if title then Task{ title = title }:insert() end
            for _, task in ipairs(Task:filter{ is_done = false }:order("id"):fetch_all()) do
              print(task.id, task.title)
            end

            """
        ),
        (
            "scenarios/task_scenario.lua",
            """
            -- What must be true of the project: `perilune test` runs it on a fresh database for each scenario.
            scenario("a task is added and listed while it is open", function(t)
              t.given.task [[
                | id | title | is_done |
                | 1  | Sleep | true    |
              ]]

              t.run("scripts/add_task.lua", { title = "Write the report" })

              expect(t.db.task:filter{ is_done = false }):rows_any_order [[
                | title            | is_done |
                | Write the report | false   |
              ]]
            end)

            """
        ),
        (
            "perilune.toml",
            """
            # Settings of the project, for all commands in this folder and below it. Options and environment variables come first;
            # `perilune settings` lists them all.
            database = "project.sqlite"

            [folders]
            migrations = "migrations"
            scenarios = "scenarios"

            # [limits]
            # timeout = "30s"
            # memory = "256M"

            """
        ),
        (
            ".luarc.json",
            editorSettings(types: "types")
        ),
        (
            ".vscode/tasks.json",
            """
            {
              "version": "2.0.0",
              "tasks": [
                {
                  "label": "perilune test",
                  "type": "shell",
                  "command": "perilune test",
                  "group": { "kind": "test", "isDefault": true },
                  "problemMatcher": {
                    "owner": "perilune",
                    "fileLocation": ["relative", "${workspaceFolder}"],
                    "pattern": { "regexp": "^\\\\s*(?:at )?(.+\\\\.lua):(\\\\d+):?\\\\s*(.*)$", "file": 1, "line": 2, "message": 3 }
                  }
                }
              ]
            }

            """
        ),
        (
            ".gitignore",
            """
            *.sqlite
            *.sqlite-*
            types/

            """
        ),
    ]

    /// Returns editor settings with which the Lua language server finds the types in a folder.
    static func editorSettings(types folder: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let name = (try? encoder.encode(folder)).map { String(decoding: $0, as: UTF8.self) } ?? "\"types\""
        return """
            {
              "runtime.version": "Lua 5.4",
              "workspace.library": [\(name)],
              "workspace.checkThirdParty": "Disable",
              "diagnostics.globals": ["db", "perilune"]
            }

            """
    }
}
