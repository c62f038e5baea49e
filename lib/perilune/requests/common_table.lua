--- Common table expressions: requests or SQL with a name, which other requests can use like a table.
--
--     local tree = perilune.common_table("tree", { "id", "level" }, [[
--       SELECT id, 0 FROM employee WHERE boss_id IS NULL
--       UNION ALL SELECT employee.id, level + 1 FROM employee JOIN tree ON boss_id = tree.id]])
--     tree:filter{ level = 2 }:fetch_all()
--     Employee:filter(Employee.c.id:is_in(tree:select("id"))):fetch_all()
--
-- The same tree defined by requests. The step joins the table to the next level:
--
--     local bosses = Employee:filter{ boss_id = perilune.null }:select("id", perilune.value(0):as("level"))
--     local tree = perilune.common_table("tree", bosses, function(tree)
--       local boss = Employee:belongs_to(tree, { name = "boss_in_tree", columns = "boss_id", referenced = "id" })
--       return Employee:joining_required(boss):select("id", tree.c.level + 1)
--     end)

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local sources = require "perilune.requests.source"
local raise = errors.raise
local expression = require "perilune.expressions.expression"
local request = require "perilune.requests.request"
local Source, unused = sources.Source, request.unused
local request_building = require "perilune.requests.swift_bridge"
local expression_building = require "perilune.expressions.swift_bridge"
local native_requests = require "perilune.native.requests"
local sql_names = require "perilune.runtime.names"

--- The functions that scripts call.
local public = {}

--- The source of a common table.
local CommonSource = setmetatable({}, { __index = Source })
CommonSource.__index = CommonSource

--- Returns the declaration of the table for Swift. It is created once for each schema generation, so that everything that is built from it
-- refers to the same table.
function CommonSource:declaration(db)
  local generation = native_records.schema_generation(db)
  if self.generation ~= generation then
    local columns = self.column_names or request_building.built(self.first, db, generation)
    self.declared = native_requests.declare_common_table(self.table, columns)
    self.generation, self.columns, self.placed = generation, {}, {}
  end
  return self.declared
end

function CommonSource:names()
  return self.column_names or native_requests.column_names(self:declaration(native_records.default_database()))
end

--- Returns the shape of the table column that a request returns under a name; nil if the name belongs to anything else.
local function column_given(node, name)
  while node.parent and node.op ~= "select" do node = node.parent end
  if node.op ~= "select" then
    local column = node.root.source:column_named(name, node.alias)
    return column and column.shape
  end
  for _, shape in ipairs(node.shape.operands) do
    local column = shape.op == "as" and shape.operands[1] or shape
    local given = shape.op == "as" and shape.detail or column.op == "column" and column.detail
    if given and sql_names.fold(given) == sql_names.fold(name) then return column end
  end
end

--- Returns the type of a column, which is inherited from the original table.
function CommonSource:column_type(name)
  local column = self.first and column_given(self.first, name)
  return column and expression.type_of(column)
end

function CommonSource:column_named(name, place)
  local names = self:names()
  local columns = self:columns_of(place)
  for _, known in ipairs(names) do
    if sql_names.fold(known) == sql_names.fold(name) then
      columns[known] = columns[known] or expression.common_column(known, self, place, self:column_type(known))
      return columns[known]
    end
  end
end

function CommonSource:column(name, place)
  return self:column_named(name, place) or errors.raise_unknown_column(name, self.table, self:names())
end

function CommonSource:key()
  raise("argument", "`" .. self.table .. "` is a common table: it has no key")
end

--- The methods of common tables, in addition to the methods of requests: associations, which specify their columns.
CommonSource.members = {}
for name, method in pairs(request.class_methods) do
  CommonSource.members[name] = function(self, ...) return method(self.node.root.source, ...) end
end

local function new_source(name)
  local source = setmetatable({
    is_common_table = true, table = name, requests = {}, column_tables = {}, columns = {}, placed = {},
  }, CommonSource)
  source.all_requests = function() return {} end
  return source
end

--- Returns the root node of all requests for the rows. If `definition` is nil, the node is for the recursive part of the table's
-- definition, in which the table refers to itself.
local function new_root(source, count, definition)
  local root = request.new_node(nil, "common table", count)
  root.definition = definition
  sources.begin(root, source)
  return root
end

local function request_of(root, values)
  local result = { node = root }
  for index = unused + 1, root.count do result[index] = values[index] end
  return setmetatable(result, root.metatable)
end

request_building.add_steps{ ["common table"] = function(root, _, context)
  local declared, definition = root.source:declaration(context.db), root.definition
  if not definition then return declared end
  if definition.sql then
    local arguments = definition.shape and expression_building.build_all(definition.shape.operands, context) or {}
    return native_requests.define_common_table_by_sql(declared, definition.sql, arguments)
  end
  return native_requests.define_common_table(declared, request_building.build_node(definition.node, context))
end }

-- Definitions -------------------------------------------------------------------------------------------------------------------

--- Returns the definition of a recursive table. It starts with the rows of a request; a step repeatedly adds rows derived from the rows
-- found so far.
local function recursive(source, first, step)
  local found = request.of(step(request_of(new_root(source, unused), {})))
  if not found then
    raise("argument", "perilune.common_table: argument 3: expected a function that returns a request, got one that returns "
      .. errors.describe(found))
  elseif found.node.limit or found.node.offset then
    raise("argument", "perilune.common_table: the request for further rows cannot have a limit; limit the rows of the table")
  end
  return first:union_all(found)
end

local function of_request(source, given, step)
  local first = request.of(given)
  if not first then
    raise("argument", "perilune.common_table: argument 2: expected a request, or a list of columns and SQL, got "
      .. errors.describe(given))
  elseif step ~= nil and type(step) ~= "function" then
    raise("argument", "perilune.common_table: argument 3: expected a function that gets the table and returns a request, got "
      .. errors.describe(step))
  end
  source.first = first.node
  request_building.check(first.node)
  local all = step and recursive(source, first, step) or first
  return request_of(new_root(source, all.node.count, { node = all.node }), all)
end

local function of_sql(source, columns, text, ...)
  if type(text) ~= "string" then
    raise("argument", "perilune.common_table: argument 3: expected SQL, got " .. errors.describe(text))
  end
  source.column_names = columns
  text = text:gsub("[;%s]+$", "")
  local arguments = select("#", ...) > 0 and expression.list_operation("arguments", nil, table.pack(...), "perilune.common_table")
  local values, shape = {}, arguments and arguments.shape
  if arguments then expression.collect(arguments, values, unused) end
  return request_of(new_root(source, unused + (shape and shape.count or 0), { sql = text, shape = shape }), values)
end

--- Defines a table that exists during one statement: it has the rows of a request or of SQL. The SQL may refer to the table itself (WITH
-- RECURSIVE).
-- @tparam string name
-- @param definition a request; or the list of columns, followed by SQL and its arguments
-- @param ... after a request: a function that receives the table as found so far, and returns the request for further rows
-- @return a request for its rows
function public.common_table(name, definition, ...)
  if type(name) ~= "string" or name == "" then
    raise("argument", "perilune.common_table: argument 1: expected a name, got " .. errors.describe(name))
  end
  local is_list = type(definition) == "table" and getmetatable(definition) == nil
  local source = new_source(name)
  local made = is_list and of_sql(source, definition, ...) or of_request(source, definition, ...)
  source.all = made
  request_building.check(made.node)
  return made
end

return public
