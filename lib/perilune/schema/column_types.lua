--- The types of columns in records: conversions between fields and stored values.
-- The schema contains the content of a column according to its declared type (`content`: dates, booleans, bytes). The option
-- `types` of a record sets or overrides the types of columns.
--
-- A converter has a `name` for messages; `write(value)`, which returns the stored value, or nil and the problem; and, unless fields
-- contain the stored values, `read(value)`, which returns the field, or nil and the problem. Neither receives nil.

local null = require("perilune.native.values").null
local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"

local column_types = {}

local function expected(what, value)
  return nil, "expected " .. what .. ", got " .. errors.describe(value)
end

-- MARK: - Types by name

--- Returns a converter that only checks values. Only writing checks them: any stored value can be read.
local function check(name, what, accept)
  return {
    name = name,
    write = function(value)
      local accepted = accept(native_values.plain(value))
      if accepted == nil then return expected(what, value) end
      return accepted
    end,
  }
end

local named = {
  any = { name = "any" },
  integer = check("integer", "an integer", math.tointeger),
  float = check("float", "a number", function(value) return type(value) == "number" and value + 0.0 or nil end),
  string = check("string", "a string", function(value) return type(value) == "string" and value or nil end),
}

-- math.tointeger accepts strings too.
named.integer.write = (function(write)
  return function(value)
    if type(value) ~= "number" then return expected("an integer", value) end
    return write(value)
  end
end)(named.integer.write)

named.boolean = {
  name = "boolean",
  -- For columns declared as BOOLEAN, the row path has converted the value already.
  read = function(value)
    if type(value) == "boolean" then return value end
    if math.type(value) == "integer" then return value ~= 0 end
    return expected("a boolean", value)
  end,
  write = function(value)
    if type(value) == "boolean" then return value end
    return expected("true or false", value)
  end,
}

named.blob = {
  name = "blob",
  write = function(value)
    local plain = native_values.plain(value)
    if type(plain) == "string" then return perilune.blob(plain) end
    if native_values.is_blob(plain) then return plain end
    return expected("a string or perilune.blob", value)
  end,
}

--- The converter of columns declared for bytes. SQLite can store numbers in them too, and so can records.
local declared_blob = {
  name = "blob",
  write = function(value)
    local plain = native_values.plain(value)
    if type(plain) == "number" then return plain end
    return named.blob.write(value)
  end,
}

local date = perilune.date
local date_components = perilune.date_components

--- Returns a function that writes dates. Stored numbers can be read, but numbers are not accepted for writing, because they could mean
-- Julian days as well as Unix seconds.
local function writer_of_dates(what, is, read)
  return function(value)
    if is(value) then return native_values.plain(value) end
    if type(value) == "number" then return expected(what, value) end
    local converted, message = read(value)
    if converted == nil then return nil, message end
    return native_values.plain(converted)
  end
end

local write_instant = writer_of_dates("a date (perilune.date(...)) or its text", date.is, native_values.read_date)

--- For dates that are keys of other rows: the text that the other row stores.
local kept_texts = setmetatable({}, { __mode = "k" })

--- Records the text to store for a date that refers to another row. It must be the same text as in that row, because SQL compares keys as
-- texts.
function column_types.keep_text(date, text) kept_texts[date] = text end

--- Returns a date as a day. Years before 0, whose texts do not sort, are cut off in the same way.
local function write_day(value)
  if kept_texts[value] then return kept_texts[value] end
  local text, message = write_instant(value)
  if text == nil then return nil, message end
  return (text:gsub(" .*$", ""))
end

--- Converters of dates have a `form`; see stored_dates.lua. Texts in the common forms are read by the row path without these converters.
local day = { name = "date", form = "day", read = native_values.read_date, write = write_day }
local instant = { name = "datetime", form = "instant", read = native_values.read_date, write = write_instant }

--- Days, except in columns that are declared for dates with times.
named.date = day
named.datetime = instant

--- The converters by the content of a column.
local by_content = { boolean = named.boolean, blob = declared_blob, day = day, date = instant }

named.date_components = {
  name = "date_components",
  read = native_values.read_date_components,
  write = writer_of_dates("date components (perilune.date_components(...)) or their text", date_components.is,
    native_values.read_date_components),
}

named.json = {
  name = "json",
  read = function(value) return require("perilune.runtime.json").try_decode(value) end,
  write = function(value) return require("perilune.runtime.json").try_encode(value) end,
}

--- A list of numbers in the format of vector searches.
named.vector = {
  name = "vector",
  read = function(value) return require("perilune.runtime.vectors").unpack(value) end,
  write = function(value) return require("perilune.runtime.vectors").pack(value) end,
}

-- MARK: - Script types

local function is_storable(value)
  local kind = type(value)
  return kind == "string" or kind == "boolean" or (kind == "number" and value == value) or native_values.is_blob(value)
end

