--- Inserting the rows of a request with one statement: INSERT ... SELECT.
--
--     Archive:insert_from(Book:filter(Book.c.year:lt(1900)):select("id", "title"))
--     Count:insert_from(counts, { target = "author_id", update = { books = perilune.excluded.books } })
--
-- Options: `columns`, the columns to fill from the columns of the request, in the same order; by default those with the same names.
-- `on_conflict`, a policy. `target`, the columns of the unique key by which rows may conflict (any key by default). `update`, the change to
-- an existing row that conflicts: "all" (the default: its other columns are taken from the new row), "none", or a table of columns to take,
-- and of values by column. `where`, the condition for this update. `returning`: true for records, or columns for rows.

local perilune = require "perilune"
local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local column_details = require "perilune.records.column_details"
local upsert_keys = require "perilune.records.upsert_keys"
local native_schema = require "perilune.native.schema"
local record_fields = require "perilune.records.fields"
local record_class = require "perilune.records.class"
local arity = require "perilune.runtime.arity"
local checks = require "perilune.runtime.checks"
local native_records = require "perilune.native.records"
local native_requests = require "perilune.native.requests"
local sources = require "perilune.requests.source"
local conditions = require "perilune.requests.conditions"
local expression = require "perilune.expressions.expression"
local subquery = require "perilune.expressions.subquery"
local expression_building = require "perilune.expressions.swift_bridge"
local named_expressions = require "perilune.requests.named_expressions"
local request = require "perilune.requests.request"
local request_plans = require "perilune.requests.plans"
local request_building = require "perilune.requests.swift_bridge"
local changing = require "perilune.requests.changes"
local upsert_rules = require "perilune.records.upsert_rules"
local native_expressions = require "perilune.native.expressions"
local raise = errors.raise

local inserting = {}

-- The excluded row ------------------------------------------------------------------------------------------------------------

--- `perilune.excluded.column`: in an upsert, the value of the row that could not be inserted.
perilune.excluded = setmetatable({}, {
  __name = "excluded row",
  __index = function(columns, name)
    if type(name) ~= "string" then raise("argument", "perilune.excluded: expected the name of a column, got " .. errors.describe(name)) end
    local column = setmetatable({ shape = expression.new_shape("excluded", {}, name) }, expression.metatable)
    rawset(columns, name, column)
    return column
  end,
  __newindex = function() raise("readonly", "perilune.excluded cannot be changed") end,
})

local function build_excluded(shape, context)
  if context.excluded then return native_expressions.fragment(context.excluded(shape.detail), {}) end
  if not context.request then return native_expressions.fragment("excluded." .. shape.detail, {}) end
  return native_expressions.excluded(context.request, shape.detail)
end

expression_building.add_builders{ excluded = build_excluded }

-- Options ---------------------------------------------------------------------------------------------------------------------

local known_options = { columns = true, on_conflict = true, target = true, update = true, where = true, returning = true }

local function read_names(source, option, value)
  local list = type(value) == "string" and { value } or value
  if type(list) ~= "table" or getmetatable(list) ~= nil or #list == 0 then
    raise("argument", "insert_from: " .. option .. ": expected columns, got " .. errors.describe(value))
  end
  local names = {}
  for index, name in ipairs(list) do
    if type(name) ~= "string" then
      raise("argument", "insert_from: " .. option .. ": expected the name of a column, got " .. errors.describe(name))
    end
    names[index] = named_expressions.check_column(source:column(name), "insert_from").shape.detail
  end
  return names
end

local function read_options(source, options)
  if options == nil then return {} end
  if type(options) ~= "table" or getmetatable(options) ~= nil then
    if native_records.is_database(options) then arity.refuse_database("insert_from") end
    raise("argument", "insert_from: expected a table of options, got " .. errors.describe(options))
  end
  checks.option_names("insert_from", options, known_options)
  changing.check_policy("insert_from", options.on_conflict)
  local is_upsert = options.target ~= nil or options.update ~= nil or options.where ~= nil
  if is_upsert and options.on_conflict ~= nil then
    raise("argument", "insert_from: `on_conflict` and `update` both decide what happens to a conflicting row; use one of them")
  elseif options.where ~= nil and options.update == "none" then
    raise("argument", "insert_from: `where` has no effect when nothing is updated")
  end
  return options, is_upsert
end

