--- The modules and globals of automation files. Modules that a file requires are reloaded with the file.

local output = require "perilune.events.automation_output"

local automation_files = {}

--- The names of the modules that were loaded before the first file.
local own

--- Returns the table of loaded modules; an empty one if scripts have no modules.
local function loaded_modules()
  local package = rawget(_G, "package")
  local loaded = type(package) == "table" and package.loaded
  return type(loaded) == "table" and loaded or {}
end

local function required_by_files()
  local required = {}
  for name, module in pairs(loaded_modules()) do
    if own and not own[name] then required[name] = module end
  end
  return required
end

--- Unloads the modules that files have required, so that `require` loads them again.
-- @return the modules, for `put_back`
function automation_files.forget_modules()
  local loaded = loaded_modules()
  if not own then
    own = {}
    for name in pairs(loaded) do own[name] = true end
  end
  local required = required_by_files()
  for name in pairs(required) do loaded[name] = nil end
  return required
end

--- Restores the given modules and unloads all others that files have required.
function automation_files.put_back(modules)
  automation_files.forget_modules()
  local loaded = loaded_modules()
  for name, module in pairs(modules) do loaded[name] = module end
end

--- The globals of which each file has its own copy. All other globals belong to the scripts that ran before the first file.
local standard_names = {
  "_VERSION", "assert", "collectgarbage", "coroutine", "db", "debug", "dofile", "error", "getmetatable", "io", "ipairs", "load", "loadfile", "math",
  "next", "os", "package", "pairs", "pcall", "perilune", "print", "rawequal", "rawget", "rawlen", "rawset", "require", "select", "setmetatable",
  "string", "table", "tonumber", "tostring", "type", "utf8", "warn", "xpcall",
}

--- Creates the globals for a version of a file, which are discarded with it.
-- @tparam table base the globals of the scripts that ran before the first file
function automation_files.make_globals(base)
  local globals = {}
  -- This must happen before the globals are copied, so that the file's `print` records the output of its runs.
  output.watch(base)
  for _, name in ipairs(standard_names) do globals[name] = rawget(base, name) end
  globals._G = globals
  return setmetatable(globals, {
    __index = base,
    __newindex = function(self, name, value)
      rawset(rawget(base, name) ~= nil and base or self, name, value)
    end,
  })
end

--- Returns the possible locations of required modules: a path for each name and each search location.
function automation_files.paths()
  local package, paths = rawget(_G, "package"), {}
  local places = type(package) == "table" and type(package.path) == "string" and package.path or ""
  for name in pairs(required_by_files()) do
    local file = tostring(name):gsub("%.", "/"):gsub("%%", "%%%%")
    for place in places:gmatch("[^;]+") do paths[#paths + 1] = (place:gsub("%?", file)) end
  end
  table.sort(paths)
  return paths
end

return automation_files
