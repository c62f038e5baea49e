--- Changes and deletes all rows of a request with one statement.

local perilune = require "perilune"
local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local database_argument = require "perilune.runtime.database_argument"
local native_records = require "perilune.native.records"
local native_requests = require "perilune.native.requests"
local native_schema = require "perilune.native.schema"
local checks = require "perilune.runtime.checks"
local record_class = require "perilune.records.class"
local record_description = require "perilune.records.description"
local marks = require "perilune.runtime.marks"
local raise = errors.raise
local expression = require "perilune.expressions.expression"
local named_expressions = require "perilune.requests.named_expressions"
local record_fields = require "perilune.records.fields"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local class_properties = require "perilune.requests.class_properties"
local request = require "perilune.requests.request"
local request_plans = require "perilune.requests.plans"
local expression_building = require "perilune.expressions.swift_bridge"
local request_building = require "perilune.requests.swift_bridge"

--- The methods of requests that change rows.
local verbs = {}

--- Functions that are shared with other statements that change rows.
local changing = {}

local policies = { abort = true, fail = true, ignore = true, replace = true, rollback = true }

--- Raises unless the conflict policy is nil or a policy of SQLite.
function changing.check_policy(method, policy)
  if policy ~= nil and not policies[policy] then
    raise("argument", method .. ": on_conflict: expected one of abort, fail, ignore, replace and rollback, got " .. errors.describe(policy))
  end
end

local function read_options(method, options, assignments)
  if options == nil then return {} end
  if type(assignments) == "string" then
    local column, value = assignments:match("^%s*([%a_][%w_]*)%s*=%s*(.-)%s*$")
    raise("argument", ("%s: expected { column = value, ... }, got the string %q; use update_all{ %s = %s }"):format(method, assignments,
      column or assignments, column and value ~= "?" and ("perilune.sql(%q, ...)"):format(value) or "value"))
  end
  if type(options) ~= "table" or getmetatable(options) ~= nil then
    raise("argument", method .. ": expected a table of options, got " .. errors.describe(options)
      .. ((type(options) == "string" or marks.is_expression(options)) and "; use filter(condition):" .. method .. "(...) for some rows" or ""))
  end
  local is_known, err = pcall(checks.option_names, method, options, {
    returning = true, on_conflict = method == "update_all" or nil, forever = method == "delete_all" or nil,
  })
  if not is_known then
    if err.suggestion or err.kind ~= "unknown_option" then error(err, 0) end
    raise("unknown_option", ("%s: no option `%s`; use filter{ column = value }:%s(...) for conditions"):format(method, err.name, method), { name = err.name })
  end
  changing.check_policy(method, options.on_conflict)
  return options
end

--- Reads the `returning` option: nil; true for records; or a list of columns, as a request that selects them.
local function read_returning(self, method, returning)
  if returning == nil or returning == false then return nil end
  if returning == true then return true end
  return request.terms(self, method .. ": returning", { returning, n = 1 })
end

-- Assignments -----------------------------------------------------------------------------------------------------------------

--- Returns the value to assign to a column: an expression unchanged, any other value as an insert would store it. Raises for a
-- value that an insert would reject.
local function value_of(self, db, column, value)
  if value == null then return expression.of_value(value) end
  local name, class = column.shape.detail, self.node.root.source.class
  if class and not marks.is_expression(value) and not marks.is_request(value) then
    local details = column_details.of_class(class, db)
    value = record_values.store(details, nil, name, value)
    local is_held, err = pcall(record_values.check_type, details, name, value)
    if not is_held then
      if type(value) ~= "string" then error(err, 0) end
      raise(err.kind, ("update_all: %s; for a computed value use Class.c.%s + 1, or perilune.sql(%q)"):format(err.message, name, value), {
        table = err.table, column = err.column,
      })
    end
  else
    value = expression.as_column(column.shape, value)
  end
  if type(value) == "table" and getmetatable(value) == nil then
    raise("argument", ("update_all: `%s`: expected a value or an expression, got a table; use Class.c.%s + 1 for a computed value, the class option "
      .. "types = { %s = \"json\" } for a JSON document"):format(name, name, name))
  end
  return expression.operand(value, "update_all: `" .. name .. "`")
end

