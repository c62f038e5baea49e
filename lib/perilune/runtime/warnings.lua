--- Writes warnings from `warn` to the log. They would be lost otherwise, because states have no function for warnings.

local errors = require "perilune.native.errors"

--- Replaces the global `warn`, unless the host withholds it. Like Lua's, it takes the pieces of a message, or `"@on"` or `"@off"` alone.
-- @tparam table log the table `perilune.log`
return function(log)
  if type(rawget(_G, "warn")) ~= "function" then return end
  local is_on = true
  rawset(_G, "warn", function(...)
    local count = select("#", ...)
    if count == 0 then errors.raise("argument", "warn: argument 1: expected a string, got no value") end
    for i = 1, count do
      local piece = select(i, ...)
      if type(piece) ~= "string" and type(piece) ~= "number" then
        errors.raise("argument", ("warn: argument %d: expected a string, got %s"):format(i, errors.describe(piece)))
      end
    end
    local message = table.concat({ ... })
    if count == 1 and message:sub(1, 1) == "@" then
      if message == "@on" or message == "@off" then is_on = message == "@on" end
    elseif is_on then
      log.warning(message)
    end
  end)
end
