--- Functions that are loaded on their first call, from modules that most scripts do not need.

local arity = require "perilune.runtime.arity"

--- Returns its arguments. A call around another call keeps that from being a tail call, which would lose the name of the function.
local function results(...) return ... end

--- Adds functions to a table that load their modules on the first call. Functions that a script has replaced by then stay replaced.
-- @tparam table target
-- @tparam string|table modules modules that add the functions to the table when loaded; or the last of them returns a table of
--   functions
-- @tparam table names the names of the functions
-- @tparam ?string place the prefix of the functions' names in messages, "perilune." or "row:", to make them reject more arguments than
--   they declare
return function(target, modules, names, place)
  local loaders, defined = {}, nil

  local function load_modules()
    local replaced = {}
    for name, loader in next, loaders do
      if target[name] ~= loader then replaced[name] = target[name] end
    end
    local given
    for _, module in ipairs(type(modules) == "table" and modules or { modules }) do given = require(module) end
    defined = {}
    for _, name in ipairs(names) do
      if target[name] == loaders[name] then target[name] = given[name] end
      if place then target[name] = arity.limited(place .. name, target[name], place:sub(-1) == ":") end
      defined[name] = target[name]
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
