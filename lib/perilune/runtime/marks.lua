--- Marks that distinguish values of the library from other tables, even before the modules that create such values are loaded. The mark is
-- the `__metatable` field of their metatables.

local marks = {}

--- The number of unused positions before the values of a request. They are empty, so that request[1] and ipairs(request) call __index,
-- which raises an error. records.derivation relies on the same number. A node's `count` includes them; a request within another has none.
marks.unused_positions = 2

--- Returns whether a value is an expression: a condition, or any other value computed by SQL.
function marks.is_expression(value) return type(value) == "table" and getmetatable(value) == "expression" end

--- Returns whether a value is a request.
function marks.is_request(value) return type(value) == "table" and getmetatable(value) == "request" end

--- Returns whether a value is an association.
function marks.is_association(value) return type(value) == "table" and getmetatable(value) == "association" end

--- Returns an expression as SQL without parameters, with unqualified columns, for definitions and upserts. Its second argument is a
-- function that returns the SQL for a column of perilune.excluded. Set by the expressions modules.
marks.inline_sql = nil

--- Returns a condition in which the dates compared with columns by name are converted to the form that the column stores. Its second
-- argument is a function that returns this form for the name of a column. Set by the expressions modules.
marks.resolve_dates = nil

--- Returns the SQL of a statement value (see records/statements.lua), with literals in place of parameters; nil for anything else. Set by
-- the records modules.
marks.statement_sql = nil

--- Returns the set of those fields of a record whose columns store days; nil if the value is not a record. Set by the records modules.
marks.day_fields = nil

--- Returns the info of a class of records; nil for any other value. Set by the records modules.
marks.class_info = nil

--- Returns the request for a value, or nil. Set by the requests modules.
marks.request_of = nil

--- Raises for a date in a statement of a class that is compared with a column of days. Set by the requests modules.
marks.check_statement = nil

--- Returns the fields of an object whose own table is empty, and which provides them by `__pairs`; nil for any other value.
function marks.fields_of_object(value)
  local metatable = type(value) == "table" and getmetatable(value)
  if type(metatable) ~= "table" or rawget(metatable, "__pairs") == nil or next(value) ~= nil then return nil end
  local fields = {}
  for name, field in pairs(value) do fields[name] = field end
  return fields
end

return marks
