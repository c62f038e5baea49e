--- Turns calls of unknown methods into errors that suggest the nearest name, instead of Lua's "attempt to call a nil value".
-- @tparam table methods the existing methods
-- @tparam ?string section the section of names from other libraries (other_names.lua)
-- @tparam ?string what the kind of the names; "method" by default

-- @tparam ?function is_column see other_names.find

return function(methods, section, what, is_column)
  setmetatable(methods, { __index = function(_, name)
    if type(name) ~= "string" then return nil end
    require("perilune.runtime.checks").raise_unknown_method(methods, name, section, what, is_column)
  end })
end
