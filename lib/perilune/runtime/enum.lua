--- Enumerations: a fixed set of values, stored as integers or strings.
--
--     local Color = perilune.enum{ red = 0, white = 1, rose = 2 }
--     local Grape = perilune.enum{ "chardonnay", "merlot" }
--     db:execute("INSERT INTO wine (color, grape) VALUES (?, ?)", Color.red, Grape.merlot)
--     db:fetch_value_as(Color, "SELECT color FROM wine") == Color.red
--
-- The cases of a list are strings: `Grape.merlot == "merlot"`. Other cases are objects with the fields `name` and `raw`.

local arity = require "perilune.runtime.arity"
local errors = require "perilune.native.errors"

--- The functions that scripts call.
local public = {}

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

--- If the value of every case equals its name, returns the names; otherwise nil. Names in the list part of the definition come first, in
-- that order; the others follow alphabetically.
local function read_strings(definition, raws)
  local strings, others, is_listed = {}, {}, {}
  for index, name in ipairs(definition) do strings[index], is_listed[name] = name, true end
  for name, raw in pairs(raws) do
    if name ~= raw then return nil end
    if not is_listed[name] then others[#others + 1] = name end
  end
  table.sort(others)
  return table.move(others, 1, #others, #strings + 1, strings)
end

--- Returns the cases of an enumeration of strings, by name and in order.
local function make_strings(strings)
  local by_name = {}
  for _, name in ipairs(strings) do
    if by_name[name] then errors.raise("argument", "perilune.enum: the case `" .. name .. "` is given twice") end
    by_name[name] = name
  end
  return by_name, by_name, strings
end

--- Returns the cases of an enumeration of objects, by name, by raw value and in order.
local function make_objects(raws)
  local case_metatable = {
    __name = "enum case",
    __index = function(case, name)
      errors.raise("unknown_member", ("the case `%s` has no field `%s` (available: name, raw)"):format(rawget(case, "name"), tostring(name)))
    end,
    __tostring = function(case) return case.name end,
    __to_database = function(case) return case.raw end,
  }
  local by_name, by_raw, cases = {}, {}, {}
  for name, raw in pairs(raws) do
    if by_raw[raw] then
      errors.raise("argument", "perilune.enum: two cases have the value " .. tostring(raw))
    end
    local case = setmetatable({ name = name, raw = raw }, case_metatable)
    by_name[name], by_raw[raw], cases[#cases + 1] = case, case, case
  end
  table.sort(cases, by_raw_value)
  return by_name, by_raw, cases
end

--- Returns the error message for a value that is not one of the cases.
local function no_string(value, strings)
  if type(value) ~= "string" then return "expected one of the cases " .. table.concat(strings, ", ") .. ", got " .. errors.describe(value) end
  local _, err = pcall(errors.raise_unknown, "case", value, strings)
  return err.message
end

--- Makes an enumeration.
-- @tparam table definition names with integers or strings, or a list of strings that are both names and values
-- @treturn table the type: one field for each case; `:cases()` lists them, `:from(raw)` finds one
function public.enum(definition)
  if type(definition) ~= "table" then
    errors.raise("argument", "perilune.enum: argument 1: expected a table, got " .. errors.describe(definition))
  end
  local raws = read_cases(definition)
  local strings = read_strings(definition, raws)
  local by_name, by_raw, cases
  if strings then by_name, by_raw, cases = make_strings(strings) else by_name, by_raw, cases = make_objects(raws) end
  local members, type_of_cases = { name = "the enum" }, {}
  for name, case in pairs(by_name) do members[name] = case end

  function members.from_database(_, raw)
    local case = by_raw[raw]
    if case then return case end
    if strings then return nil, no_string(raw, strings) end
    return nil, "no case has the value " .. errors.describe(raw) .. " (available: " .. list_cases(cases) .. ")"
  end

  function members.to_database(_, case)
    return strings and case or case.raw
  end

  --- Returns arguments without the enumeration that a call with a colon passes first.
  local function without_self(...)
    if rawequal((...), type_of_cases) then return select(2, ...) end
    return ...
  end

  function members.cases(...)
    local surplus = without_self(...)
    if surplus ~= nil then arity.refuse("enum:cases", 0, surplus) end
    return table.move(cases, 1, #cases, 1, {})
  end

  function members.from(...)
    local raw, surplus = without_self(...)
    if surplus ~= nil then arity.refuse("enum:from", 1, surplus) end
    local case, message = members:from_database(raw)
    if not case then errors.raise("conversion", message) end
    return case
  end

  -- The table itself stays empty, so that every access calls the metamethods.
  setmetatable(type_of_cases, {
    __name = "enum",
    __metatable = false,
    __len = function() errors.raise("argument", "cannot take # of an enum; use #Enum:cases()") end,
    __newindex = function() errors.raise("argument", "an enum cannot be changed") end,
    __call = function() errors.raise("argument", "cannot call an enum; use Enum:from(value) for the case with a value") end,
    __pairs = function() return next, by_name end,
    __index = function(_, name)
      local member = members[name]
      if member ~= nil then return member end
      local use = require("perilune.runtime.other_names").find("enum", name)
      if use then errors.raise("unknown_member", ("the enum has no case `%s`; %s"):format(name, use)) end
      local available = strings and table.concat(strings, ", ") or list_cases(cases)
      errors.raise("unknown_member", "the enum has no case `" .. tostring(name) .. "` (available: " .. available .. ")")
    end,
  })
  known[type_of_cases] = strings and "strings" or "objects"
  return type_of_cases
end

return {
  public = public,
  --- All enums, and whether their cases are "strings" or "objects".
  known = known,
}
