--- Fields that differ from columns: renamed, lazy, or computed ones, and groups of several columns as one value.
--
--     perilune.record("book", {
--       naming = "snake_case",                                        -- the column `pageCount` is the field `page_count`
--       fields = {
--         flag = { column = "stored_flag", type = "boolean", default = true },
--         cover = { lazy = true },                                    -- fetched only on request
--         label = { get = function(book) return book.title:upper() end },
--         price = { fields = { "amount", "currency" } },              -- book.price.amount
--       },
--     })
--
-- A class sees its table through a *view* of the schema, in which columns have the names of their fields. All code that works for the class
-- uses this view and no other names. Names are translated only in SQL (`sql_name` here, TableSchema.named(by:) in Swift). For a class
-- without such options the view is the schema itself.

local errors = require "perilune.native.errors"
local null = require("perilune.native.values").null
local native_records = require "perilune.native.records"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local sql_text = require "perilune.runtime.sql_text"
local sql_names = require "perilune.runtime.names"
local raise = errors.raise

local fields = {
  --- Set by class.lua: returns an iterator over a class and the classes that it extends.
  ancestors = nil,
}

-- Options ---------------------------------------------------------------------------------------------------------------------

local place = "perilune.record: option fields"

local kinds = {
  column = { column = true, type = true, default = true, lazy = true },
  computed = { get = true, set = true, expression = true },
  group = { fields = true, make = true, split = true },
}

local all_options = {}
for _, options in pairs(kinds) do
  for name in pairs(options) do all_options[name] = true end
end

local function fail(name, message) raise("argument", ("%s: %s: %s"):format(place, name, message)) end

--- Raises unless an option is nil or a function.
local function check_function(name, option, value)
  if value ~= nil and type(value) ~= "function" then fail(name, ("%s: expected a function, got %s"):format(option, errors.describe(value))) end
end

