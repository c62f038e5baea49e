--- Copies what runs of automations print into their journals.

local native = require "perilune.native.loop"

local automation_output = {}

local wrapped

local function text_of(...)
  local texts = {}
  for index = 1, select("#", ...) do texts[index] = tostring((select(index, ...))) end
  return table.concat(texts, "\t")
end

--- Replaces the global `print` by one that notes its output, unless it is replaced already.
function automation_output.watch()
  local print = rawget(_G, "print")
  if print == wrapped or type(print) ~= "function" then return end
  wrapped = function(...)
    if not native.current() then return print(...) end
    local text = text_of(...)
    print(text)
    native.note_output(text .. "\n")
  end
  _G.print = wrapped
end

return automation_output
