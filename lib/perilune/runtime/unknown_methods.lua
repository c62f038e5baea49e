--- Makes an unknown method an error with the nearest name, in place of Lua's "attempt to call a nil value".
-- @tparam table methods those that there are

return function(methods)
  setmetatable(methods, { __index = function(_, name)
    if type(name) == "string" then require("perilune.runtime.checks").raise_unknown_method(methods, name) end
  end })
end
