--- Associations: which rows of one class belong to which rows of another class.
--
--     Author.books = Author:has_many(Book)                    -- the foreign key comes from the schema
--     Book.author = Book:belongs_to(Author)
--     Author:including_all(Author.books:order("title")):fetch_all()
--     melville:books():order("title"):fetch_all()
--
-- Associations have the same derivations as requests (filter, order, ...); a derived association restricts the associated rows. If several
-- paths through other tables lead to a row, the row is returned once for each path, unless `distinct()` is used.

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local database_argument = require "perilune.runtime.database_argument"
local checks = require "perilune.runtime.checks"
local class_properties = require "perilune.requests.class_properties"
local sources = require "perilune.requests.source"
local marks = require "perilune.runtime.marks"
local receivers = require "perilune.runtime.receivers"
local raise = errors.raise
local expression = require "perilune.expressions.expression"
local request = require "perilune.requests.request"
local record_class = require "perilune.records.class"
local native_records = require "perilune.native.records"
local comparison_mistakes = lazily "perilune.expressions.comparison_mistakes"
local derivations, unused = request.derivations, request.unused

local association = {}

--- The methods of associations, in addition to the derivations of requests.
local members = {}
--- Associations by the number that identifies them in plans.
local roots = {}
association.roots = roots

-- Options -------------------------------------------------------------------------------------------------------------------

local known_options = {
  columns = true, referenced = true, name = true, through = true, using = true, singular = true, counter_cache = true, touch = true,
}

local function column_list(method, option, value)
  if value == nil then return nil end
  local list = type(value) == "string" and { value } or value
  if type(list) ~= "table" or #list == 0 then
    raise("argument", method .. ": `" .. option .. "` must be the name of a column or a list of names, got "
      .. errors.describe(value))
  end
  for _, name in ipairs(list) do
    if type(name) ~= "string" then
      raise("argument", method .. ": `" .. option .. "` must be the name of a column or a list of names, got a list with "
        .. errors.describe(name))
    end
  end
  return list
end

local function check_options(method, options)
  if options == nil then return {} end
  if type(options) ~= "table" or getmetatable(options) ~= nil then
    raise("argument", method .. ": argument 2: expected a table of options, got " .. errors.describe(options)
      .. (type(options) == "function" and "; order and filter the association itself: has_many(Target):order(\"column\")" or checks.option_cure(options, known_options)))
  end
  checks.option_names(method, options, known_options, "association_option")
  for _, name in ipairs{ "name", "singular" } do
    if options[name] ~= nil and (type(options[name]) ~= "string" or options[name] == "") then
      raise("argument", method .. ": `" .. name .. "` must be a name, got " .. errors.describe(options[name]))
    end
  end
  if (options.through == nil) ~= (options.using == nil) then
    raise("argument", method .. ": `through` and `using` must be given together: through = Author.books, using = Book.publisher")
  end
  return options
end

-- Defining associations -----------------------------------------------------------------------------------------------------

--- Returns the source of a class or common table, which can be at either end of an association; nil for other values.
local function source_of(value)
  if class_properties.is_class(value) then return sources.of_class(value) end
  if marks.is_request(value) then return value.node.op == "common table" and value.node.source or nil end
  return type(value) == "table" and rawget(value, "is_common_table") and value or nil
end

