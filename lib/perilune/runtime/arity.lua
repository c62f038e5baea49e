--- The number of arguments of methods. A surplus argument is an error, because it would be ignored.
--
-- The first surplus argument is declared as a parameter, which is faster than variable arguments. A surplus nil is not an error.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"

local arity = {}

local function count_text(most)
  if most == 0 then return "no arguments" end
  return most == 1 and "one argument" or "at most " .. most .. " arguments"
end

--- Raises an error for a database that follows other arguments.
-- @tparam ?string receiver the word for the receiver, if the message could not name it: C functions no longer have it, and their only object
--   is the database
function arity.refuse_database(method, receiver)
  errors.raise("argument", (receiver and receiver .. ":" or "") .. method .. ": the database is the first argument, before all others")
end

--- Raises an error for a surplus argument.
-- @tparam string method
-- @tparam integer most the maximum number of arguments
-- @param surplus
-- @tparam ?string cure
function arity.refuse(method, most, surplus, cure)
  if native_records.is_database(surplus) then arity.refuse_database(method) end
  errors.raise("argument", method .. ": takes " .. count_text(most) .. ", got " .. errors.describe(surplus) .. " as argument "
    .. most + 1 .. (cure and "; " .. cure or ""))
end

local refuse = arity.refuse

--- Returns its arguments. Wrapped around another call, it prevents a tail call, after which messages could not name the method.
local function results(...) return ... end

local wrappers = {
  [0] = function(method, f, cure)
    return function(self, surplus)
      if surplus ~= nil then refuse(method, 0, surplus, cure) end
      return results(f(self))
    end
  end,
  function(method, f, cure)
    return function(self, a, surplus)
      if surplus ~= nil then refuse(method, 1, surplus, cure) end
      return results(f(self, a))
    end
  end,
  function(method, f, cure)
    return function(self, a, b, surplus)
      if surplus ~= nil then refuse(method, 2, surplus, cure) end
      return results(f(self, a, b))
    end
  end,
  function(method, f, cure)
    return function(self, a, b, c, surplus)
      if surplus ~= nil then refuse(method, 3, surplus, cure) end
      return results(f(self, a, b, c))
    end
  end,
  function(method, f, cure)
    return function(self, a, b, c, d, surplus)
      if surplus ~= nil then refuse(method, 4, surplus, cure) end
      return results(f(self, a, b, c, d))
    end
  end,
}

--- The wrappers of functions that are called with a dot and do not receive an object.
local function_wrappers = {
  [0] = function(name, f, cure)
    return function(surplus)
      if surplus ~= nil then refuse(name, 0, surplus, cure) end
      return f()
    end
  end,
  function(name, f, cure)
    return function(a, surplus)
      if surplus ~= nil then refuse(name, 1, surplus, cure) end
      return f(a)
    end
  end,
  function(name, f, cure)
    return function(a, b, surplus)
      if surplus ~= nil then refuse(name, 2, surplus, cure) end
      return f(a, b)
    end
  end,
  function(name, f, cure)
    return function(a, b, c, surplus)
      if surplus ~= nil then refuse(name, 3, surplus, cure) end
      return f(a, b, c)
    end
  end,
  function(name, f, cure)
    return function(a, b, c, d, surplus)
      if surplus ~= nil then refuse(name, 4, surplus, cure) end
      return f(a, b, c, d)
    end
  end,
}

--- Makes functions of a module reject surplus arguments.
-- @tparam table functions
-- @tparam string place the prefix of a function's name in messages
-- @tparam {[string]=integer} counts the maximum number of arguments by function
-- @tparam ?{[string]=string} cures what to write instead
function arity.limit_functions(functions, place, counts, cures)
  for name, most in pairs(counts) do
    functions[name] = function_wrappers[most](place .. name, functions[name], cures and cures[name])
  end
end

--- What to write in place of surplus arguments of limited functions.
local cures = {
  ["db:add_function"] = "the options come before the function: db:add_function(name, { arguments = 1, deterministic = true }, f)",
  ["db:add_aggregate"] = "the options come before the functions: db:add_aggregate(name, { arguments = 1, deterministic = true }, { step = f })",
  ["db:add_collation"] = "a collation has no options",
  ["db:tables"] = "use db:fetch_values(\"SELECT name FROM name.sqlite_schema WHERE type = 'table'\") for an attached database",
  ["perilune.history"] = "each class has its own history: call it once for each",
  ["task:wait"] = "a wait has no time limit; use perilune.after(\"5s\", function() task:cancel() end) before it",
  ["perilune.enum"] = "use perilune.enum{ \"a\", \"b\" }", ["perilune.case"] = "use perilune.case{ { condition, value }, otherwise = value }",
  ["perilune.count"] = "use Class.c.name:count() to count the values of a column", ["perilune.automation"] = "use perilune.automation{ name = ..., on = { ... }, run = f }",
  ["perilune.emit"] = "pass several values in a table", ["perilune.vector"] = "use perilune.vector{ 1, 2 }",
  ["perilune.json.encode"] = "the text has one form; an empty list is perilune.json.array{}", ["perilune.sleep"] = "use perilune.sleep(\"10ms\") for other units",
  ["snapshot"] = "it compares the whole value; leave out columns before, as in expect(request:select(\"title\")):snapshot(name)",
}

--- The functions that already reject surplus arguments.
local is_limited = setmetatable({}, { __mode = "k" })

-- Kept in a local variable, because scripts may change the library `debug` later.
local getinfo = debug and debug.getinfo

--- Wraps a Lua function so that it rejects more arguments than it declares. Returns the function itself if it accepts any number of
-- arguments.
-- @tparam string name its name in messages
-- @tparam ?boolean is_method whether its first parameter is the object before the colon
-- @tparam ?string cure what to write instead of surplus arguments
function arity.limited(name, f, is_method, cure)
  local info = getinfo and not is_limited[f] and getinfo(f, "u")
  if not info or info.isvararg then return f end
  local wrap = is_method and wrappers[info.nparams - 1] or not is_method and function_wrappers[info.nparams]
  if not wrap then return f end
  local limited = wrap(name, f, cure or cures[name])
  is_limited[limited] = true
  return limited
end

--- Makes all methods of a table reject more arguments than they declare.
-- @tparam string place the prefix of a method's name in messages
function arity.limit_all(methods, place)
  for name, method in pairs(methods) do
    if type(method) == "function" and not name:find("^__") then methods[name] = arity.limited(place .. name, method, true) end
  end
end

--- Makes methods reject surplus arguments.
-- @tparam table methods
-- @tparam string place the prefix of the method's name in messages
-- @tparam {[string]=integer} counts the maximum number of arguments by method, without `self`
-- @tparam ?{[string]=string} cures what to write instead
function arity.limit(methods, place, counts, cures)
  for name, most in pairs(counts) do
    methods[name] = wrappers[most](place .. name, methods[name], cures and cures[name])
  end
end

return arity
