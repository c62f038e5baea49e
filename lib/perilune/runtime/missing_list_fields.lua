--- Raises an error for a field that lists of rows and records do not have: a list method of other languages, or a field of the elements.
-- Any other field is nil, as in a plain table.

local errors = require "perilune.native.errors"
local other_names = require "perilune.runtime.other_names"

--- Returns whether the first element has a value in the field.
local function has_element_field(list, name)
  local first = rawget(list, 1)
  if type(first) ~= "table" then return false end
  local is_field, value = pcall(function() return first[name] end)
  return is_field and value ~= nil
end

-- @tparam ?string source the request that fetches the elements, for the message, such as `record:books()`; `Class` by default
return function(list, name, source)
  -- In lists from table.pack, the field `n` is the length.
  if type(name) ~= "string" or name == "n" then return nil end
  local use = has_element_field(list, name) and ("use list[1].%s, or a loop: for _, element in ipairs(list) do ... end"):format(name)
    or other_names.find("list", name)
  if use and source then use = use:gsub("Class:", source .. ":") end
  if use then errors.raise("unknown_member", ("a list has no field `%s`; %s"):format(name, use), { name = name, advice = use }) end
end
