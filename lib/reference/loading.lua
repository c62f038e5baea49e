--- The table of functions that the library loads on their first call, generated from the reference.

local loading = {}

local head = [[
--- Passes the functions that are loaded on their first call to a function: the prefix of their names, their modules, and their names.
-- Generated from lib/reference/api by scripts/reference.
return function(add)
]]

local function quoted(names)
  local list = {}
  for index, name in ipairs(names) do list[index] = ("%q"):format(name) end
  return list
end

--- Returns names as elements of a table, in one line, or in lines of five below each other.
local function elements(names, width)
  local list = quoted(names)
  local line = table.concat(list, ", ")
  if #line <= width then return " " .. line .. " " end
  local lines = {}
  for index = 1, #list, 5 do lines[#lines + 1] = "\n    " .. table.concat(list, ", ", index, math.min(index + 4, #list)) .. "," end
  return table.concat(lines) .. "\n  "
end

--- Returns the text of the table.
function loading.text(index)
  local groups, by_key = {}, {}
  for _, item in ipairs(index.functions) do
    if item.module then
      local prefix, modules = item.owner .. item.separator, item.module:gsub("%S+", "perilune.%0")
      local key = prefix .. modules
      if not by_key[key] then
        by_key[key] = { prefix = prefix, modules = modules, names = {} }
        groups[#groups + 1] = by_key[key]
      end
      table.insert(by_key[key].names, item.member)
    end
  end
  local parts = { head }
  for _, group in ipairs(groups) do
    local start = ("  add(%q, %q, {"):format(group.prefix, group.modules)
    parts[#parts + 1] = start .. elements(group.names, 130 - #start) .. "})\n"
  end
  return table.concat(parts) .. "end\n"
end

return loading
