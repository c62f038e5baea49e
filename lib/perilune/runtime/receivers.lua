--- Checks of method receivers, the value before the colon. `request.fetch_all()`, with a dot, passes no receiver; this is reported as an
-- error.

local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"
local raise = errors.raise

local receivers = {}

--- The kinds of receivers: `is` tests a value, `name` is its description in messages, and `example` is the variable in their
-- examples.
receivers.kinds = {
  request = { is = marks.is_request, name = "a request", example = "request" },
  association = { is = marks.is_association, name = "an association", example = "Class.association" },
  expression = { is = marks.is_expression, name = "an expression", example = "column" },
}

--- Raises for a value that is not a valid receiver of a method.
function receivers.refuse(kind, method, value)
  raise("argument", ("%s: expected %s before the colon (%s:%s(...)), got %s"):format(method, kind.name, kind.example, method, errors.describe(value)))
end

--- Returns a method that checks its receiver.
function receivers.checked(kind, name, method)
  local is, refuse = kind.is, receivers.refuse
  return function(self, ...)
    if not is(self) then refuse(kind, name, self) end
    return method(self, ...)
  end
end

--- Returns a table of methods that check their receiver, each created on first use.
-- @tparam ?{[string]=boolean} unchecked methods that check it themselves
function receivers.checked_methods(kind, methods, unchecked)
  return setmetatable({}, { __index = function(checked, name)
    local method = methods[name]
    if type(method) == "function" and not (unchecked and unchecked[name]) then method = receivers.checked(kind, name, method) end
    checked[name] = method
    return method
  end })
end

return receivers