--- Returns the message of an error raised by a script: for a table, its message field.
local function text_of(failure)
  if type(failure) ~= "table" then return tostring(failure) end
  local message, kind, metatable = rawget(failure, "message"), rawget(failure, "kind"), getmetatable(failure)
  if type(message) == "string" then return message end
  if type(metatable) == "table" and rawget(metatable, "__tostring") then return tostring(failure) end
  return type(kind) == "string" and "an error of kind " .. kind or "an error that is " .. errors.describe(failure)
end

--- Calls a conversion function of a script. An error that it raises is returned as the problem of the value.
local function attempt(name, f, ...)
  local is_done, converted, message = pcall(f, ...)
  if not is_done then return nil, text_of(converted) end
  if converted == nil then return nil, message and tostring(message) or (name .. " has no such value") end
  return converted
end

--- Returns the converter of an enumeration whose cases are strings.
local function string_enum_type(enum)
  local function read(value) return enum:from_database(value) end
  return { name = "enum", read = read, write = function(value) return read(native_values.plain(value)) end }
end

local function enum_type(enum)
  return {
    name = "enum",
    read = function(value) return enum:from_database(value) end,
    write = function(value)
      local plain = native_values.plain(value)
      if plain ~= value and rawequal(enum:from_database(plain), value) then return plain end
      local case, message = enum:from_database(value)
      if not case then return nil, message or "not a case of the enum" end
      return nil, errors.describe(value) .. " is the stored value of a case, not a case; use `" .. case.name .. "` of the enum"
    end,
  }
end

--- Returns the value inside a value `T(v)` of a value type; other values are returned unchanged.
local function unwrap(wanted, value)
  local metatable = type(value) == "table" and getmetatable(value)
  if type(metatable) == "table" and rawget(metatable, "__value_type") == wanted then return value.value end
  return value
end

--- Calls a conversion function that writes a script's value. If the function raises an error object, it is raised again unchanged.
local function attempt_writing(name, f, ...)
  local is_done, converted, message = pcall(f, ...)
  if is_done and converted == nil then return nil, message and tostring(message) or (name .. " has no such value") end
  if is_done then return converted end
  if type(converted) == "table" or type(converted) == "userdata" then error(converted, 0) end
  return nil, text_of(converted)
end

--- Returns the converter for a pair of functions. Both may return nil and a message.
local function custom_type(wanted, name, from_database, to_database)
  return {
    name = name,
    read = function(value) return attempt(name, from_database, value) end,
    write = function(value)
      local plain, message = attempt_writing(name, to_database, unwrap(wanted, value))
      plain = native_values.plain(plain)
      if plain == nil or plain == null then return nil, message or (name .. " has no such value") end
      if not is_storable(plain) then return nil, name .. ": to_database returned " .. errors.describe(plain) end
      return plain
    end,
  }
end

