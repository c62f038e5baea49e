--- Types for editors (LuaCATS), for hovers and for checks while typing.

local reference = require "reference"

local types = {}

local function add(lines, text)
  lines[#lines + 1] = text
end

local function add_comment(lines, text)
  for _, line in ipairs(text) do add(lines, "---" .. line) end
end

--- Formats a type with its description.
local function described(kind, doc)
  return doc ~= "" and kind .. " " .. doc or kind
end

local function add_field(lines, field)
  add(lines, ("---@field %s%s %s"):format(field.name, field.is_optional and "?" or "", described(field.type, field.doc)))
end

--- Returns the lines about the errors of a function and the contexts in which it may be called.
local function add_contract(lines, item)
  local raises, waits, access = reference.raises(item), reference.waits(item), reference.access(item)
  if #raises > 0 or waits or access and access ~= "any" then add(lines, "---") end
  for _, entry in ipairs(raises) do
    add(lines, ("---- Raises `%s`%s"):format(entry.kind, entry.when ~= "" and " if " .. entry.when or ""))
  end
  if waits then add(lines, "---- Waits " .. waits) end
  if access and access ~= "any" then add(lines, "---- To be called " .. access) end
end

local function add_examples(lines, examples)
  for _, example in ipairs(examples) do
    add(lines, "---```lua")
    add_comment(lines, example)
    add(lines, "---```")
  end
end

--- The classes whose methods are a class of their own, so that a generated class inherits them without the fields of any name.
local divided = { ["perilune.record"] = "perilune.record_methods" }

--- Formats a type as part of a longer one.
local function enclosed(kind)
  return (kind:find("|", 1, true) or kind:find("^fun%(")) and "(" .. kind .. ")" or kind
end

--- Adds the form of a function without its optional database, which comes first.
local function add_form_without_database(lines, item)
  local first = item.params[1]
  if not first or first.name ~= "db" or not first.is_optional or #item.params == 1 then return end
  local parameters, results = {}, {}
  if item.separator == ":" then parameters[1] = "self: " .. (divided[item.class.name] or item.class.name) end
  for index = 2, #item.params do
    local param = item.params[index]
    parameters[#parameters + 1] = param.name .. (param.is_optional and "?" or "") .. ": " .. param.type
  end
  for index, result in ipairs(item.returns) do results[index] = enclosed(result.type) end
  add(lines, ("---@overload fun(%s)%s"):format(table.concat(parameters, ", "), #results > 0 and ": " .. table.concat(results, ", ") or ""))
end

local function add_function(lines, item, name)
  add_comment(lines, item.text)
  add_examples(lines, item.examples)
  add_contract(lines, item)
  table.move(item.verbatim, 1, #item.verbatim, #lines + 1, lines)
  add_form_without_database(lines, item)
  if item.is_async then add(lines, "---@async") end
  for _, param in ipairs(item.params) do
    add(lines, ("---@param %s%s %s"):format(param.name, param.is_optional and "?" or "", described(param.type, param.doc)))
  end
  for _, result in ipairs(item.returns) do
    add(lines, ("---@return %s"):format(described(result.type, ((result.name or "") .. " " .. result.doc):gsub("^ +", ""):gsub(" +$", ""))))
  end
  add(lines, ("function %s(%s) end"):format(name, item.parameters))
  add(lines, "")
end

--- Returns whether a class is a global of scripts, such as `perilune` and `expect`.
local function is_global(class)
  return class.variable ~= nil and (class.name == class.variable or class.name == "perilune." .. class.variable)
    and (class.variable == "perilune" or class.variable == "scenario" or class.variable == "expect")
end

local function add_class(lines, class)
  add_comment(lines, class.text or {})
  add(lines, "---@class " .. (class.is_exact and "(exact) " or "") .. class.name .. (class.parent and ": " .. class.parent or ""))
  for _, field in ipairs(class.fields) do add_field(lines, field) end
  table.move(class.verbatim, 1, #class.verbatim, #lines + 1, lines)
end

local function add_divided_class(lines, class, methods_name)
  local methods, fields = { name = methods_name, fields = {}, verbatim = {} }, { name = class.name, parent = methods_name, fields = {}, verbatim = {} }
  for _, field in ipairs(class.fields) do table.insert(field.name:find("^%[") and fields.fields or methods.fields, field) end
  fields.text, methods.text, methods.parent, methods.verbatim = class.text, { "The methods of all records." }, class.parent, class.verbatim
  add_class(lines, fields)
  add(lines, "")
  add_class(lines, methods)
end

--- Formats a class with its members. Each class has a scope of its own, because a file may have only 200 local variables.
local function add_members(lines, class)
  local is_local = #class.members > 0 and not is_global(class)
  if is_local then add(lines, "do") end
  if divided[class.name] then add_divided_class(lines, class, divided[class.name]) else add_class(lines, class) end
  if is_global(class) then add(lines, class.variable .. " = {}") end
  if is_local then add(lines, "local members = {}") end
  add(lines, "")
  for _, item in ipairs(class.members) do
    add_function(lines, item, is_local and "members" .. item.separator .. item.member or item.name)
  end
  if is_local then
    add(lines, "end")
    add(lines, "")
  end
end

--- Returns the text of a file of types.
-- @tparam table index the result of `reference.read`
-- @tparam boolean is_scenario true for the types of scenario files, false for the types of all scripts
function types.text(index, is_scenario)
  local lines = { "---@meta _", "-- Made from lib/reference by scripts/reference: not to be edited.", "" }
  for _, class in ipairs(index.class_list) do
    if class.pages[1].is_scenario == is_scenario then
      add_members(lines, class)
    end
  end
  for _, page in ipairs(index.pages) do
    for _, part in ipairs(page.is_scenario == is_scenario and page.parts or {}) do
      if part.kind == "alias" then
        add_comment(lines, part.text)
        if #part.values == 0 then
          add(lines, ("---@alias %s %s"):format(part.name, part.type))
        else
          add(lines, "---@alias " .. part.name)
          for _, value in ipairs(part.values) do add(lines, ('---| "%s" # %s'):format(value.value, value.doc)) end
        end
        add(lines, "")
      elseif part.kind == "global" then
        add_comment(lines, part.text)
        add(lines, "---@type " .. part.type)
        add(lines, part.name .. " = nil")
        add(lines, "")
      elseif part.kind == "function" and not part.item.class then
        add_function(lines, part.item, part.item.name)
      end
    end
  end
  return (table.concat(lines, "\n"):gsub("\n+$", "\n"))
end

return types
