--- What a preview prevents outside of its database: the functions of Lua's own libraries that change files
-- or run programs refuse. Reading stays. No wall against a script that means harm: that is what the sandbox is for.

local errors = require "perilune.native.errors"

local function refuse(name, what)
  errors.raise("preview", name .. ": a preview " .. what)
end

local function refusing(name, what)
  return function() refuse(name, what) end
end

local writes, runs = "cannot change files", "cannot run programs"

if os and os.execute then
  os.execute, os.remove, os.rename = refusing("os.execute", runs), refusing("os.remove", writes), refusing("os.rename", writes)
  os.tmpname = refusing("os.tmpname", writes)
end

if io then
  local open, output = io.open, io.output
  io.popen = refusing("io.popen", runs)

  function io.open(name, mode, ...)
    if type(mode) == "string" and mode:find("[wa+]") then refuse("io.open", writes) end
    return open(name, mode, ...)
  end

  function io.output(file, ...)
    if type(file) == "string" then refuse("io.output", writes) end
    return output(file, ...)
  end
end

if package and package.loadlib then
  package.loadlib = refusing("package.loadlib", runs)
  for _ = 1, 2 do package.searchers[#package.searchers] = nil end -- those of libraries in C, which know loadlib as it was
end
