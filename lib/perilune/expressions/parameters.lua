--- The parameters of prepared requests: their names in Swift and their slots in plans. A parameter that is compared with a column is
-- converted for that column, so several slots may have the same parameter name.

local parameters = {}

--- The converters of typed parameters; the positions are their numbers.
local converters = {}

--- Returns the slot of a parameter in a plan: `:name`, or for a typed parameter `=7:name`. The slots of values are numbers.
function parameters.slot(shape)
  if not shape.convert then return ":" .. shape.detail end
  if not shape.number then
    converters[#converters + 1] = shape.convert
    shape.number = #converters
  end
  return ("=%d:%s"):format(shape.number, shape.detail)
end

--- Returns the name of the parameter in a slot, and the converter for its values, or nil.
function parameters.read(slot)
  local number, name = slot:match("^=?(%d*):(.*)$")
  return name or slot, converters[math.tointeger(number)]
end

return parameters
