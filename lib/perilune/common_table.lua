--- Common table expressions: requests and SQL with a name, from which other requests are made.
--
--     local tree = perilune.common_table("tree", { "id", "level" }, [[
--       SELECT id, 0 FROM employee WHERE boss_id IS NULL
--       UNION ALL SELECT employee.id, level + 1 FROM employee JOIN tree ON boss_id = tree.id]])
--     tree:filter{ level = 2 }:fetch_all()
--     Employee:filter(Employee.c.id:is_in(tree:select("id"))):fetch_all()

local internal = ...
local raise = internal.raise
local expression = internal.load("expression")
local request = internal.load("request")
internal.load("record")
internal.load("request_class")
local Source = internal.load("request_source")
local request_building = internal.load("request_building")
local expression_building = internal.load("expression_building")

--- The source of a common table: its columns are looked up by name in the request that reads it.
local CommonSource = setmetatable({}, { __index = Source })
CommonSource.__index = CommonSource

function CommonSource:column_named(name)
  for _, known in ipairs(self:names()) do
    if known:lower() == name:lower() then return expression.name(known) end
  end
end

function CommonSource:column(name)
  return self:column_named(name) or internal.raise_unknown_column(name, self.table, self:names())
end

function CommonSource:names()
  local db = internal.default_database()
  return internal.sql_requests.column_names(request_building.built(self.root, db, internal.schema_generation(db)))
end

function CommonSource:key()
  raise("argument", "`" .. self.table .. "` is a common table: it has no key")
end

local function new_root(name, count)
  local source = setmetatable({ table = name, requests = {}, column_tables = {} }, CommonSource)
  source.all_requests = function() return {} end
  local root = request.new_node(nil, "common table", count)
  internal.begin_requests(root, source)
  return root
end

request_building.steps["common table"] = function(root, _, context)
  if root.other then
    return internal.sql_requests.common_table(root.source.table, request_building.build_node(root.other, context))
  end
  local arguments = root.shape and expression_building.build_all(root.shape.operands, context) or {}
  return internal.sql_requests.common_table_of_sql(root.source.table, root.columns, root.sql, arguments)
end

local function of_request(name, given)
  local other = request.of(given)
  if not other then
    raise("argument", "perilune.common_table: argument 2: expected a request, or a list of columns and SQL, got "
      .. internal.describe(given))
  end
  local root = new_root(name, other.node.count)
  root.other = other.node
  local result = { node = root }
  for index = 1, root.count do result[index] = other[index] end
  return setmetatable(result, root.metatable)
end

local function of_sql(name, columns, sql, ...)
  if type(sql) ~= "string" then
    raise("argument", "perilune.common_table: argument 3: expected SQL, got " .. internal.describe(sql))
  end
  local arguments = select("#", ...) > 0 and expression.list_operation("arguments", nil, table.pack(...), "perilune.common_table")
  local root = new_root(name, arguments and arguments.shape.count or 0)
  root.columns, root.sql, root.shape = columns, sql, arguments and arguments.shape
  local result = { node = root }
  if arguments then expression.collect(arguments, result, 0) end
  return setmetatable(result, root.metatable)
end

--- A table that exists for one statement: the rows of a request, or of SQL, which may read the table itself (WITH RECURSIVE).
-- @tparam string name
-- @param definition a request; or the list of the columns, followed by SQL and its arguments
-- @return a request over its rows
function internal.perilune.common_table(name, definition, ...)
  if type(name) ~= "string" or name == "" then
    raise("argument", "perilune.common_table: argument 1: expected a name, got " .. internal.describe(name))
  end
  local is_list = type(definition) == "table" and getmetatable(definition) == nil
  local made = is_list and of_sql(name, definition, ...) or of_request(name, definition)
  request_building.check(made.node)
  return made
end

return CommonSource
