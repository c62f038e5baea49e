--- Cases: a scenario for each table of values.

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"

local scenario_cases = {}

--- Replaces each `{field}` in a name with the value of that field in the case.
-- @tparam integer index the number of the case, for messages
function scenario_cases.fill(name, case, index)
  local path = name:match("{([%a_][%w_]*%.[%w_.]+)}")
  if path and case[path:match("^[^.]+")] ~= nil then
    state.mistake("case %d: {%s}: a name can contain fields of a case, such as {%s}, but no fields of these", index, path, path:match("^[^.]+"))
  end
  return (name:gsub("{([%a_][%w_]*)}", function(field)
    local value = case[field]
    if value == nil then
      local _, err = pcall(errors.raise_unknown, "field", field, display.keys(case))
      errors.raise(err.kind, ("case %d: %s; use perilune.null for a field without a value"):format(index, err.message), { name = field, suggestion = err.suggestion })
    end
    return type(value) == "string" and utf8.len(value) and value or display.show(value)
  end))
end

local longest = 60

--- Returns the name of a case without a name: its values.
-- @tparam ?string name a name with `{field}`, whose fields are left out
local function describe(case, name)
  local parts = {}
  for _, key in ipairs(display.keys(case)) do
    local is_in_name = name and type(key) == "string" and name:find("{" .. key .. "}", 1, true)
    if not is_in_name then parts[#parts + 1] = (type(key) == "string" and key .. " = " or "") .. display.show(case[key]) end
  end
  local text = table.concat(parts, ", ")
  return #text <= longest and text or text:sub(1, (utf8.offset(text, longest - 3) or longest - 3) - 1) .. "..."
end

--- Returns the cases of a scenario as a list of { case, text }. A case has no text if the filled-in name identifies it.
function scenario_cases.list(name, cases)
  local list, counts = {}, {}
  for index, case in ipairs(cases) do
    if case.name ~= nil and (type(case.name) ~= "string" or case.name == "" or not utf8.len(case.name)) then
      state.mistake("case %d: name: expected a string, got %s", index, errors.describe(case.name))
    end
    local filled = scenario_cases.fill(name, case, index)
    local text = case.name or filled == name and describe(case) or nil
    local key = filled .. "\0" .. (text or "")
    counts[key] = (counts[key] or 0) + 1
    list[index] = { case = case, name = filled, text = text, key = key }
  end
  -- Equal names are distinguished by the fields that the name does not use, and then by the numbers of the cases.
  local texts = {}
  for _, entry in ipairs(list) do
    if counts[entry.key] > 1 and not entry.text then
      local text = describe(entry.case, name)
      entry.text = text ~= "" and text or nil
    end
    entry.key = entry.name .. "\0" .. (entry.text or "")
    texts[entry.key] = (texts[entry.key] or 0) + 1
  end
  for index, entry in ipairs(list) do
    local is_nameless = counts[entry.name .. "\0"] ~= nil and counts[entry.name .. "\0"] > 1 and not entry.text
    if (texts[entry.key] > 1 or is_nameless) and not entry.case.name then
      entry.text = (entry.text and entry.text .. " " or "") .. "#" .. index
    end
  end
  return list
end

--- Returns all combinations of lists of values as cases; the last name changes fastest.
function scenario_cases.matrix(lists)
  if type(lists) ~= "table" or next(lists) == nil then
    errors.raise("argument", "matrix: expected a table of lists, got " .. errors.describe(lists))
  end
  local result = { {} }
  for _, name in ipairs(display.keys(lists)) do
    local values = lists[name]
    if type(name) ~= "string" or type(values) ~= "table" or #values == 0 then
      state.mistake("matrix: %s: expected a non-empty list, got %s", tostring(name), errors.describe(values))
    end
    local longer = {}
    for _, case in ipairs(result) do
      for _, value in ipairs(values) do
        local copy = {}
        for field, other in pairs(case) do copy[field] = other end
        copy[name] = value
        longer[#longer + 1] = copy
      end
    end
    result = longer
  end
  return result
end

return scenario_cases
