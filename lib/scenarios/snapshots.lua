--- Snapshots: texts of values, in files beside the scenario, that are looked at once and compared from then on.

local errors = require "perilune.native.errors"
local state = require "scenarios.state"
local display = lazily "scenarios.display"
local rows = lazily "scenarios.rows"
local row_source = lazily "scenarios.row_source"
local queries = lazily "scenarios.queries"

local scenario_snapshots = {}

local function is_list_of_tables(value)
  return type(value) == "table" and type(rawget(value, 1)) == "table" and getmetatable(value) ~= false
end

--- The text that stands for a value: text as it is, rows as a table, anything else as Lua writes it.
function scenario_snapshots.text(value)
  local text
  if type(value) == "string" then
    text = value
  elseif queries.is(value) then
    text = queries.text(value, true)
  elseif row_source.is_request(value) or is_list_of_tables(value) or require("scenarios.changes").is(value) then
    text = rows.text(row_source.of("snapshot", value), true)
  else
    text = display.pretty(value)
  end
  if not utf8.len(text) then
    errors.raise("argument", "snapshot: expected a value whose text is UTF-8, got " .. display.show(value))
  end
  text = text:gsub("\r\n", "\n")
  return text:sub(-1) == "\n" and text or text .. "\n"
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

--- Lines for a snapshot that is not there, or not the same.
local function advice(mode)
  if mode == "no" then return "snapshots are not written here" end
  return "accept it with --review, or with --update-snapshots"
end

--- Compares a value with the snapshot of a name: see scenario_matchers.
function scenario_snapshots.compare(expectation, name)
  check_name(name)
  local current = state.require("snapshot")
  if expectation.is_negated then errors.raise("argument", "snapshot: expect.no is not for snapshots") end
  local mode, text = current.update_snapshots, scenario_snapshots.text(expectation.value)
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
    local lines = { kept and ("the snapshot `%s` is another"):format(name) or ("there is no snapshot `%s` yet"):format(name) }
    table.move(require("scenarios.text_difference")(kept or "", text), 1, 200, 2, lines)
    lines[#lines + 1] = advice(mode)
    return lines
  end
end

return scenario_snapshots
