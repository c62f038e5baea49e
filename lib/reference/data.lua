--- The reference as JSON, for programs: the output of `perilune help --json`.

local reference = require "reference"

local data = {}

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }

local function encode_text(text)
  return '"' .. text:gsub('[%c"\\]', function(character)
    return escapes[character] or ("\\u%04x"):format(character:byte())
  end) .. '"'
end

--- Encodes a value; a table with `fields` is an object with its fields in this order, any other table an array.
local function encode(value)
  if type(value) == "string" then return encode_text(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for _, name in ipairs(value.fields or {}) do
    if value[name] ~= nil then parts[#parts + 1] = encode_text(name) .. ":" .. encode(value[name]) end
  end
  if value.fields then return "{" .. table.concat(parts, ",") .. "}" end
  for position, element in ipairs(value) do parts[position] = encode(element) end
  return "[" .. table.concat(parts, ",") .. "]"
end

local function map(list, convert)
  local result = {}
  for _, value in ipairs(list or {}) do result[#result + 1] = convert(value) end
  return result
end

local function joined(text)
  return table.concat(text or {}, " ")
end

local function parameter(item)
  return { fields = { "name", "type", "optional", "description" }, name = item.name, type = item.type, optional = item.is_optional,
    description = item.doc }
end

local function result(item)
  return { fields = { "type", "name", "description" }, type = item.type, name = item.name, description = item.doc }
end

local function raised(item)
  return { fields = { "kind", "condition" }, kind = item.kind, condition = item.when }
end

local function function_of(item)
  return {
    fields = { "name", "signature", "class", "description", "parameters", "returns", "raises", "waits", "may_be_called", "examples" },
    name = item.name, signature = reference.signature(item), class = item.class and item.class.name, description = joined(item.text),
    parameters = map(item.params, parameter), returns = map(item.returns, result), raises = map((reference.raises(item)), raised),
    waits = reference.waits(item) ~= nil, may_be_called = reference.access(item) or "any",
    examples = map(item.examples, function(lines) return table.concat(lines, "\n") end),
  }
end

local function class_of(class)
  return {
    fields = { "name", "variable", "extends", "description", "properties", "methods" }, name = class.name, variable = class.variable,
    extends = class.parent, description = joined(class.text), properties = map(class.fields, parameter),
    methods = map(class.members, function(item) return item.name end),
  }
end

local function alias_of(alias)
  return {
    fields = { "name", "type", "description", "values" }, name = alias.name, type = alias.type, description = joined(alias.text),
    values = map(alias.values, function(value)
      return { fields = { "value", "description" }, value = value.value, description = value.doc }
    end),
  }
end

--- Returns the whole reference as JSON text.
function data.json(index)
  local aliases = {}
  for _, page in ipairs(index.pages) do
    for _, part in ipairs(page.parts) do
      if part.kind == "alias" then aliases[#aliases + 1] = part end
    end
  end
  return encode{
    fields = { "format", "pages", "functions", "classes", "types" }, format = 1,
    pages = map(index.pages, function(page)
      return { fields = { "name", "title", "description" }, name = page.name, title = page.title, description = joined(page.text) }
    end),
    functions = map(index.functions, function_of), classes = map(index.class_list, class_of), types = map(aliases, alias_of),
  } .. "\n"
end

return data
