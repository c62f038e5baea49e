--- Makes fields that errors, blobs, functions and texts do not have raise errors that name the right ones. C makes the metatables of
-- these values, or Lua has none for them.
-- @tparam table perilune the module of that name

local errors = require "perilune.native.errors"

local function replacement(section, name)
  return type(name) == "string" and require("perilune.runtime.other_names").find(section, name)
end

local function fail(name, message, ...)
  errors.raise("unknown_member", message:format(...), { name = tostring(name) })
end

--- The optional fields of errors, which are nil without a look at the list of other names.
local optional = {}
for name in ("file line traceback suggestion advice name sql offset code extended_code table column columns key deleted_key errors "
  .. "migration retry_in path hook conflict operation details"):gmatch("%S+") do optional[name] = true end

local function refine_errors()
  local _, an_error = pcall(errors.raise, "argument", "")
  local metatable = debug.getmetatable(an_error)
  local field = metatable.__index
  metatable.__index = function(err, name)
    local value = field(err, name)
    if value ~= nil or optional[name] then return value end
    -- Error objects have optional fields, so only names from other libraries raise an error.
    local use = replacement("error", name)
    if use then fail(name, "an error has no field `%s`; %s", name, use) end
  end
end

local function refine_blobs(blob)
  debug.getmetatable(blob).__index = function(_, name)
    fail(name, "a blob has no field `%s`; %s", tostring(name),
      replacement("bytes", name) or "tostring(blob) returns its bytes as a string, and #blob their number")
  end
end

local function refine_functions(perilune)
  local function public_name(f)
    for name, value in next, perilune do
      if value == f then return "perilune." .. name end
    end
    for name, value in next, _G do
      if value == f then return name end
    end
  end
  debug.setmetatable(print, { __metatable = false, __index = function(f, name)
    local public = public_name(f)
    local use = public == "assert" and "scenarios have expect(value):equals(other), check(condition) and expect_error(f)"
      or public and replacement("function", public .. "." .. tostring(name)) or public and ("use %s(...)"):format(public)
    if use then fail(name, "%s is a function and has no field `%s`; %s", public, tostring(name), use) end
    fail(name, "a function has no field `%s`; it is called, as in f(...). An iterator belongs in a loop, as in "
      .. "`for row in db:rows(sql) do`, and db:fetch_all(sql) returns a list", tostring(name))
  end })
end

--- Returns the metatables that C has registered, by their names. `light` is the metatable of light userdata, which
-- are the results for one inserted row.
local function registered()
  local found = {}
  for key, value in next, debug.getregistry() do
    local name = type(value) == "table" and rawget(value, "__name")
    if name then found[name] = value end
    if type(key) == "userdata" then found.light = debug.getmetatable(key) end
  end
  return found
end

--- Makes operations on the results of statements, and calls of statements, raise errors that name the right ones.
local function refine_results(metatables)
  local of_statements = metatables.statement
  local function fail_operation()
    errors.raise("argument", "the result of a statement is neither a number nor a list; use result.changed_rows or result.inserted_rowid, "
      .. "and db:fetch_all(sql, ...) for rows")
  end
  for _, of_results in ipairs{ metatables.changes, metatables.light } do
    for _, name in ipairs{ "__add", "__sub", "__mul", "__concat", "__lt", "__le", "__len" } do
      of_results[name] = of_results[name] or fail_operation
    end
  end
  of_statements.__call = of_statements.__call or function()
    errors.raise("argument", "a statement is not a function; use `for row in statement:rows(...) do`, statement:fetch_all(...) or "
      .. "statement:execute(...)")
  end
end

--- Makes a library of Lua raise errors for names from other languages. Scripts may look for other functions, and define them.
local function refine_library(library, section, message)
  if not library or getmetatable(library) ~= nil then return end
  setmetatable(library, { __index = function(_, name)
    local use = replacement(section, name)
    if use then fail(name, message, name, use) end
  end })
end

-- Kept in local variables, because scripts may change the libraries later.
local local_value, function_at = debug and debug.getlocal, debug and debug.getinfo
local decode

--- The size of the longest text that is decoded for a message.
local longest_text = 1000000

--- Returns whether a text is a JSON document with a member of a name, or an array with an element at a position.
local function has_member(text, name)
  if #text > longest_text or not text:find(math.type(name) == "integer" and "^%s*%[" or "^%s*{") then return false end
  if type(name) == "string" and not text:find(name, 1, true) then return false end
  local is_json, document = pcall(decode, text)
  return is_json and type(document) == "table" and rawget(document, name) ~= nil
end

--- Raises if a script reads a member of a JSON text, which it takes for the decoded document. The function that reads the field has the
-- text among its local and temporary values.
local function check_json_text(name)
  if not function_at(3, "l") then return end
  local index = 1
  while true do
    local variable, value = local_value(3, index)
    if not variable then return end
    if type(value) == "string" and has_member(value, name) then
      local member = type(name) == "string" and "." .. name or ("[%d]"):format(name)
      fail(name, "a JSON text has no %s `%s`; use perilune.json.decode(text)%s, or the class option types = { column = \"json\" }, with which "
        .. "records have the decoded document as their field", type(name) == "string" and "field" or "element", tostring(name), member)
    end
    index = index + 1
  end
end

--- Makes fields of texts raise errors if they are members of the JSON document in the text.
local function refine_texts(perilune)
  decode = perilune.json.decode
  local other_field = getmetatable(string) and getmetatable(string).__index
  if not other_field or not local_value then return end
  getmetatable(string).__index = function(_, name)
    if type(name) == "string" or math.type(name) == "integer" then check_json_text(name) end
    return other_field(_, name)
  end
end

return function(perilune)
  -- A host may withhold the library `debug`.
  if not (debug and debug.getmetatable and debug.setmetatable and debug.getregistry) then return end
  refine_errors()
  refine_blobs(perilune.blob "")
  refine_functions(perilune)
  refine_library(string, "date_text", "a text has no field `%s`; %s")
  refine_texts(perilune)
  refine_library(os, "os", "no function `os.%s`; %s")
  refine_library(io, "io", "no function `io.%s`; %s")
  local metatables = registered()
  if metatables.changes and metatables.statement then refine_results(metatables) end
end
