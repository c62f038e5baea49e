--- Checks of arguments, mainly for schema definitions, and of the objects that schema definitions return.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local arity = require "perilune.runtime.arity"
local sql_names = require "perilune.runtime.names"

local checks = {}

function checks.fail(place, message)
  errors.raise("argument", place .. ": " .. message)
end

--- Raises an error about a contradictory definition.
function checks.refuse(place, message)
  errors.raise("definition", place .. ": " .. message)
end

--- Raises unless a value is a positive integer.
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

--- Returns the given database, or the default one.
function checks.database(place, db)
  if db == nil then return native_records.default_database() end
  if not native_records.is_database(db) then checks.fail(place, "expected a database, got " .. errors.describe(db)) end
  return db
end

--- Options that a script may have meant when it passes a string instead of options, the most likely one first.
local options_of_texts = { "target", "table", "columns", "column", "name", "folder", "older_than", "zone" }
--- Options that a script may have meant when it passes `true` instead of options.
local options_of_flags = { "if_exists", "if_not_exists", "unique" }
local conflict_policies = { ignore = true, replace = true, abort = true, fail = true, rollback = true }
local reference_actions = { cascade = true, restrict = true, ["set null"] = true, ["set default"] = true, ["no action"] = true, set_null = true, set_default = true }

--- Returns the end of a message about a value that was passed instead of options: the option that was probably meant.
-- @tparam {[string]=any} known the valid options
function checks.option_cure(value, known)
  if type(value) == "string" then
    if known.on_delete ~= nil and reference_actions[value:lower()] then return ("; use { on_delete = %q }"):format(value) end
    if known.on_conflict ~= nil and conflict_policies[value:lower()] then return ("; use { on_conflict = %q }"):format(value:lower()) end
    for _, name in ipairs(options_of_texts) do
      if known[name] ~= nil then return ("; use { %s = %q }"):format(name, value) end
    end
  elseif value == true then
    for _, name in ipairs(options_of_flags) do
      if known[name] ~= nil then return ("; use { %s = true }"):format(name) end
    end
  end
  return ""
end

