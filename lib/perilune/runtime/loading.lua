--- Functions that are loaded on their first call, from modules that most scripts do not need.

local arity = require "perilune.runtime.arity"

--- Returns its arguments. A call around another call keeps that from being a tail call, which would lose the name of the function.
local function results(...) return ... end

--- Adds functions to a table that load their modules on the first call. If a script has replaced one of the functions before that, its
-- replacement is kept.
-- @tparam table target
-- @tparam string modules their names, separated by spaces. The last one returns the functions, or a table with the functions in the
--   field `public`
-- @tparam {string,...} names the names of the functions
-- @tparam ?string place the prefix of the functions' names in messages, "perilune." or "db:", to make them reject more arguments than
--   they declare
return function(target, modules, names, place)
  local loaders, defined = {}, nil

  local function load_modules()
    local given
    for module in modules:gmatch("%S+") do given = require(module) end
    given, defined = given.public or given, {}
    for index, name in ipairs(names) do
      defined[name] = place and arity.limited(place .. name, given[name], place:sub(-1) == ":") or given[name]
      if target[name] == loaders[index] then target[name] = defined[name] end
    end
  end

  -- This loop runs at the start of every script, so it must be fast.
  for index = 1, #names do
    local name = names[index]
    local function loader(...)
      if not defined then load_modules() end
      return results(defined[name](...))
    end
    loaders[index], target[name] = loader, loader
  end
end
