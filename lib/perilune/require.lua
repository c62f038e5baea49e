--- The `require` of the library's own modules, separate from the `require` of scripts.
--
-- Modules are found by their path in `lib`: `require "perilune.records.writing"` runs `perilune/records/writing.lua` once. The
-- Swift and C functions are modules too, named `perilune.native.*`. `package.path` and `package.loaded` are not used.

--- The function that compiles a module, `compile(name, environment)`, and the modules that are loaded already, by name.
local compile, loaded = ...

-- Scripts may have replaced the globals when the functions below are called.
local setmetatable, tostring = setmetatable, tostring

--- The globals of the library: Lua's own globals, copied before any script can replace them, and the two functions below.
local environment = {}
for name, value in next, _G do environment[name] = value end

--- Returns the result of a module, which runs once.
local function require(name)
  local module = loaded[name]
  if module == nil then
    module = compile(name, environment)(name)
    if module == nil then module = true end
    loaded[name] = module
  end
  return module
end

--- Returns a module that is loaded on first use.
local function lazily(name)
  return setmetatable({}, {
    __index = function(_, key) return require(name)[key] end,
    __newindex = function(_, key, value) require(name)[key] = value end,
    __call = function(_, ...) return require(name)(...) end,
    __tostring = function() return tostring(require(name)) end,
  })
end

environment.require, environment.lazily = require, lazily

return require, environment
