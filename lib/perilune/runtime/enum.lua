--- Enumerations: a fixed set of values, stored as integers or strings.
--
--     local Color = perilune.enum{ red = 0, white = 1, rose = 2 }
--     local Grape = perilune.enum{ "chardonnay", "merlot" }
--     db:execute("INSERT INTO wine (color, grape) VALUES (?, ?)", Color.red, Grape.merlot)
--     db:fetch_value_as(Color, "SELECT color FROM wine") == Color.red

local perilune = require "perilune"
local errors = require "perilune.native.errors"

local known = setmetatable({}, { __mode = "k" })

local reserved = { name = true, from_database = true, to_database = true, cases = true, from = true }

local function check_case(name, raw)
  if type(name) ~= "string" or name == "" then
    errors.raise("argument", "perilune.enum: the name of a case must be a string, got " .. errors.describe(name))
  elseif reserved[name] then
    errors.raise("argument", "perilune.enum: no case can be called `" .. name .. "`")
  elseif math.type(raw) ~= "integer" and type(raw) ~= "string" then
    errors.raise("argument", "perilune.enum: case `" .. name .. "`: expected an integer or a string, got "
      .. errors.describe(raw))
  end
end

--- Returns the cases of a definition: names with their raw values.
local function read_cases(definition)
  local raws = {}
  for key, value in pairs(definition) do
    if math.type(key) == "integer" then
      check_case(value, value)
      raws[value] = value
    else
      check_case(key, value)
      raws[key] = value
    end
  end
  if next(raws) == nil then errors.raise("argument", "perilune.enum: expected at least one case") end
  return raws
end

local function by_raw_value(left, right)
  if type(left.raw) == type(right.raw) then return left.raw < right.raw end
  return type(left.raw) == "number"
end

local function list_cases(cases)
  local texts = {}
  for index, case in ipairs(cases) do texts[index] = case.name .. " = " .. tostring(case.raw) end
  return table.concat(texts, ", ")
end

--- Makes an enumeration.
-- @tparam table definition names with integers or strings, or a list of strings that are both names and values
-- @treturn table the type: one field for each case; `cases()` lists them, `from(raw)` finds one
function perilune.enum(definition)
  if type(definition) ~= "table" then
    errors.raise("argument", "perilune.enum: argument 1: expected a table, got " .. errors.describe(definition))
  end
  local case_metatable = {
    __name = "enum case",
    __tostring = function(case) return case.name end,
    __to_database = function(case) return case.raw end,
  }
  local members, by_raw, cases = { name = "the enum" }, {}, {}
  for name, raw in pairs(read_cases(definition)) do
    if by_raw[raw] then
      errors.raise("argument", "perilune.enum: two cases have the value " .. tostring(raw))
    end
    local case = setmetatable({ name = name, raw = raw }, case_metatable)
    members[name], by_raw[raw], cases[#cases + 1] = case, case, case
  end
  table.sort(cases, by_raw_value)

  function members.from_database(_, raw)
    local case = by_raw[raw]
    if case then return case end
    return nil, "no case has the value " .. errors.describe(raw) .. " (available: " .. list_cases(cases) .. ")"
  end

  function members.to_database(_, case)
    return case.raw
  end

  function members.cases()
    return table.move(cases, 1, #cases, 1, {})
  end

  function members.from(raw)
    local case, message = members:from_database(raw)
    if not case then errors.raise("conversion", message) end
    return case
  end

  -- The table itself stays empty, so that every access calls the metamethods.
  local type_of_cases = setmetatable({}, {
    __name = "enum",
    __metatable = false,
    __newindex = function() errors.raise("argument", "an enum cannot be changed") end,
    __index = function(_, name)
      local member = members[name]
      if member ~= nil then return member end
      errors.raise("unknown_member", "the enum has no case `" .. tostring(name) .. "` (available: "
        .. list_cases(cases) .. ")")
    end,
  })
  known[type_of_cases] = true
  return type_of_cases
end

return {
  --- All enums, to distinguish them from other tables.
  known = known,
}
