--- Checks of the arguments of schema definitions, and the classes of the objects that they return.

local errors = require "perilune.native.errors"
local records = require "perilune.native.records"
local sql_names = require "perilune.runtime.names"

local checks = {}

function checks.fail(place, message)
  errors.raise("argument", place .. ": " .. message)
end

--- Raises that a definition does not hold together.
function checks.refuse(place, message)
  errors.raise("definition", place .. ": " .. message)
end

--- Raises for what is not a number of things.
function checks.positive(place, value)
  if math.type(value) ~= "integer" or value < 1 then
    checks.fail(place, "expected an integer of at least 1, got " .. errors.describe(value))
  end
end

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

--- The database that is given, or the default one.
function checks.database(place, db)
  if db == nil then return records.default_database() end
  if not records.is_database(db) then checks.fail(place, "expected a database, got " .. errors.describe(db)) end
  return db
end

--- Raises for the first of the names, in their order, that no option has.
local function raise_unknown_option(place, options, known)
  local unknown = {}
  for name in pairs(options) do
    if type(name) ~= "string" then checks.fail(place, "expected options with names, got " .. errors.describe(name)) end
    if known[name] == nil then unknown[#unknown + 1] = name end
  end
  table.sort(unknown)
  errors.raise_unknown("option", unknown[1], sorted_keys(known))
end

--- Checks the names in a table of options, and leaves their values to the caller.
-- @tparam {[string]=any} known the options there are
function checks.option_names(place, options, known)
  for name in pairs(options) do
    if known[name] == nil then raise_unknown_option(place, options, known) end
  end
end

--- The value of an option as it is kept.
local function read_option(place, name, kind, value)
  local expected = "a " .. tostring(kind)
  if type(kind) == "table" then
    local read
    read, expected = kind[1](value), kind[2]
    if read ~= nil then return read end
  elseif kind == "any" or type(value) == kind then
    return value
  end
  checks.fail(place, ("option `%s`: expected %s, got %s"):format(name, expected, errors.describe(value)))
end

--- Reads a table of options, nil for none. All options of the library are read by this.
-- @tparam {[string]=string|table} kinds the options there are. For each the type it must have, "any" for what is checked elsewhere,
-- or { read, expected }: a function that returns the value as it is kept, nil for a wrong one, and what messages say is expected.
-- @treturn table the values as they are kept
function checks.options(place, options, kinds)
  if options == nil then return {} end
  if type(options) == "function" then checks.fail(place, "pass the options before the function") end
  if type(options) ~= "table" then checks.fail(place, "expected a table of options, got " .. errors.describe(options)) end
  checks.option_names(place, options, kinds)
  local read = {}
  for _, name in ipairs(sorted_keys(options)) do read[name] = read_option(place, name, kinds[name], options[name]) end
  return read
end

--- What a table has beside its first elements: `on_conflict` in `{ "a", "b", on_conflict = "replace" }`.
-- @tparam integer count how many elements
function checks.rest(list, count)
  local rest = {}
  for key, value in pairs(list) do
    if not (math.type(key) == "integer" and key >= 1 and key <= count) then rest[key] = value end
  end
  return rest
end

--- Checks that a value is one of some words, in any case, with spaces or underscores. Returns it in capitals; nil for nil.
function checks.choice(place, what, value, words)
  if value == nil then return nil end
  if type(value) ~= "string" then checks.fail(place, "expected a string, got " .. errors.describe(value)) end
  local wanted = value:lower():gsub("_", " ")
  for _, word in ipairs(words) do
    if wanted == word then return word:upper() end
  end
  errors.raise_unknown(what, value, words)
end

local conflict_policies = { "rollback", "abort", "fail", "ignore", "replace" }

--- Reads a conflict policy, given as a string or as the option `on_conflict`. Returns " ON CONFLICT X", or "".
function checks.on_conflict(place, policy)
  if type(policy) == "table" then policy = checks.options(place, policy, { on_conflict = "string" }).on_conflict end
  local clause = checks.choice(place, "conflict_policy", policy, conflict_policies)
  return clause and " ON CONFLICT " .. clause or ""
end

--- Checks a list of names that is not empty. One string stands for a list of one.
-- @tparam ?string what has the names; "column" by default
function checks.list(place, list, what)
  if type(list) == "string" then return { list } end
  if type(list) == "table" and #list > 0 then return list end
  local got = type(list) == "table" and "an empty one" or errors.describe(list)
  checks.fail(place, "expected a list of " .. (what or "column") .. "s, got " .. got)
end

--- Checks a list of names that is not empty and has none twice. Returns a list of its own.
-- @tparam ?string what has the names; "column" by default
function checks.names(place, names, what)
  what = what or "column"
  names = checks.list(place, names, what)
  local seen = {}
  for _, name in ipairs(names) do
    if type(name) ~= "string" then checks.fail(place, "expected the name of a " .. what .. ", got " .. errors.describe(name)) end
    if seen[sql_names.fold(name)] then checks.fail(place, what .. " `" .. name .. "` is named twice") end
    seen[sql_names.fold(name)] = true
  end
  return table.move(names, 1, #names, 1, {})
end

--- The name of a column as the schema of a table spells it; raises if it has none of that name.
function checks.column(schema, wanted)
  local names = {}
  for index, column in ipairs(schema.columns) do
    if type(wanted) == "string" and sql_names.same(column.name, wanted) then return column.name end
    names[index] = column.name
  end
  errors.raise_unknown_column(tostring(wanted), schema.name, names)
end

function checks.block(place, block)
  if type(block) ~= "function" then checks.fail(place, "expected a function, got " .. errors.describe(block)) end
  return block
end

--- Raises that there is no method of that name, with the nearest one.
function checks.raise_unknown_method(methods, name)
  errors.raise_unknown("method", name, sorted_keys(methods))
end

--- The metatable of objects with these methods only, all others being errors.
function checks.class(name, methods)
  return {
    __name = name,
    __index = function(_, key)
      local method = methods[key]
      if method then return method end
      errors.raise_unknown("method", key, sorted_keys(methods))
    end,
  }
end

--- Makes the functions of a class its methods: called with a colon, all other names being errors, but those of its fields.
-- @tparam table class its `__metatable` is what messages call its objects
-- @tparam {string,...} fields what its objects have, and may not have
function checks.seal(class, fields)
  local what, methods, known = class.__metatable, {}, {}
  for _, name in ipairs(fields) do known[name] = true end
  for name, f in pairs(class) do
    if not name:find("^__") then
      methods[name] = function(self, ...)
        if getmetatable(self) ~= what then
          checks.fail(what .. ":" .. name, "call it with a colon, got " .. errors.describe(self) .. " before the arguments")
        end
        return f(self, ...)
      end
    end
  end
  class.__index = function(_, key)
    if methods[key] or known[key] then return methods[key] end
    errors.raise_unknown("method", tostring(key), sorted_keys(methods))
  end
end

--- Raises unless an object is of a class, which it is not after `t.column(...)`.
function checks.receiver(object, class, place)
  if type(object) ~= "table" or getmetatable(object) ~= class then
    checks.fail(place, "call it with a colon, got " .. errors.describe(object) .. " before the arguments")
  end
end

return checks