--- Applies the behaviors of the class to changes of many rows: immutable columns are rejected, versions are incremented.
local function add_behaviours(self, names, assignments)
  local class = self.node.root.source.class
  for _, name in ipairs(class_properties.behaviour(class, "immutable") or {}) do
    if assignments[name] ~= nil then
      raise("immutable", ("update_all: `%s` is immutable: it can be set only when the record is inserted"):format(name),
        { table = self.node.root.source.table, column = name })
    end
  end
  local version = class_properties.behaviour(class, "lock_version")
  if version and assignments[version] == nil then
    names[#names + 1] = version
    assignments[version] = self.node.root.source:column(version, self.node.alias) + 1
  end
end

--- Returns all assigned values as one expression, whose detail is the columns.
local function read_assignments(self, db, assignments)
  if type(assignments) == "function" then
    assignments = assignments(self.node.root.source:columns_table(self.node.alias))
  end
  if type(assignments) ~= "table" or getmetatable(assignments) ~= nil then
    raise("argument", "update_all: expected { column = value, ... }, got " .. errors.describe(assignments)
      .. (type(assignments) == "string" and "; for SQL use { column = perilune.sql(\"total + 1\") }" or ""))
  end
  local names, values, shapes = {}, {}, {}
  local given, info = assignments, record_class.info(self.node.root.source.class)
  if info and record_class.names_associations(info, given) then
    given = record_class.parents.divide(info, given, "update_all", db)
  end
  assignments = {}
  local function add(name, value)
    if assignments[name] ~= nil then raise("argument", "update_all: `" .. name .. "` is given twice") end
    assignments[name] = value
    names[#names + 1] = name
  end
  for name, value in next, given do
    if type(name) ~= "string" then
      raise("argument", "update_all: expected the name of a column, got " .. errors.describe(name))
    end
    local group = self.node.root.source:group(name)
    for _, part in ipairs(group and record_fields.parts(group, value, "update_all: `" .. name .. "`") or { { name, value } }) do add(part[1], part[2]) end
  end
  if #names == 0 then raise("argument", "update_all: expected at least one column to change; a field that is nil does not exist, so use perilune.null for NULL") end
  table.sort(names)
  add_behaviours(self, names, assignments)
  for index, name in ipairs(names) do
    local column = named_expressions.check_column(self.node.root.source:column(name), "update_all")
    names[index] = column.shape.detail
    values[index] = value_of(self, db, column, assignments[name])
    shapes[index] = values[index].shape
  end
  return expression.join_all(expression.shape_of_list("assignments", shapes, table.concat(names, "\0")), values)
end

-- Plans -----------------------------------------------------------------------------------------------------------------------

--- Returns a complete change as one expression, whose detail is the policy and the returned values.
local function statement(op, policy, returning, assignments)
  local parts, shapes = { assignments }, {}
  if type(returning) == "table" then parts[#parts + 1] = returning end
  for index, part in ipairs(parts) do shapes[index] = part.shape end
  local detail = (policy or "") .. (returning == true and " returning" or "")
  return expression.join_all(expression.shape_of_list(op, shapes, detail), parts)
end

--- Returns the request whose rows change, as built by Swift; and a context in which the numbers of the change's values follow the numbers
-- of the request's values.
local function prepare(node, db, generation)
  local built = request_building.built(node.parent, db, generation)
  return built, { db = db, next = node.parent.count + 1, request = built }
end

--- Returns a column as a term of RETURNING, in a form that keeps its integers; see `record_fields.returns_floats`.
local function exempt(column, name)
  return expression.sql("+?", { n = 1, setmetatable({ shape = column }, expression.metatable) }, "returning"):as(name).shape
end

--- Returns the terms of RETURNING for records. Lists the columns instead of using `*`: when SQLite recompiles a statement because the table
-- has changed, the result columns keep their old names.
local function all_terms(source, schema, row_id, is_exempt)
  local terms = {}
  local function add(name)
    local shape = source:existing_column(name).shape
    terms[#terms + 1] = is_exempt and exempt(shape, name) or shape
  end
  for _, column in ipairs(schema.columns) do
    if not (column.hidden or column.lazy) then add(column.name) end
  end
  if row_id then add(row_id) end
  return terms
end

local function exempt_terms(shape)
  local terms = {}
  for index, term in ipairs(shape.operands) do
    local column = term.op == "as" and term.operands[1] or term
    terms[index] = column.op == "column" and exempt(column, term.detail) or term
  end
  return terms
end

--- Returns the terms of the RETURNING clause for Swift: expressions and their names, or nothing.
-- @tparam ?table shape the columns to return
-- @tparam boolean is_all whether to return records, if no columns are given
function changing.build_returning(node, shape, is_all, context)
  if not shape and not is_all then return nil end
  local source = node.root.source
  local info = record_class.info(source.class)
  local schema = record_fields.view(info, native_schema.table(context.db, info.table))
  local is_exempt = record_fields.returns_floats(schema)
  local row_id = record_description.row_id_key(info, schema)
  local terms = is_all and all_terms(source, schema, row_id, is_exempt) or is_exempt and exempt_terms(shape) or shape.operands
  return request_building.named({ operands = terms }, context)
end

local function build_returning(node, shape, context)
  return changing.build_returning(node, shape, node.shape.detail:find(" returning", 1, true) ~= nil, context)
end

local function split(detail)
  local parts = {}
  for part in (detail .. "\0"):gmatch("(.-)\0") do parts[#parts + 1] = part end
  return parts
end

local function compile_update(node, db, _, generation)
  local built, context = prepare(node, db, generation)
  local assignments = node.shape.operands[1]
  local values = expression_building.build_all(assignments.operands, context)
  return native_requests.compile_update(built, db, split(assignments.detail), values, node.shape.detail:match("^%a+"),
    build_returning(node, node.shape.operands[2], context))
end

local function compile_delete(node, db, _, generation)
  local built, context = prepare(node, db, generation)
  return native_requests.compile_delete(built, db, build_returning(node, node.shape.operands[1], context))
end

request.add_final_forms{ update = compile_update, delete = compile_delete }

--- Executes a change. The error of a violated constraint names the table.
local function attempt(self, f, ...)
  local is_done, result = pcall(f, ...)
  if is_done then return result end
  local class = self.node.root.source.class
  error(require("perilune.records.errors").explain_many(result, self.node.root.source.table, class and column_details.of_any(class)), 0)
end

--- Runs a change. Returns the results of RETURNING, or the changes.
local function run(self, db, returning)
  local plan = request_plans.plan_of(self, db, "change")
  if returning == nil then return attempt(self, db.execute, db, plan.sql, request_plans.arguments(self, plan)) end
  if returning == true then
    local class = self.node.root.source.class
    return require("perilune.records.fetching").decode_all(record_class.info(class),
      attempt(self, native_records.fetch_records, db, plan.sql, class, request_plans.arguments(self, plan)))
  end
  return require("perilune.requests.value_types").convert_returned(
    attempt(self, db.fetch_all, db, plan.sql, request_plans.arguments(self, plan)), returning.shape.operands, self.node.root.source:schema())
end

changing.run, changing.read_returning = run, read_returning

--- For each verb, a function that returns the request of the change, the database, and the values to return.
local changes = {}

function changes.update_all(self, ...)
  local db, assignments, options = database_argument.take("update_all", 2, ...)
  db = request_plans.database_for(db, "update_all")
  options = read_options("update_all", options, assignments)
  local values = read_assignments(self, db, assignments)
  local returning = read_returning(self, "update_all", options.returning)
  local change = statement("update", options.on_conflict, returning, values)
  return request.derive_with(self, "update", change), db, returning
end

function changes.delete_all(self, ...)
  local db, options = database_argument.take("delete_all", 1, ...)
  db = request_plans.database_for(db, "delete_all")
  options = read_options("delete_all", options)
  local deleted_at = not options.forever and class_properties.behaviour(self.node.root.source.class, "soft_delete")
  if deleted_at then return changes.update_all(self, db, { [deleted_at] = perilune.now() }, { returning = options.returning }) end
  local returning = read_returning(self, "delete_all", options.returning)
  local change = request.derive_with(self, "delete", statement("delete", nil, returning))
  -- Keeps the parameters of a prepared request.
  rawset(change, "named", rawget(self, "named"))
  return change, db, returning
end

--- Changes columns of all rows of the request: `request:update_all{ score = Player.c.score + 1 }`.
-- @tparam ?database db
-- @tparam table assignments columns with values or expressions; or a function that receives the columns and returns such a table
-- @tparam ?table options `on_conflict`: a policy; `returning`: true for records, or columns for rows
-- @return the changes, as returned by db:execute; or the list of records or rows if `returning` is given
function verbs:update_all(...)
  return run(changes.update_all(self, ...))
end

--- Deletes all rows of the request.
-- @tparam ?database db
-- @tparam ?table options `returning`: true for records, or columns for rows; `forever`: whether to remove the rows from the table even if
--   the class has `soft_delete`
function verbs:delete_all(...)
  return run(changes.delete_all(self, ...))
end

--- Returns the statement that `update_all` or `delete_all` would execute, as a value: see records/statements.lua.
-- @tparam string verb
-- @param ... the arguments of the verb
function verbs:statement(verb, ...)
  if not changes[verb] then errors.raise_unknown("operation", tostring(verb), { "update_all", "delete_all" }) end
  local change, db = changes[verb](self, ...)
  local plan = request_plans.plan_of(change, db, "change")
  return require("perilune.records.statements").make(plan.sql, table.pack(request_plans.values(change, plan)))
end

request.add_verbs(verbs)

return changing
