--- Parameters of prepared requests: their names in Swift and in plans. One that a column is compared with is written as the column has
-- it, so that the same name may stand for several slots.

local parameters = {}

--- By number: what makes values of a typed parameter those of its column.
local converters = {}

--- What stands for a parameter in a plan: `:name`, or `=7:name` for a typed one. Values have plain numbers.
function parameters.slot(shape)
  if not shape.convert then return ":" .. shape.detail end
  if not shape.number then
    converters[#converters + 1] = shape.convert
    shape.number = #converters
  end
  return ("=%d:%s"):format(shape.number, shape.detail)
end

--- The name of the parameter for a slot, and what converts its values, or nil.
function parameters.read(slot)
  local number, name = slot:match("^=?(%d*):(.*)$")
  return name or slot, converters[math.tointeger(number)]
end

return parameters
