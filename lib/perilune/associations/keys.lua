--- Keys of prefetched rows and their parents.

local sql_names = require "perilune.runtime.names"
local association_keys = {}

--- Functions by the form of a key, which the compiler chooses. Each one maps all values that SQLite considers equal to the same value.
local forms = {}

function forms.number(value)
  if type(value) ~= "string" or not value:find("^%s*[+-]?[%d.]+[eE]?[+-]?%d*%s*$") then return value end
  return tonumber(value) or value
end

function forms.text(value)
  if math.type(value) == "float" then
    local text = ("%.15g"):format(value)
    return text:find("[^%d-]") and text or text .. ".0"
  end
  return tostring(value)
end

function forms.textNoCase(value) return sql_names.fold(forms.text(value)) end
function forms.textTrimmed(value) return (forms.text(value):gsub(" +$", "")) end
function forms.same(value) return value end
function forms.sameNoCase(value) return type(value) == "string" and sql_names.fold(value) or value end
function forms.sameTrimmed(value) return type(value) == "string" and value:gsub(" +$", "") or value end

--- Returns the stored values of a record's key; nil if one is NULL. Booleans are stored as numbers.
function association_keys.values_of(readers_of_key, record)
  local values = {}
  for index, read in ipairs(readers_of_key) do
    local value = read(record)
    if value == nil then return nil end
    if type(value) == "boolean" then value = value and 1 or 0 end
    values[index] = value
  end
  return values
end

--- Returns a number unchanged. For text and blobs, returns their kind, `s` or `b`, and their bytes, because a blob never equals text with
-- the same bytes.
local function normal(value, form)
  if type(value) == "userdata" then return "b", tostring(value) end
  if form then value = forms[form](value) end
  if type(value) == "string" then return "s", value end
  return value
end

--- Returns a key as a single value, which is the same for equal keys.
-- @tparam ?table key_forms nil if only SQLite can determine whether keys are equal
function association_keys.identity(values, key_forms)
  if #values == 1 then
    local kind, bytes = normal(values[1], key_forms and key_forms[1])
    return bytes and kind .. bytes or kind
  end
  local parts = {}
  for index, value in ipairs(values) do
    local kind, bytes = normal(value, key_forms and key_forms[index])
    parts[index] = bytes and kind .. #bytes .. ":" .. bytes or tostring(math.tointeger(kind) or ("%.17g"):format(kind))
  end
  return table.concat(parts, " ")
end

--- Returns whether a key has a number in a column that is compared only with text. Such a key never matches.
local function has_numbers(values, text_columns)
  for _, column in ipairs(text_columns) do
    if type(values[column]) == "number" then return true end
  end
  return false
end

--- Returns the distinct keys of all parents as lists of values, and a table that groups the parents by key. If only SQLite can determine
-- whether keys are equal, the groups are indexed by the position of their key in the list instead.
function association_keys.collect(prefetch, parents)
  local keys, groups, known, key_forms = {}, {}, {}, prefetch.key_forms
  for _, parent in ipairs(parents) do
    local values = parent and association_keys.values_of(prefetch.parent_readers, parent)
    if values and not has_numbers(values, prefetch.text_columns) then
      local exact = association_keys.identity(values)
      if not known[exact] then
        keys[#keys + 1] = values
        local group = key_forms and association_keys.identity(values, key_forms) or #keys
        groups[group] = groups[group] or {}
        known[exact] = groups[group]
      end
      table.insert(known[exact], parent)
    end
  end
  return keys, groups
end

--- Returns text that lists the given columns in which a key has no number.
local function other_columns(key, number_columns)
  local others = ""
  for _, column in ipairs(number_columns) do
    if type(key[column]) ~= "number" then others = others .. column .. " " end
  end
  return others
end

--- Divides keys into batches, one for each statement.
-- @tparam table number_columns the columns for which numbers and other values need different statements
-- @return a list of tables with `keys`, their `positions` among all keys, and `has_texts`: whether one of these columns contains no numbers
function association_keys.batches(keys, most, number_columns)
  local kinds, names, batches = {}, {}, {}
  for position, key in ipairs(keys) do
    local name = other_columns(key, number_columns)
    if not kinds[name] then kinds[name], names[#names + 1] = {}, name end
    table.insert(kinds[name], position)
  end
  for _, name in ipairs(names) do
    local kind = kinds[name]
    for first = 1, #kind, most do
      local last = math.min(first + most - 1, #kind)
      local batch = { keys = {}, positions = table.move(kind, first, last, 1, {}), has_texts = name ~= "" }
      for index, position in ipairs(batch.positions) do batch.keys[index] = keys[position] end
      batches[#batches + 1] = batch
    end
  end
  return batches
end

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\" }

--- Returns a value as JSON; nil if JSON cannot represent it: floats would lose digits, and blobs would become text.
local function json_value(value)
  local kind = math.type(value) or type(value)
  if kind == "integer" then return tostring(value) end
  if kind == "boolean" then return value and "1" or "0" end
  if kind ~= "string" or not utf8.len(value) or value:find("\0", 1, true) then return nil end
  return '"' .. value:gsub('[%c"\\]', function(character)
    return escapes[character] or ("\\u%04x"):format(character:byte())
  end) .. '"'
end

--- Returns the keys as JSON: a list of values, or of lists of values; nil if JSON cannot represent them.
function association_keys.json(keys)
  local parts = {}
  for index, key in ipairs(keys) do
    local values = {}
    for position, value in ipairs(key) do
      values[position] = json_value(value)
      if not values[position] then return nil end
    end
    parts[index] = #values == 1 and values[1] or "[" .. table.concat(values, ",") .. "]"
  end
  return "[" .. table.concat(parts, ",") .. "]"
end

return association_keys
