--- Blocks effects outside the database: Lua library functions that change files, run programs or load native modules raise an error. Files
-- can still be read. This only prevents accidents; it is the sandbox that stops malicious scripts.

local errors = require "perilune.native.errors"
local withheld = require "perilune.native.withheld"

local refusals = {
  files = "cannot change files", programs = "cannot run programs", native = "cannot load native modules",
}

local function refuse(name, effect)
  errors.raise("preview", name .. ": a preview " .. refusals[effect], { grant = effect })
end

--- Replaces the functions of a library that a state has.
local function withhold(library, effect, names)
  if not (_G[library] and withheld[effect]) then return end
  for _, name in ipairs(names) do
    local full_name = library .. "." .. name
    if _G[library][name] then _G[library][name] = function() refuse(full_name, effect) end end
  end
end

withhold("os", "programs", { "execute" })
withhold("os", "files", { "remove", "rename", "tmpname" })
withhold("io", "programs", { "popen" })
withhold("package", "native", { "loadlib" })

if io and withheld.files then
  local open, output = io.open, io.output

  function io.open(name, mode, ...)
    if type(mode) == "string" and mode:find("[wa+]") then refuse("io.open", "files") end
    return open(name, mode, ...)
  end

  --- Lua also accepts a number as the name of a file.
  function io.output(file, ...)
    if type(file) == "string" or type(file) == "number" then refuse("io.output", "files") end
    return output(file, ...)
  end
end

if package and package.searchers and withheld.native then
  local searchpath = package.searchpath
  -- Replaces the searchers of native modules, because they would still call the original loading function.
  for _ = 1, 2 do package.searchers[#package.searchers] = nil end
  package.searchers[#package.searchers + 1] = function(name)
    for _, candidate in ipairs{ name, name:match("^[^.]+") } do
      local file = searchpath(candidate, package.cpath)
      if file then
        errors.raise("preview", ("require: module `%s` is native code (%s), which a preview cannot load"):format(name, file),
          { grant = "native" })
      end
    end
  end
end