--- Returns the names of the columns that an upsert changes, and their new values as expressions.
local function read_updates(source, update, target, columns)
  local fixed, names, values, rules, named = {}, {}, {}, upsert_rules.of(source.class), {}
  for _, name in ipairs(target) do fixed[name] = true end
  for _, column in ipairs(source:key()) do fixed[column.shape.detail] = true end
  local function add(name, value)
    local column = named_expressions.check_column(source:column(name), "insert_from")
    name = column.shape.detail
    if fixed[name] then raise("argument", "insert_from: `" .. name .. "` identifies the row, and cannot be updated") end
    upsert_rules.check_named(rules, "insert_from", source.table, name)
    names[#names + 1] = name
    named[name] = true
    values[#values + 1] = value == nil and perilune.excluded[name]
      or value == null and expression.of_value(value)
      or expression.operand(expression.as_column(column.shape, value), "insert_from: `" .. name .. "`")
  end
  if update == nil or update == "all" then
    for _, name in ipairs(columns) do
      if not fixed[name] and not rules.kept[name] then add(name) end
    end
  elseif type(update) == "table" and getmetatable(update) == nil then
    local by_name = {}
    for key in next, update do
      if math.type(key) ~= "integer" then by_name[#by_name + 1] = key end
    end
    table.sort(by_name)
    for _, name in ipairs(update) do add(name) end
    for _, name in ipairs(by_name) do add(name, update[name]) end
  elseif update ~= "none" then
    raise("argument", "insert_from: " .. upsert_keys.mistaken_update(update))
  end
  if rules.version and update ~= "none" and not named[rules.version] then add(rules.version, source:column(rules.version) + 1) end
  return names, values
end

-- The statement -----------------------------------------------------------------------------------------------------------------

--- Returns the names of a request's columns; nil if one has no name.
local function names_of(rows)
  local shape, names = rows.node.selects and rows.node, {}
  while shape and shape.op ~= "select" do shape = shape.parent end
  if not shape then return nil end
  for index, term in ipairs(shape.shape.operands) do names[index] = (term.op == "as" or term.op == "column") and term.detail or nil end
  return #names == #shape.shape.operands and names or nil
end

--- Returns the whole statement as one expression. The detail of the expression lists the kinds of its parts.
local function statement(source, rows, options, is_upsert, returning)
  local carrier = subquery.carrier(rows)
  local columns = options.columns ~= nil and read_names(source, "columns", options.columns) or nil
  local target, names, values = nil, {}, {}
  if is_upsert then
    target = options.target ~= nil and read_names(source, "target", options.target) or {}
    local given = columns or names_of(rows)
    if not given and options.update ~= "none" and type(options.update) ~= "table" then
      raise("argument", "insert_from: the columns to update are unknown; use update = { \"name\", ... }")
    end
    names, values = read_updates(source, options.update, target, given or {})
  end
  local parts = { carrier, table.unpack(values) }
  local condition = options.where ~= nil and conditions.read(sources.unscoped_request(source.class), "insert_from: where", options.where)
  if condition then parts[#parts + 1] = condition end
  if type(returning) == "table" then parts[#parts + 1] = returning end
  local shapes = {}
  for index, part in ipairs(parts) do shapes[index] = part.shape end
  local detail = table.concat({
    columns and table.concat(columns, "\1") or "", options.on_conflict or "", target and table.concat(target, "\1") or "\2",
    table.concat(names, "\1"), condition and "where" or "", returning == true and "all" or returning and "some" or "",
  }, "\0")
  return expression.join_all(expression.shape_of_list("insert", shapes, detail), parts)
end

local function split(text, separator)
  local parts = {}
  if text == "" then return parts end
  for part in (text .. separator):gmatch("(.-)" .. separator) do parts[#parts + 1] = part end
  return parts
end

local function compile_insert(node, db, _, generation)
  local table_of_class = request_building.built(node.parent, db, generation)
  local context = { db = db, next = node.parent.count + 1, request = table_of_class }
  local parts, operands = split(node.shape.detail, "\0"), node.shape.operands
  local rows = expression_building.build(operands[1], { db = db, next = context.next, request = nil })
  context.next = context.next + operands[1].count
  local updated, values = split(parts[4], "\1"), {}
  for index = 1, #updated do values[index] = expression_building.build(operands[index + 1], context) end
  local position = #updated + 2
  local condition
  if parts[5] == "where" then
    condition = expression_building.build(operands[position], context)
    position = position + 1
  end
  local target = parts[3] ~= "\2" and split(parts[3], "\1") or nil
  local columns = parts[1] ~= "" and split(parts[1], "\1") or nil
  local policy = parts[2] ~= "" and parts[2] or nil
  return native_requests.compile_insert(table_of_class, db, columns, rows, policy, target, updated, values, condition,
    changing.build_returning(node, parts[6] == "some" and operands[position] or nil, parts[6] == "all", context))
end

request.add_final_forms{ insert = compile_insert }

--- Inserts the rows of a request into the table of the class with one statement. Hooks are not called.
-- @tparam table class
-- @tparam ?database db
-- @param rows a request (or a class) whose columns match the columns of the table
-- @tparam ?table options
-- @return the changes, as db:execute returns them; or, with `returning`, the list of records or rows
function inserting.insert_from(class, ...)
  local db, given, options, surplus = ...
  if not native_records.is_database(db) then db, given, options, surplus = nil, db, given, options end
  if surplus ~= nil then arity.refuse("insert_from", db and 3 or 2, surplus) end
  db = request_plans.database_for(db, "insert_from")
  local rows = request.of(given)
  if not rows then
    raise("argument", "insert_from: expected a request, got " .. errors.describe(given) .. (type(given) == "string"
      and "; use a request, as in Other:select(\"column\"), or db:execute(sql) for the whole statement" or "; use insert_all to insert records"))
  end
  local source = sources.of_class(class)
  local is_upsert
  options, is_upsert = read_options(source, options)
  if options.target ~= nil then
    local info = record_class.info(class)
    upsert_keys.check_target("insert_from", options.target, column_details.of_class(class, db).declared)
    upsert_keys.check_unique("insert_from", record_fields.view(info, native_schema.table(db, info.table)), read_names(source, "target", options.target))
  end
  local own = sources.unscoped_request(class)
  local returning = changing.read_returning(own, "insert_from", options.returning)
  local change = request.derive_with(own, "insert", statement(source, rows, options, is_upsert, returning))
  return changing.run(change, db, returning)
end

return inserting
