--- The text of `llms.txt`, for language models: a summary, the documents, and each function in one line.

local reference = require "reference"

local agents = {}

local catalog = "Sources/Perilune/Perilune.docc/"
local folders = {
  catalog, catalog .. "Guides/", catalog .. "Tutorials/", catalog .. "Explanation/", catalog .. "Reference/",
  "Sources/PeriluneScenarios/PeriluneScenarios.docc/",
}

local preamble = [[
# Perilune

> Lua scripts for SQLite databases: run them from the command line, embed them in Swift programs, and test them with scenarios. Linux only.

- Lua 5.4. `db` is the database, `perilune.record("table")` a record class, `...` the arguments of the script.
- Use arguments for values: `db:fetch_all("SELECT * FROM book WHERE year > ?", 1800)`.
- `db:write(function(db) ... end)` is a transaction. There is no BEGIN.
- Conditions are written `Book.c.year:lt(1900)`, combined with `&`, `|` and `~`. `==`, `<`, `and` and `or` do not work.
- NULL is nil; write `perilune.null` in tables and conditions.
- Preview a change with `perilune run FILE --database DB --sandbox --preview --save PLAN`, make it with `perilune apply PLAN --yes`, and
  revert it with `perilune apply PLAN --undo --yes`.
- `perilune help NAME` explains a function, and `perilune help --json` prints the whole reference as JSON.
- The paths below are files of the repository.
]]

--- Returns the first sentence of a text.
local function first_sentence(text)
  return text:match("^(.-%.)%s") or text
end

--- Returns the path and the title of an article.
local function article(read, name)
  for _, folder in ipairs(folders) do
    local path = folder .. name .. ".md"
    local text = read(path)
    if text then return path, text:match("^# (.-)\n"), text:match("\n\n(.-)\n\n"):gsub("\n", " ") end
  end
  error(("the front page links to an unknown article: %s"):format(name), 0)
end

--- Adds the links of the front page, by group.
local function add_articles(lines, read)
  local front = read(catalog .. "Perilune.md")
  for line in front:match("\n(## Tutorials.-)\n## Topics"):gmatch("[^\n]+") do
    if line:find("^## ") then
      lines[#lines + 1] = ""
      lines[#lines + 1] = line
      lines[#lines + 1] = ""
    end
    for name in line:gsub("%]%([%w./]*/(%w+)%.md%)", "<doc:%1>"):gmatch("<doc:(%w+)>") do
      local path, title, intro = article(read, name)
      lines[#lines + 1] = ("- [%s](%s): %s"):format(title, path, first_sentence(intro))
    end
  end
end

--- Returns the text of `llms.txt`.
-- @tparam table index the reference
-- @tparam function read returns the text of a file by its path; nil if it does not exist
function agents.text(index, read)
  local lines = { preamble:sub(1, -2) }
  add_articles(lines, read)
  for _, page in ipairs(index.pages) do
    lines[#lines + 1] = ""
    lines[#lines + 1] = "## " .. (page.is_scenario and "Scenarios: " or "Lua: ") .. page.title
    lines[#lines + 1] = ""
    for _, part in ipairs(page.parts) do
      if part.kind == "function" then
        local item = part.item
        lines[#lines + 1] = ("- `%s`: %s"):format(reference.signature(item), first_sentence(table.concat(item.text, " ")))
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return agents