local function new_root(kind, owner, target, options)
  local source = source_of(target)
  local root = request.new_node(nil, "association", unused)
  root.root, root.source, root.kind = root, source, kind
  root.owner_source, root.owner, root.target = source_of(owner), owner, source.class
  root.options, root.name = options, options.name
  if not source.class then root.all = target end
  root.metatable = association.metatable(source)
  roots[#roots + 1] = root
  root.tag, root.number, root.identities, root.list_metatables = #roots, #roots, {}, {}
  return root
end

local function from_root(root)
  return setmetatable({ node = root }, root.metatable)
end

local function check_through(method, owner, target, options)
  local first, second = options.through, options.using
  for name, value in pairs{ through = first, using = second } do
    if not marks.is_association(value) then
      raise("argument", method .. ": `" .. name .. "` must be an association, got " .. errors.describe(value))
    end
  end
  if second.node.root.source ~= source_of(target) then
    raise("argument", method .. ": `using` leads to `" .. second.node.root.source.table .. "`, not to `"
      .. source_of(target).table .. "`")
  end
end

--- Returns the only class for a table, or a new one. Raises if several classes exist.
local function class_named(kind, name)
  local classes = record_class.classes_of(name)
  if #classes > 1 then
    raise("argument", ("%s: %d record classes exist for `%s`; pass one of them instead of the name, and call perilune.record at the top of the "
      .. "file, not in a function that runs again"):format(kind, #classes, name))
  end
  return classes[1] or record_class.new_class(name)
end

--- Defines a class method that creates associations.
local function define(kind)
  association[kind] = function(owner, target, options, surplus)
    if surplus ~= nil then arity.refuse(kind, 2, surplus) end
    if type(target) == "string" and target ~= "" then target = class_named(kind, target) end
    if not source_of(target) then
      raise("argument", kind .. ": argument 1: expected a record class, the name of a table, or a common table, got "
        .. errors.describe(target) .. (type(owner) == "string" and "; call it with a colon, as in Class:" .. kind .. "(Target)"
          or marks.is_request(target) and ("; use Class:%s(Target):order(\"column\"), likewise :filter(condition)"):format(kind) or ""))
    end
    options = check_options(kind, options)
    if options.through then check_through(kind, owner, target, options) end
    local root = new_root(kind, owner, target, {
      columns = column_list(kind, "columns", options.columns),
      referenced = column_list(kind, "referenced", options.referenced),
      name = options.name, singular = options.singular, through = options.through, using = options.using,
    })
    local bridge = require "perilune.associations.swift_bridge"
    if root.name then bridge.check(root) end
    if options.counter_cache or options.touch then
      require("perilune.associations.parent_updates").install(root, kind, owner, options)
    end
    return from_root(root)
  end
end

for _, kind in ipairs{ "belongs_to", "has_one", "has_many" } do
  define(kind)
  request.add_class_methods{ [kind] = association[kind] }
end

--- Fetches requests that include associations.
function request.fetch_associated(...)
  return require("perilune.associations.fetching").fetch_all(...)
end

function request.iterate_associated(...)
  return require("perilune.associations.fetching").rows(...)
end

local function name_of(self)
  return self.node.name or self.node.root.name or "?"
end

local function belongs_to_class(root, class)
  while class do
    if root.owner == class then return true end
    class = class_properties.base(class)
  end
  return false
end

--- Sets the name of an association. Keeps it unnamed if Swift rejects the association.
local function name_root(root, name)
  root.name = name
  local ok, err = pcall(require("perilune.associations.swift_bridge").check, root)
  if not ok then
    root.name = nil
    error(err, 0)
  end
end

--- Names an association after the field of the class to which it is assigned, because included rows are stored in a record's field with
-- this name.
-- @treturn association the association to store
local function name_association(class, name, value)
  local root = value.node.root
  if not belongs_to_class(root, class) then
    raise("argument", "`" .. name .. "` is an association of `" .. root.owner_source.table
      .. "`, not of `" .. sources.of_class(class).table .. "`")
  end
  if root.name == nil then name_root(root, name) end
  return name_of(value) == name and value or value:as(name)
end

--- Returns whether the table exists and has a column with the name.
local function is_column(info, name)
  if info.known[name] or info.computed and info.computed[name] then return true end
  local ok, column = pcall(function() return sources.of_class(info.class):column_named(name) end)
  return ok and column ~= nil
end

--- Returns whether an association with this name would hide a method of the class or its records.
local function shadows_method(info, name)
  for ancestor in record_class.ancestors(info) do
    if rawget(ancestor.members, name) ~= nil then return true end
  end
  for _, methods in ipairs{
    record_class.class_verbs, record_class.instance_verbs, request.derivations, request.verbs, request.class_methods,
  } do
    if rawget(methods, name) ~= nil then return true end
  end
  return false
end

record_class.parents = setmetatable({}, { __index = function(_, name) return require("perilune.associations.parents")[name] end })

--- Associations are stored separately from methods. Records also find them by name.
record_class.on_definition(function(info, name, value)
  if not marks.is_association(value) then return false end
  if type(name) ~= "string" then
    raise("argument", "an association must be stored under a name, not under " .. errors.describe(name))
  elseif is_column(info, name) then
    raise("argument", "`" .. info.table .. "` has a column `" .. name .. "`; give the association another name")
  end
  if shadows_method(info, name) then
    raise("argument", "`" .. name .. "` is a method of the record class " .. info.name .. "; give the association another name")
  end
  value = name_association(info.class, name, value)
  info.associations[name] = value
  if value.node.root.kind == "belongs_to" then native_records.add_parent(info.model, name) end
  rawset(info.lookup, name, value)
  return true
end)

--- Returns the identity by which Swift distinguishes the association's columns: its name, and its number, which is the same for all its
-- derivations.
function association.identity(node)
  local root, name = node.root, node.name or node.root.name or "?"
  local identity = root.identities[name]
  if not identity then
    identity = { number = root.number, name = name, leads_back = root.owner_source.table == root.source.table }
    root.identities[name] = identity
  end
  return identity
end

-- Aggregates ----------------------------------------------------------------------------------------------------------------

--- Returns the association as an operand of an expression: its values, with a shape for its node.
local function carrier(self)
  local node = self.node
  local shape = node.as_operand
  if not shape then
    shape = expression.new_shape("association", {})
    shape.count, shape.node = node.count - unused, node
    node.as_operand = shape
  end
  local result = { shape = shape }
  for index = 1, shape.count do result[index] = self[unused + index] end
  return setmetatable(result, expression.metatable)
end

--- Returns an expression for the number of associated rows.
function members:count() return expression.unary(carrier(self), "aggregate", "count") end

--- Returns an expression for whether a row has no associated rows.
function members:is_empty() return expression.unary(carrier(self), "aggregate", "isEmpty") end

--- Returns an expression for whether a row has associated rows.
function members:exists() return expression.unary(carrier(self), "aggregate", "exists") end

for name, function_name in pairs{
  min = "minimum", max = "maximum", sum = "sum", average = "average", total = "total",
} do
  members[name] = function(self, column)
    if type(column) == "string" then column = self.node.root.source:column(column, self.node.alias) end
    if not marks.is_expression(column) then
      raise("argument", name .. ": argument 1: expected a column of the association, got " .. errors.describe(column))
    end
    if name ~= "min" and name ~= "max" then comparison_mistakes.check_aggregated(column.shape, name) end
    local operand = carrier(self)
    local shape = expression.shape_with_shape(operand.shape, "aggregate " .. function_name, column.shape)
    return expression.join(shape, operand, column)
  end
end

--- Returns the association without the default scope of its target class.
function members:unscoped()
  local root = self.node
  if root.parent then raise("argument", "unscoped: must come first: Class." .. name_of(self) .. ":unscoped():filter(...)") end
  if not root.unscoped then
    local copy = request.new_node(nil, "association", unused)
    for _, field in ipairs{
      "source", "kind", "owner_source", "owner", "target", "options", "name", "metatable", "number", "identities", "list_metatables",
    } do copy[field] = root[field] end
    copy.root, copy.is_unscoped = copy, true
    roots[#roots + 1] = copy
    copy.tag, root.unscoped = #roots, copy
  end
  return from_root(root.unscoped)
end

--- Returns the same association with a different name.
function members:as(name)
  if type(name) ~= "string" or name == "" then
    raise("argument", "association:as: argument 1: expected a name, got " .. errors.describe(name))
  end
  return request.derive_with_detail(self, "named", name)
end

arity.limit(members, "association:", {
  count = 0, is_empty = 0, exists = 0, min = 1, max = 1, sum = 1, average = 1, total = 1, unscoped = 0, as = 1,
}, { count = "use association:filter(...):count()" })

-- Members ---------------------------------------------------------------------------------------------------------------------

--- Raises an error for an association that is used like a list of fetched rows, and explains what to write.
-- @tparam ?string advice the replacement for a name of another library
local function raise_not_fetched(self, use, advice)
  local root = self.node.root
  local owner, name = root.owner_source.table, name_of(self)
  local include = root.kind == "has_many" and "including_all" or "including_optional"
  raise("not_fetched", ("the association `%s` of this `%s` was not fetched and has no `%s`; use %s(Class.%s) when fetching, or record:%s() for its request%s")
    :format(name, owner, use, include, name, name, advice and "; in place of `" .. use .. "` " .. advice or ""))
end

--- The methods of columns that other libraries also have on associations.
local comparisons = { eq = true, ne = true, is = true, is_not = true, is_in = true, is_not_in = true, is_null = true, is_not_null = true }

--- Raises for a name of another library, and for the name of an association of the associated class. The message suggests both Class.name
-- and record:name(), because the script may have obtained the association in either way.
local function raise_other_name(self, source, name)
  local own = name_of(self)
  if type(name) ~= "string" then return end
  if source.class and class_properties.association(source.class, name) then
    raise("not_fetched", ("`%s`: associations nest by including: Class.%s:including_all(Target.%s), or :including_optional for a single record; record:%s() is a request"):format(
      name, own, name, own))
  end
  local advice = require("perilune.runtime.other_names").find("association", name)
  if not advice and comparisons[name] then
    advice = ("use filter{ %s = record }, a list of records, or perilune.null"):format(own)
  elseif not advice and source.class and pcall(source.column, source, name) then
    advice = ("use filter{ [\"%s.%s\"] = value }, or joining_required(Class.%s) with conditions on the columns of the other class"):format(own, name, own)
  end
  if advice then raise_not_fetched(self, name, advice) end
end

--- The methods of associations. They check their receiver.
local own_methods = receivers.checked_methods(receivers.kinds.association, members)
local derivation_methods = receivers.checked_methods(receivers.kinds.association, derivations, { filter = true, order = true, limit = true })

local function index_function(source)
  return function(self, name)
    local member = own_methods[name] or derivation_methods[name]
    if member ~= nil then return member end
    if name == "c" then return source:columns_table(self.node.alias or association.identity(self.node)) end
    local named = source.requests[name]
    if named ~= nil then return named end
    if request.verbs[name] then
      raise_not_fetched(self, name, name == "fetch_count" and "use Class." .. name_of(self) .. ":count() in conditions and annotations" or nil)
    end
    raise_other_name(self, source, name)
    raise_not_fetched(self, type(name) == "string" and name or "[" .. tostring(name) .. "]")
  end
end

--- Returns the metatable of associations that lead to a source.
function association.metatable(source)
  if source.association_metatable then return source.association_metatable end
  source.association_metatable = {
    __name = "association", __metatable = "association",
    __index = index_function(source),
    __newindex = function(_, name) raise("readonly", "an association is immutable: cannot set `" .. tostring(name) .. "`") end,
    __len = function(self)
      local name = name_of(self)
      raise_not_fetched(self, "#", self.node.root.kind == "has_many" and ("use record:%s():fetch_count(), and to add a row record:%s():insert{ column = value }"):format(name, name) or nil)
    end,
    __pairs = function(self) raise_not_fetched(self, "pairs") end,
    __call = function(self, record, db, surplus)
      if surplus ~= nil then arity.refuse(name_of(self), 1, surplus) end
      if db ~= nil and not native_records.is_database(db) then
        raise("argument", ("%s: argument 1: expected a database, or nothing, got %s; use record:%s():filter{ column = value } for conditions"):format(
          name_of(self), errors.describe(db), name_of(self)))
      end
      return require("perilune.associations.records").request_of(self, record, db)
    end,
    __tostring = function(self)
      local root, name = self.node.root, name_of(self)
      if name == "?" then return "association " .. root.owner_source.table .. ".?" end
      return ("association %s.%s, whose %s fetches"):format(root.owner_source.table, name, root.kind == "has_many"
        and ("rows record:%s():fetch_all()"):format(name) or ("row record:%s():fetch_one()"):format(name))
    end,
  }
  return source.association_metatable
end

association.name_of, association.raise_not_fetched = name_of, raise_not_fetched

-- Requests with associations ----------------------------------------------------------------------------------------------------

local function check_association(method, value, index)
  if marks.is_association(value) then return end
  local cure = (class_properties.is_class(value) or type(value) == "string") and "; use Class.name, as defined by has_many or belongs_to"
    or marks.is_expression(value) and (method:find("^joining") and "; use filter(condition) for a condition"
      or "; use annotated_with(expression:as(\"name\")) for an expression")
    or type(value) == "table" and getmetatable(value) == nil and "; pass associations as arguments: " .. method .. "(Class.name, Class.other)" or ""
  raise("argument", method .. ": argument " .. index .. ": expected an association, got " .. errors.describe(value) .. cure)
end

--- Raises unless rows of the association can be included. Only records have fields for included rows; rows of common tables are plain rows.
local function check_includes(self, method)
  local source = self.node.root.source
  if not source.class then
    raise("argument", method .. ": rows of the common table `" .. source.table .. "` are not records; "
      .. "join them (joining_required), or select their columns (annotated_with_required)")
  end
end

--- Returns whether the values of another request occur in this request after the first `first` values.
local function has_values(self, first, other)
  for index = 1, other.node.count - unused do
    if not rawequal(self[first + index], other[unused + index]) then return false end
  end
  return true
end

--- Raises if a request already includes a different derivation with this name, because both would use the same field.
local function check_is_only_one(self, method, other, depth)
  local name, node = name_of(other), self.node
  while node.parent do
    local known = node.op:find("^include") and node.other
    if known and (known.name or known.root.name) == name
      and not (known == other.node and node.detail == depth and has_values(self, node.parent.count, other))
    then
      local what = known.root.number == other.node.root.number and "derivation of" or "association called"
      raise("argument", ("%s: the request already includes another %s `%s`, and both would be stored in the field `%s`; rename one "
        .. "of them: Class.other = ..., or association:as(\"other\")"):format(method, what, name, name))
    end
    node = node.parent
  end
end

for method, op in pairs{
  including_required = "include required", including_optional = "include optional",
  joining_required = "join required", joining_optional = "join optional",
  annotated_with_required = "annotate required", annotated_with_optional = "annotate optional",
} do
  request.add_derivations{ [method] = function(self, ...)
    if select("#", ...) == 0 then raise("argument", method .. ": expected at least one association") end
    for index = 1, select("#", ...) do
      local other = select(index, ...)
      check_association(method, other, index)
      if op:find("^include") then
        check_includes(self, method)
        check_is_only_one(self, method, other)
      end
      self = request.derive_with_request(self, op, other)
    end
    return self
  end }
end

--- Includes lists of associated rows, which are fetched by one additional statement for each association. If an association leads from a
-- table to itself, an integer after it limits how often it is followed.
local function including_all(self, ...)
  local given = table.pack(...)
  if given.n == 0 then raise("argument", "including_all: expected at least one association") end
  local index = 1
  while index <= given.n do
    check_association("including_all", given[index], index)
    check_includes(self, "including_all")
    local depth = math.type(given[index + 1]) == "integer" and given[index + 1] or nil
    check_is_only_one(self, "including_all", given[index], depth)
    self = request.derive_with_request(self, "include all", given[index], depth)
    index = index + (depth and 2 or 1)
  end
  return self
end

request.add_derivations{ including_all = including_all }

local function preload(class, db, found, ...)
  if not class_properties.is_class(class) then raise("argument", "preload: common tables have no records") end
  if type(found) ~= "table" or getmetatable(found) ~= nil and record_class.info_of(found) then
    raise("argument", "preload: argument 1: expected a list of records, got " .. errors.describe(found)
      .. "; use including_all(Class.association) to fetch records with associated rows")
  end
  for position, value in ipairs(found) do
    if not class:is(value) then
      raise("argument", ("preload: element %d of the list: expected a record of `%s`, got %s"):format(position, class_properties.table(class),
        class_properties.name_beside(value, class)))
    end
  end
  local included = class:unscoped():including_all(...)
  if found[1] == nil then return found end
  db = require("perilune.requests.plans").database_for(db, "preload")
  require("perilune.associations.fetching").preload(included, found, db)
  return found
end

--- Fetches the associated rows of records that have been fetched before: `Author:preload(authors, Author.books, Author.country)`.
-- @tparam table class
-- @tparam ?database db
-- @tparam table list records of the class or of a class that extends it
-- @param ... associations; an integer after an association of a table to itself limits how often it is followed
-- @return the list
local function preload_of(class, ...)
  return preload(class, database_argument.take("preload", math.huge, ...))
end

request.add_class_methods{ preload = preload_of }

return association
