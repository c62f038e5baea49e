--- Functions that are defined when they are first called: those of modules that most scripts do not need.

--- Puts functions into a table that load the modules which define them, when first called. What a script has put in their place by
-- then stays.
-- @tparam table target
-- @tparam string|table modules which have put the functions there when all are loaded, or the last of which gives a table of them
-- @tparam table names of the functions
return function(target, modules, names)
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
      defined[name] = target[name]
    end
    for name, value in next, replaced do target[name] = value end
  end

  for _, name in ipairs(names) do
    loaders[name] = function(...)
      if not defined then load_modules() end
      return defined[name](...)
    end
    target[name] = loaders[name]
  end
end
