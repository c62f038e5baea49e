--- Parameters of prepared requests: their names in Swift and in plans. A parameter compared with a column is converted for that
-- column, so that the same name may belong to several slots.

local parameters = {}

--- The converters of typed parameters, by number.
local converters = {}

--- Returns the slot of a parameter in a plan: `:name`, or `=7:name` for a typed parameter. Slots of values are plain numbers.
function parameters.slot(shape)
  if not shape.convert then return ":" .. shape.detail end
  if not shape.number then
    converters[#converters + 1] = shape.convert
    shape.number = #converters
  end
  return ("=%d:%s"):format(shape.number, shape.detail)
end

--- Returns the parameter's name for a slot, and the converter of its values, or nil.
function parameters.read(slot)
  local number, name = slot:match("^=?(%d*):(.*)$")
  return name or slot, converters[math.tointeger(number)]
end

return parameters
