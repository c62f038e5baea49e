--- Snapshots: texts of values in files next to the scenario, which are reviewed once and compared afterwards.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"
local row_comparison = lazily "scenarios.tables.rows"
local row_source = lazily "scenarios.tables.row_source"
local queries = lazily "scenarios.data.queries"

local scenario_snapshots = {}

local function is_list_of_tables(value)
  return type(value) == "table" and type(rawget(value, 1)) == "table" and getmetatable(value) ~= false
end

--- Returns the kind of a value, and its text: strings unchanged, rows as a table, anything else in Lua syntax.
local function describe(value)
  if type(value) == "string" then
    if value:sub(-1) == "\n" then return "string", value end
    return "string, no newline at the end", value .. "\n"
  elseif queries.is(value) then
    return "queries", queries.text(value, true) .. "\n"
  elseif row_source.is_request(value) or is_list_of_tables(value) or require("scenarios.tables.changes").is(value) then
    return "rows", row_comparison.text(row_source.of("snapshot", value), true) .. "\n"
  end
  return "value", display.pretty(value) .. "\n"
end

--- Returns the text of a snapshot. Its first line contains the kind of the value, because the string `1` differs from the number.
function scenario_snapshots.text(value)
  local kind, text = describe(value)
  if not utf8.len(text) then
    errors.raise("argument", "snapshot: expected text in UTF-8, got " .. display.show(value))
  end
  return "-- " .. kind .. "\n" .. text
end

--- Raises if another scenario has compared another value with the same snapshot, because they would overwrite each other.
local function check_unshared(name, text)
  if not state.has("use_snapshot") then return end
  local other = state.host("use_snapshot")(name, text)
  if other then
    errors.raise("shared_snapshot", ("snapshot: the scenario `%s` compares another value with the snapshot `%s`; "
      .. "give each its own name"):format(other, name))
  end
end

local function check_name(name)
  if type(name) ~= "string" or name == "" or name:find("[/\\%c]") or name:find("^%.") then
    errors.raise("argument", "snapshot: expected a name that can be a file's, got "
      .. (type(name) == "string" and display.show(name) or errors.describe(name)))
  end
end

local function note(current, name, status, text)
  table.insert(current.snapshots, { name = name, status = status, text = text })
end

--- Returns lines of advice for a missing or different snapshot.
local function advice(mode)
  if mode == "no" then return "snapshots are not written here" end
  return "accept it with --review, or with --update-snapshots"
end

--- Compares a value with a named snapshot: see scenario_matchers.
function scenario_snapshots.compare(expectation, name)
  check_name(name)
  local current = state.require("snapshot")
  if expectation.is_negated then errors.raise("argument", "snapshot: expect.no cannot be used with snapshots") end
  local mode, text = current.update_snapshots, scenario_snapshots.text(expectation.value)
  check_unshared(name, text)
  local kept = state.host("read_snapshot")(name)
  if kept == text then
    note(current, name, "matched")
    return true
  end
  if mode == "all" then
    state.host("write_snapshot")(name, text)
    note(current, name, "updated", text)
    return true
  end
  if mode ~= "no" then state.host("write_snapshot")(name, text) end
  note(current, name, kept and "changed" or "new", text)
  return false, function()
    local lines = { (kept and "the snapshot `%s` differs: `-` is the snapshot, `+` the new text" or "the snapshot `%s` does not exist yet"):format(name) }
    table.move(require("scenarios.reports.text_difference")(kept or "", text, true), 1, 200, 2, lines)
    lines[#lines + 1] = advice(mode)
    return lines
  end
end

return scenario_snapshots
