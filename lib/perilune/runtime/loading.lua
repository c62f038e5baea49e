--- Functions that are loaded on their first call, from modules that most scripts do not need.

local arity = require "perilune.runtime.arity"

--- Returns its arguments. A call around another call keeps that from being a tail call, which would lose the name of the function.
local function results(...) return ... end

--- Adds functions to a table that load their modules on the first call. Functions that a script has replaced by then stay replaced.
-- @tparam table target
-- @tparam string modules their names, separated by spaces. The last one returns the functions, or a table with the functions in the
--   field `public`
-- @tparam {string,...} names the names of the functions
-- @tparam ?string place the prefix of the functions' names in messages, "perilune." or "db:", to make them reject more arguments than
--   they declare
return function(target, modules, names, place)
  local loaders, defined = {}, nil

  local function load_modules()
    local replaced = {}
    for name, loader in next, loaders do
      if target[name] ~= loader then replaced[name] = target[name] end
    end
    local given
    for module in modules:gmatch("%S+") do given = require(module) end
    given, defined = given.public or given, {}
    for _, name in ipairs(names) do
      defined[name] = place and arity.limited(place .. name, given[name], place:sub(-1) == ":") or given[name]
      target[name] = defined[name]
    end
    for name, value in next, replaced do target[name] = value end
  end

  for _, name in ipairs(names) do
    loaders[name] = function(...)
      if not defined then load_modules() end
      return results(defined[name](...))
    end
    target[name] = loaders[name]
  end
end