--- Raises for the first unknown option, in alphabetical order.
local function raise_unknown_option(place, options, known, section)
  local unknown = {}
  for name in pairs(options) do
    if type(name) ~= "string" then
      local cure = known.columns ~= nil and "; use { columns = { ... } }" or known.target ~= nil and checks.option_cure(options[1], known)
        or known.created ~= nil and known.updated ~= nil and "; use { created = \"column\", updated = \"column\" }"
        or place:find("_all$") and "; each row is a table of its columns: " .. place .. "{ { column = value }, ... }" or ""
      checks.fail(place, "expected options with names, got " .. errors.describe(name) .. cure)
    end
    if known[name] == nil then unknown[#unknown + 1] = name end
  end
  table.sort(unknown)
  local _, err = pcall(require("perilune.runtime.other_names").raise, section or "option", "option", unknown[1], sorted_keys(known))
  -- The message begins with the called function if that is known, which it is not after a tail call.
  local message = err.message:match("no option `.*") or err.message
  errors.raise(err.kind, place .. ": " .. message, { name = err.name, suggestion = err.suggestion, advice = err.advice })
end

--- Checks the names in a table of options; the caller checks their values.
-- @tparam {[string]=any} known the valid options
-- @tparam ?string section the section of names from other libraries (other_names.lua); "option" by default
function checks.option_names(place, options, known, section)
  for name in pairs(options) do
    if known[name] == nil then raise_unknown_option(place, options, known, section) end
  end
end

--- Returns the stored form of an option's value.
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

--- Reads a table of options, nil for none. All options of the library are read with this function.
-- @tparam {[string]=string|table} kinds the valid options. For each, the required type, "any" for an option checked elsewhere, or { read,
-- expected }: a function that returns the stored form of the value, or nil if the value is invalid; and a description of valid values for
-- messages.
-- @tparam ?string section see checks.option_names
-- @treturn table the stored values
function checks.options(place, options, kinds, section)
  if options == nil then return {} end
  if type(options) == "function" then checks.fail(place, "pass the options before the function") end
  if type(options) ~= "table" then
    if native_records.is_database(options) then arity.refuse_database(place) end
    local is_definition = section == "table_option" and type(options) == "string"
    if is_definition then checks.fail(place, ("expected a table of options or a function, got %s; use %s(name, function(t) ... end), or db:execute(sql)"):format(errors.describe(options), place)) end
    checks.fail(place, "expected a table of options, got " .. errors.describe(options) .. checks.option_cure(options, kinds))
  end
  checks.option_names(place, options, kinds, section)
  local read = {}
  for _, name in ipairs(sorted_keys(options)) do read[name] = read_option(place, name, kinds[name], options[name]) end
  return read
end

--- Returns the length of a list. Raises for a hole, because Lua has no definite length of such a list, and for keys that are not positions.
-- @tparam string what "a list of values", for example
function checks.list_length(place, what, list)
  local count = #list
  for key in next, list do
    if math.type(key) ~= "integer" or key < 1 or key > count then
      checks.fail(place, ("expected %s, got a field %s%s"):format(what, errors.describe(key), math.type(key) == "integer" and " behind a nil" or ""))
    end
  end
  for index = 1, count do
    if list[index] == nil then checks.fail(place, ("%s has no element %d: it is nil"):format(what:gsub("^a ", "the "), index)) end
  end
  return count
end

--- Returns the entries of a table other than its first elements: `on_conflict` in `{ "a", "b", on_conflict = "replace" }`.
-- @tparam integer count the number of elements
function checks.rest(list, count)
  local rest = {}
  for key, value in pairs(list) do
    if not (math.type(key) == "integer" and key >= 1 and key <= count) then rest[key] = value end
  end
  return rest
end

--- Checks that a value is one of the given words, which messages show as given. Ignores case; an underscore counts as a space. Returns the
-- word in capitals, with spaces; nil if the value is nil.
function checks.choice(place, what, value, words)
  if value == nil then return nil end
  if type(value) ~= "string" then
    checks.fail(place, "expected one of \"" .. table.concat(words, "\", \"") .. "\", got " .. errors.describe(value))
  end
  local wanted = value:lower():gsub("_", " ")
  for _, word in ipairs(words) do
    local known = word:gsub("_", " ")
    if wanted == known then return known:upper() end
  end
  errors.raise_unknown(what, value, words)
end

local conflict_policies = { "rollback", "abort", "fail", "ignore", "replace" }

--- Reads a conflict policy, given as a string or as the option `on_conflict`. Returns " ON CONFLICT X", or "".
function checks.on_conflict(place, policy)
  if type(policy) == "table" then policy = checks.options(place, policy, { on_conflict = "string" }).on_conflict end
  if type(policy) == "boolean" or type(policy) == "number" then
    checks.fail(place, "expected nothing, or a conflict policy (" .. table.concat(conflict_policies, ", ") .. "), got " .. errors.describe(policy))
  end
  local clause = checks.choice(place, "conflict_policy", policy, conflict_policies)
  return clause and " ON CONFLICT " .. clause or ""
end

--- Raises if the conflict policy after a list of columns is another column, as in `t:unique_key("a", "b")`.
function checks.one_list(place, names, policy)
  if type(names) ~= "string" or type(policy) ~= "string" then return end
  for _, known in ipairs(conflict_policies) do
    if known == policy:lower() then return end
  end
  checks.fail(place, ("expected a list of columns, got two names; use %s{ %q, %q }"):format(place, names, policy))
end

--- Checks a non-empty list of names. A string is a list with one name.
-- @tparam ?string what the named objects; "column" by default
function checks.list(place, list, what)
  if type(list) == "string" then return { list } end
  if type(list) == "table" and #list > 0 then return list end
  local got = type(list) == "table" and "an empty one" or errors.describe(list)
  checks.fail(place, "expected a list of " .. (what or "column") .. "s, got " .. got)
end

--- Checks a non-empty list of distinct names. Returns a copy.
-- @tparam ?string what the named objects; "column" by default
function checks.names(place, names, what)
  what = what or "column"
  names = checks.list(place, names, what)
  for key in next, names do
    if type(key) == "string" then checks.fail(place, ("expected a list of %ss, got the field `%s`"):format(what, key)) end
  end
  local seen = {}
  for _, name in ipairs(names) do
    if type(name) ~= "string" then checks.fail(place, "expected the name of a " .. what .. ", got " .. errors.describe(name)) end
    if seen[sql_names.fold(name)] then checks.fail(place, what .. " `" .. name .. "` is named twice") end
    seen[sql_names.fold(name)] = true
  end
  return table.move(names, 1, #names, 1, {})
end

--- Checks the columns of a unique key, as `checks.names` does. Raises for a name or a conflict policy in the list.
function checks.key_names(place, names)
  if type(names) == "table" and names.on_conflict ~= nil then
    checks.fail(place, ("the conflict policy comes after the columns: t:unique_key({ ... }, %q)"):format(tostring(names.on_conflict)))
  elseif type(names) == "table" and names.name ~= nil then
    checks.fail(place, ("a unique key has no name; use t:constraint(\"CONSTRAINT %s UNIQUE (...)\"), or db:create_index(table, { ... }, "
      .. "{ name = %q, unique = true })"):format(tostring(names.name), tostring(names.name)))
  end
  return checks.names(place, names)
end

--- Returns the name of a column as spelled in the schema of its table; raises if it does not exist.
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

--- Raises for an unknown method, suggesting the nearest one.
-- @tparam ?string section the section of names from other libraries (other_names.lua)
-- @tparam ?string what the kind of the name; "method" by default
-- @tparam ?function is_column see other_names.find
function checks.raise_unknown_method(methods, name, section, what, is_column)
  if not section then errors.raise_unknown(what or "method", name, sorted_keys(methods)) end
  require("perilune.runtime.other_names").raise(section, what or "method", name, sorted_keys(methods), is_column)
end

--- Returns the metamethod that refuses the length of an object, which would be 0.
local function length_of(what)
  return function() errors.raise("argument", "cannot take # of `" .. what .. "`, which is not a list") end
end

--- Returns the metamethod that refuses a call of an object, as in `for value in observation do`.
local function call_of(what, section)
  return function()
    local use = require("perilune.runtime.other_names").find(section, "()")
    errors.raise("argument", "cannot call `" .. what .. "`, which is not a function" .. (use and "; " .. use or ""))
  end
end

--- Returns the metatable of objects with exactly these methods; any other name is an error.
-- @tparam string receiver the name of an object in messages about its methods
-- @tparam string section the section of names from other libraries (other_names.lua)
function checks.class(name, receiver, methods, section)
  return {
    __name = name, __receiver = receiver, __len = length_of(name), __call = call_of(name, section),
    __index = function(_, key)
      local method = methods[key]
      if method then return method end
      checks.raise_unknown_method(methods, key, section)
    end,
  }
end

--- Makes the functions of a class its methods, called with a colon. Names other than methods and fields are errors.
-- @tparam table class its `__metatable` is the name of its objects in messages; its `__receiver`, if any, is the variable before the colon
--   in examples
-- @tparam {string,...} fields optional fields of the objects
-- @tparam string section the section of names from other libraries (other_names.lua)
function checks.seal(class, fields, section)
  local what, methods, known = class.__metatable, {}, {}
  local prefix = (class.__receiver or what) .. ":"
  for _, name in ipairs(fields) do known[name] = true end
  for name, f in pairs(class) do
    if not name:find("^__") then
      f = arity.limited(prefix .. name, f, true)
      methods[name] = function(self, ...)
        if getmetatable(self) ~= what then
          checks.fail(prefix .. name, "call it with a colon, got " .. errors.describe(self) .. " before the arguments")
        end
        return f(self, ...)
      end
    end
  end
  class.__len = class.__len or length_of(what)
  class.__call = class.__call or call_of(what, section)
  class.__index = function(_, key)
    if methods[key] or known[key] then return methods[key] end
    checks.raise_unknown_method(methods, tostring(key), section)
  end
end

--- Returns the metatable of tables that have only these fields, which may be nil; any other name is an error.
-- @tparam string name the name of such a table in messages
-- @tparam string section the section of names from other libraries (other_names.lua)
-- @tparam {string,...} fields
function checks.fields(name, section, fields)
  local known = {}
  for _, field in ipairs(fields) do known[field] = true end
  return { __name = name, __index = function(_, field)
    if type(field) ~= "string" or known[field] then return nil end
    require("perilune.runtime.other_names").raise(section, "field", field, fields)
  end }
end

--- Raises unless an object is of a class, as with `t.column(...)` in place of `t:column(...)`.
function checks.receiver(object, class, place)
  if type(object) ~= "table" or getmetatable(object) ~= class then
    checks.fail(place, "call it with a colon, got " .. errors.describe(object) .. " before the arguments")
  end
end

return checks