local function raise_no_type(place, wanted)
  local names = {}
  for name in pairs(named) do names[#names + 1] = name end
  table.sort(names)
  errors.raise("argument", place .. ": expected a type (" .. table.concat(names, ", ") .. ", an enum, a list of cases, a value type, or a table "
    .. "with the functions from_database and to_database), got " .. errors.describe(wanted))
end

--- Returns the converter of a type as written by scripts.
-- @tparam string place the name of the column in messages
function column_types.converter(wanted, place)
  if rawequal(wanted, date) then return named.date end
  if rawequal(wanted, date_components) then return named.date_components end
  if type(wanted) == "string" then return named[wanted] or raise_no_type(place, wanted) end
  if type(wanted) ~= "table" then raise_no_type(place, wanted) end
  if type(rawget(wanted, 1)) == "string" and getmetatable(wanted) == nil then wanted = perilune.enum(wanted) end
  local kind = require("perilune.runtime.enum").known[wanted]
  if kind then return (kind == "strings" and string_enum_type or enum_type)(wanted) end
  local from_database, to_database = wanted.from_database, wanted.to_database
  if type(from_database) ~= "function" or type(to_database) ~= "function" then raise_no_type(place, wanted) end
  local name = type(wanted.name) == "string" and wanted.name or "the type"
  if getmetatable(wanted) == nil then return custom_type(wanted, name, from_database, to_database) end
  -- A table with a metatable is an object, whose functions are methods.
  return custom_type(wanted, name, function(value) return wanted:from_database(value) end,
    function(value) return wanted:to_database(value) end)
end

--- Returns a converter for a column declared for bytes, which stores text of any type as bytes.
local function of_bytes(converter)
  local write = converter.write
  return {
    name = converter.name,
    read = converter.read,
    write = function(value)
      local plain, message = value, nil
      if write then plain, message = write(value) end
      if plain == nil then return nil, message end
      plain = native_values.plain(plain)
      return type(plain) == "string" and perilune.blob(plain) or plain
    end,
  }
end

--- Returns the converters of a table's columns by name; nil for a column whose fields are stored unconverted.
-- @param schema the table, as returned by `native_schema.table`
-- @param types the record's option: columns with their types, or nil
function column_types.of(schema, types)
  local converters, names = {}, {}
  for index, column in ipairs(schema.columns) do
    converters[column.name] = by_content[column.content]
    names[index] = column.name
  end
  if types == nil then return converters end
  local known = {}
  for _, column in ipairs(schema.columns) do known[column.name] = column end
  for name, wanted in pairs(types) do
    if not known[name] then errors.raise_unknown_column(name, schema.name, names) end
    local converter = column_types.converter(wanted, "column `" .. name .. "`")
    if known[name].content == "date" and converter == day then converter = instant end
    if known[name].content == "blob" then converter = of_bytes(converter) end
    converters[name] = converter ~= named.any and converter or nil
  end
  return converters
end

-- MARK: - Declared types

local integer_types = { INT = true, INTEGER = true, TINYINT = true, SMALLINT = true, MEDIUMINT = true, BIGINT = true, INT2 = true, INT4 = true, INT8 = true }
local number_types = { NUMERIC = true, DECIMAL = true, NUMBER = true }

--- Returns whether a declared type contains one of several words. SQLite itself only searches for "INT", which also occurs in FLOATING
-- POINT.
local function has_word(declared, words)
  for word in declared:upper():gmatch("%w+") do
    if words[word] then return true end
  end
  return false
end

--- Returns the declared content of a column: "integers", "floats", "numbers" or "texts"; nil for any content. SQLite
-- treats types with other names as numeric, even UUID.
-- @tparam table column its `type`, `affinity` and `content`
function column_types.held_by(column)
  if column.content then return nil end
  local affinity, declared = column.affinity, column.type or ""
  if affinity == "integer" then return has_word(declared, integer_types) and "integers" or nil end
  if affinity == "real" then return "floats" end
  if affinity == "text" then return "texts" end
  return affinity == "numeric" and has_word(declared, number_types) and "numbers" or nil
end

--- Returns the number that SQLite reads from text; nil if the text is not a number.
local function number_of(text)
  return text:find("^%s*[+-]?%.?%d[%d.]*[eE]?[+-]?%d*%s*$") and tonumber(text) or nil
end

local holders = {}

function holders.integers(value)
  if type(value) == "string" then value = number_of(value) end
  return type(value) == "boolean" or type(value) == "number" and math.tointeger(value) ~= nil
end

function holders.floats(value)
  if type(value) == "string" then value = number_of(value) end
  return type(value) == "number" and (math.type(value) == "float" or math.tointeger(value + 0.0) == value)
end

function holders.numbers(value)
  return type(value) == "number" or type(value) == "boolean" or type(value) == "string" and number_of(value) ~= nil
end

function holders.texts(value) return type(value) == "string" or type(value) == "number" end

local held = { integers = "an integer", floats = "a number", numbers = "a number", texts = "a string" }

--- Returns whether a column whose declared type limits its content can store a value, unchanged or converted without loss. Accepts BLOBs,
-- which are stored unchanged, and NULL, which is checked by constraints.
-- @tparam string kind the result of `held_by`
-- @return true; or false and a description of the content that the column accepts
function column_types.holds(kind, value)
  local plain = native_values.plain(value)
  if plain == nil or plain == null or native_values.is_blob(plain) or type(plain) == "table" then return true end
  return holders[kind](plain), held[kind]
end

--- Returns the value that SQLite stores instead of a value that a column accepts: the number for text, the text for a number, 0 or 1 for a
-- boolean. Returns nil if the value is stored unchanged, and for a float in a column of texts, because only SQLite determines the digits of
-- its text.
function column_types.stored_form(kind, value)
  if type(value) == "boolean" then return value and 1 or 0 end
  if kind == "texts" then return math.type(value) == "integer" and ("%d"):format(value) or nil end
  local number = type(value) == "string" and number_of(value) or value
  if type(number) ~= "number" then return nil end
  if kind == "floats" then number = number + 0.0 else number = math.tointeger(number) or number end
  return math.type(number) ~= math.type(value) and number or nil
end

-- MARK: - Errors

--- Returns the key of a row for messages: `id` 3.
local function describe_key(schema, key)
  if key == nil then return "" end
  local columns, parts = schema.primary_key.columns, {}
  for index, column in ipairs(columns) do
    local value = type(key) == "table" and key[column] or #columns == 1 and key or nil
    parts[index] = "`" .. column .. "` " .. (value == nil and "nil" or tostring(native_values.plain(value)))
  end
  return #parts > 0 and " (row with " .. table.concat(parts, ", ") .. ")" or ""
end

--- Raises for a value that does not convert.
-- @param key the value of the row's key, or a table with the columns of the key; nil if none exists
function column_types.fail(schema, column, message, key)
  errors.raise("conversion", "`" .. schema.name .. "`.`" .. column .. "`" .. describe_key(schema, key) .. ": " .. message,
    { table = schema.name, column = column, key = key })
end

return column_types