--- Returns the kind of a definition; raises if its options contradict each other.
local function kind_of(name, definition)
  checks.option_names(place .. ": " .. name, definition, all_options)
  if next(definition) == nil then fail(name, "expected `column`, `type`, `default`, `lazy`, `get`, `expression` or `fields`, got an empty table") end
  local kind = definition.fields ~= nil and "group" or (definition.get ~= nil or definition.set ~= nil or definition.expression ~= nil) and "computed"
    or (definition.make ~= nil or definition.split ~= nil) and "group" or "column"
  local others = {}
  for option in pairs(definition) do
    if not kinds[kind][option] then others[#others + 1] = option end
  end
  table.sort(others)
  if others[1] then
    fail(name, ("`%s` cannot be combined with `%s`"):format(others[1],
      kind == "group" and "fields" or definition.get ~= nil and "get" or definition.expression ~= nil and "expression" or "set"))
  end
  return kind
end

local function read_column(name, definition)
  local column, lazy = definition.column, definition.lazy
  if column ~= nil then sql_text.name(column, place .. ": " .. name .. ": column") end
  if lazy ~= nil and type(lazy) ~= "boolean" then fail(name, "lazy: expected a boolean, got " .. errors.describe(lazy)) end
  return { kind = "column", column = column or name, type = definition.type, default = definition.default, is_lazy = lazy or false }
end

local function read_computed(name, definition)
  check_function(name, "get", definition.get)
  check_function(name, "set", definition.set)
  local expression = definition.expression
  if expression ~= nil and type(expression) ~= "function" and not marks.is_expression(expression) then
    fail(name, "expression: expected an expression, or a function that gets the columns and returns one, got " .. errors.describe(expression))
  elseif definition.get == nil and expression == nil then
    fail(name, "a field with `set` requires `get` or `expression`")
  end
  return { kind = "computed", get = definition.get, set = definition.set, expression = expression }
end

--- Reads the parts of a group: a list of { part, field }.
local function read_group(name, definition)
  local list, parts = definition.fields, {}
  if type(list) ~= "table" or getmetatable(list) ~= nil or next(list) == nil then
    fail(name, "fields: expected a list of fields, or { part = field, ... }, got " .. errors.describe(list))
  end
  for key, field in pairs(list) do
    local part = math.type(key) == "integer" and field or key
    if type(part) ~= "string" or type(field) ~= "string" then
      fail(name, "fields: expected names, got " .. errors.describe(type(field) ~= "string" and field or part))
    end
    parts[#parts + 1] = { part = part, field = field, position = math.type(key) == "integer" and key or math.huge }
  end
  if #parts < 2 then fail(name, "fields: expected at least two fields, got one") end
  table.sort(parts, function(left, right)
    if left.position ~= right.position then return left.position < right.position end
    return left.part < right.part
  end)
  check_function(name, "make", definition.make)
  check_function(name, "split", definition.split)
  if (definition.make == nil) ~= (definition.split == nil) then fail(name, "`make` and `split` must be given together") end
  local names, is_part = {}, {}
  for index, part in ipairs(parts) do names[index], is_part[part.part] = part.part, true end
  return { kind = "group", name = name, parts = parts, names = names, is_part = is_part, make = definition.make, split = definition.split }
end

local readers = { column = read_column, computed = read_computed, group = read_group }

--- Reads the option `fields`: definitions by the name of their field.
function fields.read(value)
  if type(value) ~= "table" or getmetatable(value) ~= nil or next(value) == nil then
    raise("argument", place .. ": expected { field = { ... }, ... }, got " .. errors.describe(value))
  end
  local result = {}
  for name, definition in pairs(value) do
    if type(name) ~= "string" then
      raise("argument", place .. ": expected names of fields, got " .. errors.describe(name)
        .. "; columns of the table need no declaration")
    end
    sql_text.name(name, place)
    if type(definition) == "string" then definition = { column = definition } end
    if type(definition) ~= "table" or getmetatable(definition) ~= nil then
      fail(name, "expected the name of a column or a table, got " .. errors.describe(definition)
        .. (type(definition) == "function" and "; use { get = f } for a computed field" or ""))
    end
    result[name] = readers[kind_of(name, definition)](name, definition)
  end
  return result
end

--- Converts `pageCount` and `PageCount` to page_count, and `ISBNCode` to isbn_code.
local function snake_case(column)
  return (column:gsub("(%l)(%u)", "%1_%2"):gsub("(%d)(%u%l)", "%1_%2"):gsub("(%u)(%u%l)", "%1_%2"):gsub("%u", string.lower))
end

--- Reads the option `naming`: returns a function from a column's name to the name of its field.
function fields.read_naming(value)
  if value == "snake_case" then return snake_case end
  if type(value) == "function" then return value end
  raise("argument", 'perilune.record: option naming: expected "snake_case" or a function of the name of a column, got ' .. errors.describe(value))
end

-- The fields of a class ---------------------------------------------------------------------------------------------------------

--- Returns the values of another option of the class by field, merged with those in the option `fields`.
local function merged(info, option, other)
  local result, is_merged = {}, false
  for name, value in pairs(info[other] or {}) do result[name] = value end
  for name, definition in pairs(info.fields or {}) do
    if definition[option] ~= nil then
      if result[name] ~= nil then fail(name, ("%s: it is also given by the option `%s`"):format(option, other)) end
      result[name], is_merged = definition[option], true
    end
  end
  return is_merged and result or info[other]
end

--- Collects the definitions of the class and of the classes that it extends: sets `renames` and `has_lazy`, whether columns are renamed or
-- lazy; and `computed`, by name, the fields that are not columns, nil if all fields are columns.
function fields.prepare(info)
  local definitions, computed = {}, nil
  for ancestor in fields.ancestors(info) do
    info.renames = info.renames or ancestor.naming ~= nil
    for name, definition in pairs(ancestor.fields or {}) do
      if definitions[name] == nil then definitions[name] = definition end
    end
  end
  for name, definition in pairs(definitions) do
    if definition.kind ~= "column" then
      computed = computed or {}
      computed[name] = definition
    elseif definition.column ~= name or definition.is_lazy then
      info.renames, info.has_lazy = true, info.has_lazy or definition.is_lazy
    end
  end
  info.definitions, info.computed = next(definitions) and definitions or nil, computed
  info.types, info.defaults = merged(info, "type", "types"), merged(info, "default", "defaults")
end

-- Views of the schema -----------------------------------------------------------------------------------------------------------

--- The views by class info and schema, filled on demand.
local views = setmetatable({}, { __mode = "k" })

--- Returns the name of a column's field, and whether it is lazy.
local function named(info, column, explicit)
  local definition = explicit[sql_names.fold(column)]
  if definition then return definition.name, definition.is_lazy end
  for ancestor in fields.ancestors(info) do
    if ancestor.naming then
      local name = ancestor.naming(column)
      if type(name) ~= "string" or name == "" then
        raise("argument", ("perilune.record: option naming: `%s`: expected the name of a field, got %s"):format(column, errors.describe(name)))
      end
      return name, false
    end
  end
  return column, false
end

--- Returns the field definitions of a class, by the folded names of their columns.
local function by_column(info, schema)
  local known, explicit, names = {}, {}, {}
  for index, column in ipairs(schema.columns) do known[sql_names.fold(column.name)], names[index] = true, column.name end
  for name, definition in pairs(info.definitions or {}) do
    if definition.kind == "column" then
      local folded = sql_names.fold(definition.column)
      if not known[folded] then errors.raise_unknown_column(definition.column, schema.name, names) end
      if explicit[folded] then
        local first, second = explicit[folded].name, name
        if second < first then first, second = second, first end
        raise("argument", ("perilune.record: option fields: `%s` and `%s` are fields over the same column `%s` of `%s`"):format(first, second,
          definition.column, schema.name))
      end
      explicit[folded] = { name = name, is_lazy = definition.is_lazy }
    end
  end
  return explicit
end

--- Raises if a field has the name of another column or field, since the name would be ambiguous in SQL and results.
local function check_names(info, schema, columns)
  local owners = {}
  for index, column in ipairs(schema.columns) do owners[sql_names.fold(column.name)] = columns[index] end
  local taken = {}
  for index, column in ipairs(columns) do
    local folded = sql_names.fold(column.name)
    local owner = owners[folded]
    if owner and owner ~= column then
      raise("argument", ("the field `%s` of the record class %s, over the column `%s`, has the same name as another column of its table"):format(
        column.name, info.name, schema.columns[index].name))
    elseif taken[folded] then
      raise("argument", ("the columns `%s` and `%s` of `%s` would both be the field `%s` of the record class %s; name one of them in `fields`")
        :format(taken[folded], schema.columns[index].name, schema.name, column.name, info.name))
    end
    taken[folded] = schema.columns[index].name
  end
  for name in pairs(info.computed or {}) do
    if taken[sql_names.fold(name)] or owners[sql_names.fold(name)] then
      raise("argument", ("the field `%s` of the record class %s has the same name as a column of its table"):format(name, info.name))
    end
  end
end

local function copy_of(value)
  local copy = {}
  for key, element in pairs(value) do copy[key] = element end
  return copy
end

local function make_view(info, schema)
  local explicit, view = by_column(info, schema), copy_of(schema)
  local field_of, texts, lazy = {}, {}, {}
  view.columns, view.sql_names, view.field_names = {}, {}, {}
  for index, column in ipairs(schema.columns) do
    local name, is_lazy = named(info, column.name, explicit)
    local copy = copy_of(column)
    copy.name, copy.lazy = name, is_lazy or nil
    view.columns[index], field_of[column.name] = copy, name
    view.sql_names[name], view.field_names[sql_names.fold(column.name)] = column.name, name
    if is_lazy then lazy[#lazy + 1] = name end
    if name ~= column.name or is_lazy then texts[#texts + 1] = column.name .. "\0" .. name .. "\0" .. (is_lazy and "lazy" or "") .. "\0" end
  end
  check_names(info, schema, view.columns)
  if #texts == 0 then return schema end
  local function renamed(names)
    local result = {}
    for index, name in ipairs(names) do result[index] = field_of[name] or name end
    return result
  end
  view.primary_key = { columns = renamed(schema.primary_key.columns), rowid = schema.primary_key.rowid }
  view.unique_keys, view.distinct_keys, view.foreign_keys = {}, {}, {}
  for index, key in ipairs(schema.unique_keys) do view.unique_keys[index] = renamed(key) end
  for index, key in ipairs(schema.distinct_keys) do view.distinct_keys[index] = renamed(key) end
  for index, key in ipairs(schema.foreign_keys) do
    view.foreign_keys[index] = copy_of(key)
    view.foreign_keys[index].columns = renamed(key.columns)
  end
  view.names_text, view.lazy = table.concat(texts), lazy[1] and lazy or nil
  return view
end

--- Returns the schema of a table as a class sees it. If names differ, it has `sql_names`, the columns by field; `field_names`, the
-- fields by folded column; `lazy`, the names of fields that are fetched only on request; and `names_text`, the same data for
-- Swift.
function fields.view(info, schema)
  if not info.renames and not info.computed then return schema end
  local of_class = views[info]
  if not of_class then
    of_class = setmetatable({}, { __mode = "k" })
    views[info] = of_class
  end
  local view = of_class[schema]
  if not view then
    if info.renames then view = make_view(info, schema)
    else
      check_names(info, schema, schema.columns)
      view = schema
    end
    of_class[schema] = view
  end
  return view
end

--- Returns a value for the option `fields` with which another class over the same table has the same fields. Returns nil if all fields have
-- the names of their columns.
function fields.option_of(view)
  if not view.sql_names then return nil end
  local option, is_lazy = {}, {}
  for _, name in ipairs(view.lazy or {}) do is_lazy[name] = true end
  for name, column in pairs(view.sql_names) do option[name] = { column = column, lazy = is_lazy[name] } end
  return option
end

-- Names in SQL --------------------------------------------------------------------------------------------------------------------

--- Returns the column of a field in SQL, quoted.
-- @param view the schema as the class sees it, or the description of its table
function fields.sql_name(view, field)
  local names = view.sql_names
  return sql_text.name(names and names[field] or field)
end

--- Returns the columns of several fields in SQL, separated by commas.
function fields.sql_names(view, names)
  local columns = {}
  for index, name in ipairs(names) do columns[index] = view.sql_names and view.sql_names[name] or name end
  return sql_text.names(columns)
end

--- Returns whether RETURNING yields integers as floats. In version 3.40, SQLite applies the affinity of the table's first column to all
-- columns of the clause if it is REAL. A unary plus exempts a column.
-- @param schema the schema of the table, or the schema as a class sees it
function fields.returns_floats(schema)
  local first = schema.columns[1]
  return first ~= nil and first.affinity == "real"
end

--- Returns whether RETURNING may yield a whole number of the column as an integer, although the column is REAL.
function fields.is_returned_as_integer(column) return column.affinity == "real" end

--- Returns a value of a REAL column in its stored form: an integer becomes a float.
function fields.float_of(value) return math.type(value) == "integer" and value + 0.0 or value end

--- Returns the columns of a RETURNING clause in SQL, named after their fields.
-- @param view the description of the table
function fields.sql_results(view, names)
  local sign = fields.returns_floats(view.schema) and "+" or ""
  if not view.sql_names and sign == "" then return sql_text.names(names) end
  local quoted = {}
  for index, name in ipairs(names) do
    local column, own = sign .. fields.sql_name(view, name), sql_text.name(name)
    quoted[index] = column == own and column or column .. " AS " .. own
  end
  return table.concat(quoted, ", ")
end

--- Returns the field of a column.
function fields.of_column(view, column)
  local names = view.field_names
  return names and names[sql_names.fold(column)] or column
end

--- Raises for the name of a column, if the field of this column has a different name.
function fields.check_is_field(view, name)
  if type(name) ~= "string" or not view or not view.field_names or view.sql_names[name] then return end
  local field = view.field_names[sql_names.fold(name)]
  if field and sql_names.fold(field) ~= sql_names.fold(name) then
    raise("unknown_column", ("no field `%s` in the record class of `%s`: the field over this column is `%s`"):format(name, view.name, field),
      { name = name, table = view.name, suggestion = field })
  end
end

--- Raises for a field that is not a column, in a place where a column is expected.
-- @param info a table with `table` and `computed`
-- @tparam string cure what to do instead of naming a computed field
function fields.check_is_column(info, name, cure)
  local definition = info.computed and info.computed[name]
  if not definition then return end
  if definition.kind ~= "group" then
    raise("argument", ("`%s` of `%s` is computed in Lua; %s"):format(name, info.table, cure))
  end
  local names = {}
  for index, part in ipairs(definition.parts) do names[index] = "`" .. part.field .. "`" end
  raise("argument", ("`%s` of `%s` is a value of several fields; use %s"):format(name, info.table, table.concat(names, ", ")))
end

-- Values of groups ------------------------------------------------------------------------------------------------------------------

local function raise_readonly(_, name)
  raise("readonly", ("a value of several fields is immutable: cannot set `%s`; assign a new value to the field of the record"):format(tostring(name)))
end

--- The parts of group values that were not made by `make`, by value.
local parts_of = setmetatable({}, { __mode = "k" })

local function describe_value(value)
  local own, texts = parts_of[value], {}
  for index, part in ipairs(own.group.names) do
    local element = own.values[part]
    texts[index] = part .. " = " .. (type(element) == "string" and ("%q"):format(element) or tostring(element))
  end
  return "{" .. table.concat(texts, ", ") .. "}"
end

local function same_value(left, right)
  local first, second = parts_of[left], parts_of[right]
  if not first or not second or first.group ~= second.group then return false end
  for _, name in ipairs(first.group.names) do
    if first.values[name] ~= second.values[name] then return false end
  end
  return true
end

local function iterate(value)
  local own, index = parts_of[value], 0
  local names = own.group.names
  return function()
    index = index + 1
    while names[index] and own.values[names[index]] == nil do index = index + 1 end
    local name = names[index]
    if name then return name, own.values[name] end
  end
end

local value_metatable = {
  __name = "value of several fields", __metatable = "value of several fields", __newindex = raise_readonly, __tostring = describe_value,
  __eq = same_value, __pairs = iterate,
  __index = function(value, name)
    local own = parts_of[value]
    local found = own.values[name]
    if found ~= nil or own.group.is_part[name] then return found end
    errors.raise_unknown("part", tostring(name), own.group.names)
  end,
}

local function make_value(group, values)
  local by_part = {}
  for index, name in ipairs(group.names) do by_part[name] = values[index] end
  local value = setmetatable({}, value_metatable)
  parts_of[value] = { group = group, values = by_part }
  return value
end

--- Splits the value of a group into the values of its fields, in order; nil is NULL.
-- @tparam string where the start of messages
local function split(group, value, where)
  local count = #group.parts
  if value == nil or value == null then return { n = count } end
  if group.split then return table.pack(group.split(value)) end
  local source = parts_of[value]
  source = source and source.group == group and source.values or value
  if type(source) ~= "table" or source == value and getmetatable(value) ~= nil then
    raise("argument", ("%s: expected a table with %s, got %s"):format(where, group.parts[1].part, errors.describe(value)))
  end
  local values = { n = count }
  for index, name in ipairs(group.names) do
    local element = source[name]
    if element ~= null then values[index] = element end
  end
  for name in next, source do
    if not group.is_part[name] then errors.raise_unknown("part", tostring(name), group.names) end
  end
  return values
end

--- Returns the fields of a group with their new values.
-- @return a list of { field, value }, with perilune.null for NULL
function fields.parts(group, value, where)
  local values, list = split(group, value, where), {}
  for index, part in ipairs(group.parts) do
    local element = values[index]
    if element == nil then element = null end
    list[index] = { part.field, element }
  end
  return list
end

-- Reading and writing fields of records -----------------------------------------------------------------------------------------------

--- Returns the value of a computed field or group.
function fields.get(info, target, name)
  local definition = info.computed[name]
  if definition.kind == "group" then
    local values, is_null = {}, true
    for index, part in ipairs(definition.parts) do
      values[index] = target[part.field]
      is_null = is_null and values[index] == nil
    end
    if is_null then return nil end
    if definition.make then return definition.make(table.unpack(values, 1, #definition.parts)) end
    return make_value(definition, values)
  end
  if definition.get then return definition.get(target) end
  raise("not_fetched", ("`%s` of `%s` was not fetched; use Class:annotated_with(%q)"):format(name, info.table, name), { table = info.table, column = name })
end

--- Assigns to a field that is not a column.
function fields.set(info, target, name, value)
  local definition = info.computed[name]
  if definition.kind == "group" then
    for _, part in ipairs(fields.parts(definition, value, "`" .. name .. "`")) do
      local field, element = part[1], part[2]
      -- nil sets a field to NULL if it has a value; perilune.null does so if it has none.
      if element == null then target[field] = nil end
      target[field] = element
    end
  elseif definition.set then
    if value == null then value = nil end
    definition.set(target, value)
  else
    raise("readonly", ("`%s` of `%s` is computed and cannot be set; add `set` to the field"):format(name, info.table), { table = info.table, column = name })
  end
end

--- Divides the values of a new record into values of columns, and values to assign after the record is created.
-- @return the values of columns; the other names in order, or nil
function fields.divide(info, values)
  local plain, others = {}, nil
  for name, value in next, values do
    if info.computed[name] then
      others = others or {}
      others[#others + 1] = name
    else plain[name] = value end
  end
  if not others then return values end
  table.sort(others)
  return plain, others
end

--- Raises if a record was fetched without a given lazy field.
function fields.check_is_fetched(info, target, name)
  local definition = info.definitions and info.definitions[name]
  if not definition or not definition.is_lazy then return end
  local _, names, is_whole = native_records.record_schema(target)
  if is_whole or not native_records.knows_row(target) then return end
  for _, own in ipairs(names) do
    if own == name then return end
  end
  raise("not_fetched", ("`%s` of `%s` is lazy and was not fetched; use Class:annotated_with(%q), or record:refresh{ fields = %q }"):format(name,
    info.table, name, name), { table = info.table, column = name })
end

return fields
