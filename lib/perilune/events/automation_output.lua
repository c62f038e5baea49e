--- Records the printed output of automation runs.

local native_loop = require "perilune.native.loop"

local automation_output = {}

local wrapped

local function text_of(...)
  local texts = {}
  for index = 1, select("#", ...) do texts[index] = tostring((select(index, ...))) end
  return table.concat(texts, "\t")
end

--- Replaces `print` by a function that also records its output. Does nothing if it has been replaced already.
-- @tparam ?table globals the globals of scripts
function automation_output.watch(globals)
  globals = globals or _G
  local print = rawget(globals, "print")
  if print == wrapped or type(print) ~= "function" then return end
  wrapped = function(...)
    if not native_loop.current() then return print(...) end
    local text = text_of(...)
    print(text)
    native_loop.note_output(text .. "\n")
  end
  rawset(globals, "print", wrapped)
end

--- Returns whether a function is the replaced `print`.
function automation_output.is_own(f) return f ~= nil and f == wrapped end

return automation_output
