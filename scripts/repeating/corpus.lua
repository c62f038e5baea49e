-- Writes a project with a scenario for each script of the corpus: the examples of the reference, the Lua tests, the scripts of `own.lua`.
-- Each scenario records the output of its script, the statements, the changes, and a hash of the final database dump.
--
--   perilune run corpus.lua CHECKOUT FOLDER

local checkout, folder = ...
package.path = checkout .. "/lib/?.lua;" .. checkout .. "/lib/?/init.lua;" .. package.path

local function read(path)
  local file = io.open(checkout .. "/" .. path)
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file <close> = assert(io.open(folder .. "/" .. path, "w"))
  file:write(text)
end

local scripts = {}

local function add(name, text)
  scripts[#scripts + 1] = name
  write(("scripts/%03d.lua"):format(#scripts), text)
end

assert(os.execute(("mkdir -p '%s/scripts' '%s/scenarios' '%s/references'"):format(folder, folder, folder)))

-- The examples of the reference, which use every function of the library.
local reference = require "reference"
local index = reference.read(function(name) return read("lib/reference/api/" .. name .. ".lua") end)
local functions = read("Tests/PeriluneLuaFileTools/functions.lua") or ""
for _, item in ipairs(index.functions) do
  for number, lines in ipairs(item.examples) do
    local text = table.concat(lines, "\n")
    -- Clusters need nodes, and signals a host that delivers them.
    local is_possible = not text:find("dqlite://", 1, true) and not text:find("on_signal", 1, true)
    if is_possible and not item.page.is_scenario then
      add(("%s, example %d"):format(item.name, number), functions .. reference.database .. "\n" .. text)
    end
  end
end

-- Scripts of their own: everything in which two processes could differ.
local own = {}
for name, text in pairs(dofile(checkout .. "/scripts/repeating/own.lua")) do own[#own + 1] = { name, text } end
table.sort(own, function(left, right) return left[1] < right[1] end)
for _, entry in ipairs(own) do add(entry[1], entry[2]) end

local lines = {
  [[
-- FNV-1a.
local function hash(text)
  local value = 0xcbf29ce484222325
  for position = 1, #text do value = (value ~ text:byte(position)) * 0x100000001b3 end
  return ("%016x"):format(value)
end

-- The schema and the rows of all tables, without the owners of automation runs: those are processes.
local function dump(db)
  local parts = {}
  for _, item in ipairs(db:fetch_all("SELECT type, name, sql FROM sqlite_schema ORDER BY rowid")) do
    parts[#parts + 1] = tostring(item.sql)
    if item.type == "table" then
      pcall(function()
        for row in db:rows(('SELECT rowid AS "rowid", * FROM "%s"'):format(item.name:gsub('"', '""'))) do
          for name, value in pairs(row) do
            if name ~= "owner" then parts[#parts + 1] = tostring(name) .. "=" .. tostring(value) end
          end
        end
      end)
    end
  end
  return table.concat(parts, "\n")
end

local function run(t, number)
  local result = t.run_protected(("scripts/%03d.lua"):format(number))
  t.note(result.output)
  if result.error then t.note("error " .. tostring(result.error)) end
  local queries = {}
  for index, query in ipairs(result.queries) do
    queries[index] = ("%s:%s %s %s"):format(query.file, query.line, query.sql, table.concat(query.arguments, ", "))
  end
  t.note(table.concat(queries, "\n"))
  local is_known, changes = pcall(function() return result.changes end)
  if is_known then t.attach("changes", changes) end
  t.note("database " .. hash(dump(t.db)))
end
]],
}
for number, name in ipairs(scripts) do
  lines[#lines + 1] = ('scenario(%q, { no_checks = "allow", grants = "files" }, function(t) run(t, %d) end)'):format(number .. " " .. name, number)
end
write("scenarios/corpus_scenario.lua", table.concat(lines, "\n") .. "\n")
print(#scripts)
