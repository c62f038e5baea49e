--- Marks that distinguish values of the library from other tables, before what makes such values is loaded: their metatables answer with a mark.

local marks = {}

--- A condition, or what else SQL computes.
function marks.is_expression(value) return type(value) == "table" and getmetatable(value) == "expression" end

--- What is to be fetched.
function marks.is_request(value) return type(value) == "table" and getmetatable(value) == "request" end

--- Which rows of one class belong to those of another.
function marks.is_association(value) return type(value) == "table" and getmetatable(value) == "association" end

--- An expression as SQL without parameters, its columns without their table: for definitions, and for upserts, where a function gives the
-- SQL of a column of perilune.excluded. The room of expressions sets it.
marks.inline_sql = nil

--- The SQL of a write as a value, its values written out; nil for anything else. The room of records sets it.
marks.statement_sql = nil

--- The request that a value stands for, or nil. The room of requests sets it.
marks.request_of = nil

--- The fields of an object that has none in its own table, and says by `__pairs` what they are; nil for any other value.
function marks.fields_of_object(value)
  local metatable = type(value) == "table" and getmetatable(value)
  if type(metatable) ~= "table" or rawget(metatable, "__pairs") == nil or next(value) ~= nil then return nil end
  local fields = {}
  for name, field in pairs(value) do fields[name] = field end
  return fields
end

return marks
