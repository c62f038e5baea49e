--- The `require` of the library's own modules, which is separate from that of scripts.
--
-- It finds modules by their path in `lib`: `require "perilune.records.writing"` runs `perilune/records/writing.lua`, once. What
-- Swift and C provide are modules too: `perilune.native.*`. Neither `package.path` nor `package.loaded` plays a part.

--- What compiles a module: `compile(name, environment)`; the modules that are there already, by name.
local compile, loaded = ...

--- The globals of the library: those of Lua as they were before any script could replace them, and these two functions.
local environment = {}
for name, value in next, _G do environment[name] = value end

--- What a module returns; it is run once.
local function require(name)
  local module = loaded[name]
  if module == nil then
    module = compile(name, environment)(name)
    if module == nil then module = true end
    loaded[name] = module
  end
  return module
end

--- A module that is loaded when something of it is first used.
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
