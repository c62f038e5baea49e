--- Record classes: Lua tables with methods, whose columns come from the schema.
--
--     local Author = perilune.record("author")
--     function Author:label() return self.name end
--     local author = Author{ name = "Herman Melville" }:insert()
--
-- The row path (CPeriluneRecords) makes, reads and writes records; this module does the work that is needed only once per class and schema,
-- or only rarely. The *info* of a class is a table { class, table, name, options, base, members, lookup, known, model }. The *description*
-- of a table is made from its schema for one class, and is the basis of a table layout of the row path.

local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local null = require("perilune.native.values").null
local native_records = require "perilune.native.records"
local checks = require "perilune.runtime.checks"
local raise = errors.raise
local sql_text = require "perilune.runtime.sql_text"
local marks = require "perilune.runtime.marks"
local registry = require "perilune.runtime.registry"
local record_description = require "perilune.records.description"
local record_fields = require "perilune.records.fields"
local sql_names = require "perilune.runtime.names"

local record_class = {
  --- A set of method names: if a class defines one of these methods, Lua handles all its writes.
  hooks = { validate = true },
  --- A set of verb names: if a class overrides one of these verbs, Lua handles the verb.
  overridable = {},
  --- The verbs of classes and of records.
  class_verbs = {},
  instance_verbs = {},
  --- Options of `perilune.record` and `extend`: functions `option(info, value)`, which check the value and apply it.
  class_options = {},
  --- The functions that handle associated records given in place of the columns that refer to them: `make`, `divide`, `keep`, `assign`,
  -- `synchronize`. They are set by the associations modules, and called only for classes with associations.
  parents = nil,
}

-- Seams, at which other modules add to classes

local definers, creators, finishers, describers = {}, {}, {}, {}

--- Adds a function that is called before a member is defined on a class: `f(info, name, value)`. The function returns true if it has
-- defined the member itself.
record_class.on_definition = registry.appending_to(definers)
--- Adds a function that is called with each new class: `f(info)`.
record_class.on_creation = registry.appending_to(creators)
--- Adds a function that is called when a new class is complete: `f(info)`.
record_class.on_completion = registry.appending_to(finishers)
--- Adds a function that is called with each new description: `f(info, description)`.
record_class.on_description = registry.appending_to(describers)
record_class.add_class_verbs = registry.adding_to(record_class.class_verbs)
record_class.add_instance_verbs = registry.adding_to(record_class.instance_verbs)
record_class.add_options = registry.adding_to(record_class.class_options)

for _, verb in ipairs{ "insert", "update", "save", "delete" } do
  for _, moment in ipairs{ "will_", "around_", "did_" } do record_class.hooks[moment .. verb] = true end
end

local infos = setmetatable({}, { __mode = "k" })

--- Returns the info of a class; nil for any other value.
function record_class.info(class)
  return infos[class]
end
marks.class_info = record_class.info

--- Returns the classes of a table that do not extend another class.
function record_class.classes_of(table_name)
  local classes, wanted = {}, sql_names.fold(table_name)
  for class, info in next, infos do
    if not info.base and sql_names.fold(info.table) == wanted then classes[#classes + 1] = class end
  end
  return classes
end

--- Returns the info of a record's class; nil for any other value.
function record_class.info_of(value)
  local class = native_records.class_of(value)
  return class and infos[class]
end

-- Table layouts

--- Raises for a method with the name of a column, because it could never be called.
local function check_methods(info, columns)
  for _, column in ipairs(columns) do
    for ancestor in record_class.ancestors(info) do
      if rawget(ancestor.members, column.name) ~= nil then
        raise("argument", ("the method `%s` of the record class %s has the same name as a column of its table")
          :format(column.name, info.name))
      end
    end
  end
end

--- Iterates over the class itself and the classes it extends.
function record_class.ancestors(info)
  local next_info = info
  return function()
    local ancestor = next_info
    next_info = ancestor and ancestor.base
    return ancestor
  end
end

record_fields.ancestors = record_class.ancestors

--- Records, for each table description, which known columns exist only in other databases.
local function note_other_columns(info, descriptions)
  local differ = false
  for _, description in ipairs(descriptions) do
    local others = {}
    for name in pairs(info.known) do
      if not description.positions[record_description.fold(name)] then others[#others + 1] = name end
    end
    table.sort(others)
    description.others, differ = others, differ or #others > 0
  end
  native_records.note_columns(info.model, differ)
end

--- Updates the names of fields that records may have: table columns in any database, and fields declared by the class.
local function update_known(info)
  local known, descriptions = info.known, {}
  -- This must happen before any name is removed, because C identifies names by their addresses.
  native_records.forget_found(info.model)
  for name in pairs(known) do known[name] = nil end
  for _, layout in pairs((native_records.table_layouts(info.model))) do
    local description = native_records.table_layout_description(layout)
    descriptions[#descriptions + 1] = description
    for _, column in ipairs(description.columns) do known[column.name] = true end
  end
  note_other_columns(info, descriptions)
  for ancestor in record_class.ancestors(info) do
    for _, name in ipairs(ancestor.extra) do known[name] = true end
  end
end

local most_layouts = 16

local function count(map)
  local result = 0
  for _ in pairs(map) do result = result + 1 end
  return result
end

--- Returns whether inserts into a table have no other effects, so that many rows can be inserted at once: the table has no triggers
-- and no conflict clauses.
local function is_batched(db, table_name)
  return db:fetch_value("/* perilune */ " .. [[
    SELECT COUNT(*) = 1 AND MAX(sql NOT LIKE '%CONFLICT%' AND sql NOT LIKE 'CREATE VIRTUAL %')
    FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema)
    WHERE type IN ('table', 'trigger') AND lower(tbl_name) = lower(?)]], table_name) == 1
end

--- Creates the table layout of a class for a database, or keeps the current one if it is still valid.

local function make_table_layout(class, db)
  local info = infos[class]
  -- The first statement after a schema change may be the one that notices it, so read the generation afterwards.
  local batched = is_batched(db, info.table)
  local generation, schema = native_records.schema_generation(db), record_fields.view(info, native_schema.table(db, info.table))
  local layouts = native_records.table_layouts(info.model)
  local former = layouts[native_records.database_id(db)]
  if former and native_records.table_layout_description(former).schema == schema and native_records.table_layout_description(former).is_batched == batched then
    native_records.renew_table_layout(former, generation)
    return former
  end
  if count(layouts) >= most_layouts then native_records.keep_table_layout(info.model) end
  local description = record_description.describe(info, schema)
  description.is_batched = batched
  check_methods(info, description.columns)
  for _, describer in ipairs(describers) do describer(info, description) end
  description.generation = generation
  local layout = native_records.make_table_layout(info.model, db, description)
  native_records.keep_table_layout(info.model, layout)
  update_known(info)
  return layout
end

--- Returns the description of a class's table in a database.
-- @param ?db by default the innermost access or the default database
-- @return the description, the table layout
function record_class.description(class, db)
  db = db or native_records.default_database()
  local info = infos[class]
  local layout = native_records.table_layouts(info.model)[native_records.database_id(db)]
  if not layout or native_records.table_layout_generation(layout) ~= native_records.schema_generation(db) then layout = make_table_layout(class, db) end
  return native_records.table_layout_description(layout), layout
end

--- Reads the schema again after finding an unknown name.
local function refresh(info)
  local db = native_records.default_database()
  native_records.touch_schema(db)
  return record_class.description(info.class, db)
end

--- Returns whether the names of the columns are known, after reading the schema again. They are unknown as long as no database had the
-- class's table.
local function can_tell_columns(info)
  local is_done, err = pcall(refresh, info)
  if is_done then return true end
  if err.kind ~= "unknown_table" then error(err, 0) end
  -- The table may exist only in another database.
  return next((native_records.table_layouts(info.model))) ~= nil
end

local function known_names(info)
  local names = {}
  for name in pairs(info.known) do names[#names + 1] = name end
  for name in pairs(info.computed or {}) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- Functions for the row path

record_class.make_table_layout = make_table_layout

--- Returns the name of a class for messages.
function record_class.name(class)
  return infos[class].name
end

--- Returns the name of a class in messages that expect another class. Each call of `perilune.record` creates a class.
function record_class.other_name(found, expected)
  if sql_names.fold(found.table) ~= sql_names.fold(expected.table) then return found.name end
  return ("another class of the same table, because each call of perilune.record(%q) creates one; create it once, in a module,  "
    .. "and `require` that module"):format(found.table)
end

--- Returns the names of members defined by a class and the classes it extends: methods and associations.
local function own_names(info)
  local names = {}
  for ancestor in record_class.ancestors(info) do
    for name in pairs(ancestor.members) do names[#names + 1] = name end
    for name in pairs(ancestor.associations or {}) do names[#names + 1] = name end
  end
  return names
end

--- Returns the table's schema as the class last found it, to look up renamed columns; nil if the class renames no columns.
local function view_of(info)
  if not info.renames then return nil end
  local _, layout = native_records.table_layouts(info.model)
  return layout and native_records.table_layout_description(layout).schema
end

--- Returns the name of an association of the class, as an example in messages: one with a single record for `fetch_one` and the like,
-- otherwise preferably a list.
local function example_of_association(info, method)
  local wants_one, names, fitting = method:find("one") ~= nil or method:find("first") ~= nil, {}, {}
  for ancestor in record_class.ancestors(info) do
    for name, association in pairs(ancestor.associations or {}) do
      names[#names + 1] = name
      local root = association.node.root
      if (root.kind == "has_many") ~= wants_one then fitting[#fitting + 1] = name end
    end
  end
  table.sort(names)
  table.sort(fitting)
  return fitting[1] or names[1] or "association"
end

--- Returns the value of a field that a record does not have: nil if the name is a column, or another field that records of the class may
-- have.
-- @param target the record, if its class has computed or lazy fields
function record_class.missing(class, name, target)
  local info = infos[class]
  if info.computed and info.computed[name] then return record_fields.get(info, target, name) end
  -- If C reads the fields of the class, it handles this case itself. Do not call `require` here: it would take longer than reading the
  -- field.
  if info.known[name] then
    if info.has_lazy then record_fields.check_is_fetched(info, target, name) end
    return nil
  end
  if type(name) == "number" then
    raise("argument", ("a record has no elements, got [%s]; use record.column for a field, pairs(record) for all of them"):format(name))
  end
  for ancestor in record_class.ancestors(info) do
    if ancestor.missing then
      local is_found, value = ancestor.missing(info, name)
      if is_found then return value end
    end
  end
  if type(name) == "string" and (not can_tell_columns(info) or info.known[name]) then
    if info.has_lazy then record_fields.check_is_fetched(info, target, name) end
    return nil
  end
  record_fields.check_is_field(view_of(info), name)
  for other in pairs(infos) do
    local twin = infos[other]
    local is_there = rawget(twin.members, name) ~= nil or twin.associations and twin.associations[name] ~= nil
    if is_there and twin ~= info and twin.table == info.table then
      raise("unknown_column", ("no column, method or association `%s` in `%s`; it belongs to %s"):format(name,
        info.table, record_class.other_name(twin, info)), { name = name, table = info.table })
    end
  end
  local definition = require("perilune.records.undefined_associations").definition(info, name)
  if definition then
    raise("unknown_column", ("no column or association `%s` in `%s`; %s"):format(name, info.table, definition), { name = name, table = info.table })
  end
  local names, methods = known_names(info), own_names(info)
  for verb in pairs(record_class.instance_verbs) do methods[#methods + 1] = verb end
  table.sort(methods)
  local other_names = require "perilune.runtime.other_names"
  local use = other_names.find("record", name, function(column) return info.known[column] end)
  if use then
    use = use:gsub("record:association%(%)", function() return ("record:%s()"):format(example_of_association(info, name)) end)
    local details = other_names.fields(name, use, methods)
    details.table = info.table
    raise("unknown_column", ("no column or method `%s` in `%s`; %s"):format(name, info.table, use), details)
  end
  -- Fields that the class does not declare, such as annotations.
  for field in next, target or {} do
    if type(field) == "string" and not info.known[field] then names[#names + 1] = field end
  end
  errors.raise_unknown_column(name, info.table, table.move(methods, 1, #methods, #names + 1, names))
end

--- Returns the association that a class, or a class that it extends, defines under a name; nil if none does.
function record_class.association(info, name)
  for ancestor in record_class.ancestors(info) do
    local found = ancestor.associations and ancestor.associations[name]
    if found then return found end
  end
end

--- Returns whether a table of fields has associated records.
function record_class.names_associations(info, values)
  for ancestor in record_class.ancestors(info) do
    for name in next, ancestor.associations or {} do
      if rawget(values, name) ~= nil then return true end
    end
  end
  return false
end

--- Raises if a field may not be assigned. Assigns computed fields and associations itself.
-- @return false if this function has assigned the field
function record_class.assign(class, target, name, value)
  local info = infos[class]
  local association = record_class.association(info, name)
  if association then
    record_class.parents.assign(info, target, name, association, value)
    return false
  end
  if info.computed and info.computed[name] then
    record_fields.set(info, target, name, value)
    return false
  end
  if type(name) == "string" and (not can_tell_columns(info) or info.known[name]) then return true end
  record_fields.check_is_field(view_of(info), name)
  errors.raise_unknown_column(name, info.table, known_names(info))
end

--- Assigns fields to a record. perilune.null is written as NULL, even in columns that were not fetched.
function record_class.set_fields(target, values)
  for name, value in pairs(values) do
    if value == null then target[name] = nil end
    target[name] = value
  end
end

--- Returns the result of `book:author()` if the book was fetched with its author: the request of the association whose field
-- contains the record.
function record_class.call(target, owner, ...)
  local info = record_class.info_of(owner)
  for ancestor in record_class.ancestors(info) do
    for name, association in pairs(ancestor.associations or {}) do
      if rawequal(rawget(owner, name), target) then return association(owner, ...) end
    end
  end
  raise("argument", ("attempt to call %s; use %s"):format(errors.describe(target), owner == nil and "pcall(Class.insert, Class, { ... }) to catch an error of a call"
    or "Class.name(record) for the request of an association"))
end

-- Classes

local function may_be_called(value)
  return type(value) == "function" or type(value) == "userdata" or type(value) == "table" and getmetatable(value) ~= nil
end

--- Names of hook moments and verbs in other libraries.
local moments = {
  will_ = "will_", did_ = "did_", around_ = "around_", before_ = "will_", after_ = "did_", pre_ = "will_", post_ = "did_", on_ = "did_",
}
local hooked_verbs = { create = "insert", destroy = "delete", remove = "delete" }

--- Hooks of other libraries that have no counterpart here, with the call to use instead.
local other_hooks = {}

for names, use in pairs{
  ["after_commit did_commit on_commit post_commit"] = "use db:after_next_transaction(on_commit) in did_save",
  ["after_rollback did_rollback on_rollback post_rollback"] = "use db:after_next_transaction(nil, on_rollback) in will_save",
  ["before_commit will_commit pre_commit"] = "use did_save, which runs inside the transaction",
  ["around_commit"] = "use around_save, which runs inside the transaction",
  ["before_validation before_validate will_validate pre_validate"] = "use will_save, which runs before validate",
  ["after_validation after_validate did_validate post_validate on_validate around_validation around_validate"] = "use validate",
  ["after_find after_fetch after_load after_select after_initialize did_load did_find did_select on_load on_fetch post_load "
    .. "post_fetch post_find"] = "use did_fetch",
} do
  for name in names:gmatch("%S+") do other_hooks[name] = use end
end

--- Members of classes in other libraries that are tables of definitions.
local other_definitions = { hooks = "before_save", callbacks = "before_save", validates = "validates", validations = "validates", validate = "validates", validation = "validates", rules = "validates", constraints = "validates",
  scopes = "scope", relations = "relationship", relationships = "relationship", associations = "relationship" }

--- Names under which other libraries define validations.
local other_validations = { validations = true, validates = true, rules = true, validation = true }

--- Raises for a table that is a definition in another library, but has no effect here.
local function check_definitions(name, value)
  local is_definition = type(value) == "table" and getmetatable(value) == nil or type(value) == "function" and other_validations[name]
  if not is_definition or not other_definitions[name] then return end
  local use = require("perilune.runtime.other_names").find("class", other_definitions[name])
  raise("unknown_member", ("a record class has no `%s`; %s"):format(name, use), { name = name, advice = use })
end

--- Options of perilune.record, and definitions of other libraries, that have no effect as members of a class, with the types of their
-- values: "fields" is a table with names, "declarations" a table whose values are types of columns.
local assigned_options = {
  timestamps = "boolean string", soft_delete = "boolean string", lock_version = "boolean string", track_changes = "boolean",
  check_types = "boolean",
  primary_key = "string list", table_name = "string", tablename = "string", __tablename__ = "string", types = "declarations",
  defaults = "fields declarations", enums = "declarations", fields = "declarations", columns = "declarations", on_conflict = "string",
  default_scope = "function request list fields declarations",
}

--- Metamethods that would have no effect, because all records share theirs.
local metamethods = { __tostring = true, __eq = true, __lt = true, __le = true, __concat = true, __len = true, __call = true }

--- Types of columns, here and in other libraries.
local type_words = {}
for word in ("string text integer int number real float double boolean bool date datetime timestamp json blob decimal"):gmatch("%a+") do
  type_words[word] = true
end

local function form_of(value)
  if type(value) ~= "table" then return type(value) end
  if getmetatable(value) ~= nil then return marks.is_request(value) and "request" or "object" end
  if value[1] ~= nil then return "list" end
  local _, first = next(value)
  return (type(first) == "table" or type(first) == "string" and type_words[first:lower()]) and "declarations" or "fields"
end

--- Raises for an option that is assigned to a class, or a metamethod, because it would have no effect.
local function check_assigned(info, name, value)
  if metamethods[name] then
    raise("unknown_member", ("records have no metamethods of their own, such as `%s`; define a method, as in function Class:label() ... "
      .. "end"):format(name), { name = name })
  end
  local forms = assigned_options[name]
  if not forms or not (" " .. forms .. " "):find(" " .. form_of(value) .. " ", 1, true) then return end
  local use = record_class.class_options[name] and ("it is an option: perilune.record(%q, { %s = ... })"):format(info.table, name)
    or require("perilune.runtime.other_names").find("class", name)
  raise("unknown_member", ("a record class has no `%s`; %s"):format(name, use), { name = name, advice = use })
end

--- Raises for a method whose name resembles the name of a hook, here or in another library, because the method would never be called.
local function check_hook(name)
  if record_class.hooks[name] or name == "did_fetch" then return end
  local folded = name:gsub("%u", function(letter) return "_" .. letter:lower() end)
  if other_hooks[folded] then raise("unknown_hook", ("no hook `%s`; %s"):format(name, other_hooks[folded]), { name = name }) end
  local own_moment, verb = folded:match("^(%l+_)(.+)$")
  local moment = moments[own_moment]
  if not moment or own_moment ~= moment and not (hooked_verbs[verb] or record_class.hooks["will_" .. verb]) then return end
  verb = hooked_verbs[verb] or verb
  if not record_class.hooks["will_" .. verb] then
    -- A method such as `will_save_the_day` is not a hook.
    if verb:find("_", 1, true) then return end
    local _, err = pcall(errors.raise_unknown, "hook", verb, { "insert", "update", "save", "delete" })
    verb = err.suggestion
  end
  if not verb then return end
  local suggestion = moment .. verb
  raise("unknown_hook", ("no hook `%s`; did you mean `%s`?"):format(name, suggestion), { name = name, suggestion = suggestion })
end

-- Kept in a local variable, because scripts may change the `debug` library later.
local parameter_name = debug and debug.getlocal

--- Raises an error for a `validate` function with a parameter for errors, as in other libraries. The parameter would be the database.
local function check_validate(info, value)
  local parameter = type(value) == "function" and parameter_name and parameter_name(value, 2)
  if type(parameter) ~= "string" or not parameter:lower():find("^err") then return end
  raise("argument", ("validate of `%s`: the argument `%s` would be the database; use self:invalid(\"column\", \"message\") for each error")
    :format(info.table, parameter))
end

--- Clears the cached lookups of records. Must be called when the methods of a class have changed.
local function forget_found(info)
  native_records.forget_found(info.model)
  for derived in pairs(info.derived) do forget_found(derived) end
end

--- Clears the cached lookups of a name in classes that extend a changed class.
local function forget_in_derived(info, name)
  for derived in pairs(info.derived) do
    local is_own = rawget(derived.members, name) ~= nil or derived.associations and derived.associations[name] ~= nil
    if not is_own then
      rawset(derived.lookup, name, nil)
      forget_in_derived(derived, name)
    end
  end
end

--- Sets a method of all records.
function record_class.set_instance_verb(name, verb)
  record_class.instance_verbs[name] = verb
  for _, info in pairs(infos) do native_records.forget_found(info.model) end
end

--- Defines a method or another member of a class.
local function define(class, name, value)
  local info = infos[class]
  for _, definer in ipairs(definers) do
    if definer(info, name, value) then return end
  end
  if type(name) ~= "string" then
    raise("argument", ("members of a record class need names, got %s"):format(errors.describe(name)))
  elseif (info.known[name] or info.computed and info.computed[name]) and value ~= nil then
    raise("argument", ("the record class %s cannot have a method `%s`: it is a %s"):format(info.name, name,
      info.known[name] and "column" or "field"))
  elseif record_class.hooks[name] and value and not may_be_called(value) then
    raise("argument", ("the hook `%s` of the record class %s: expected a function, got %s")
      :format(name, info.name, errors.describe(value)))
  end
  if value ~= nil then
    check_hook(name)
    check_definitions(name, value)
    if name == "validate" then check_validate(info, value) end
    if assigned_options[name] or metamethods[name] then check_assigned(info, name, value) end
  end
  rawset(info.members, name, value)
  rawset(info.lookup, name, record_class.overridable[name] and may_be_called(value) and record_class.override(info, name, value) or value)
  forget_found(info)
  forget_in_derived(info, name)
  if record_class.hooks[name] and value ~= nil then native_records.set_model(info.model, true) end
  if name == "did_fetch" and value ~= nil then native_records.set_model(info.model, nil, true) end
end

--- Fields in which other libraries wrap the columns of a write.
local wrapping = { data = true, values = true, attributes = true, where = true, set = true, create = true, defaults = true }

--- Creates a record from fields, which must be columns. C handles the most common calls itself, and calls this function in all other cases.
local function make(class, values, ...)
  local info = infos[class]
  values = marks.fields_of_object(values) or values
  if values ~= nil and type(values) ~= "table" or select("#", ...) > 0 then
    raise("argument", ("%s{...}: expected a table of columns, got %s%s"):format(info.name, errors.describe(values),
      values == nil and "; use `for record in Class:rows() do` to iterate over records"
        or type(values) ~= "userdata" and "; use Class:find(key) for an existing row, Class{ column = value } for a new record"
        or "; use Class{ column = value }"))
  end
  local made = native_records.new_record(class, values)
  if made then return made end
  if values and record_class.names_associations(info, values) then return record_class.parents.make(info, values, info.name .. "{...}") end
  if not can_tell_columns(info) then return require("perilune.records.unresolved_table").make(info, values) end
  made = native_records.new_record(class, values) or native_records.new_record(class, values, true)
  if made then return made end
  for name in next, values or {} do
    if not info.known[name] then
      if wrapping[name] then
        raise("unknown_column", ("no column `%s` in `%s`; give the columns themselves, as in insert{ name = value }; filter{ ... }:update_all{ ... } changes the "
          .. "rows that fulfil conditions"):format(name, info.table), { name = name, table = info.table })
      end
      record_fields.check_is_field(view_of(info), name)
      if record_class.info_of(values[name]) then
        raise("unknown_column", ("no column or association `%s` in `%s`; define it with Class.%s = Class:belongs_to(Target) to give a record"):format(
          tostring(name), info.table, tostring(name)), { name = name, table = info.table })
      end
      errors.raise_unknown_column(name, info.table, known_names(info))
    end
  end
  raise("internal", ("a record of %s could not be created"):format(info.name))
end

--- Creates a record of a class with computed fields, which are assigned once the record exists.
local function make_with_computed(class, values, ...)
  local info = infos[class]
  if type(values) ~= "table" then return make(class, values, ...) end
  local plain, others = record_fields.divide(info, values)
  local made = make(class, plain, ...)
  for _, name in ipairs(others or {}) do record_fields.set(info, made, name, values[name]) end
  return made
end

--- Raises for an unknown member of a class.
-- @tparam ?table info the info of the class
function record_class.raise_unknown_member(info, name)
  if type(name) == "number" then
    raise("argument", "a record class has no elements; use `for record in Class:rows() do`, or Class:fetch_all()[" .. name .. "]")
  elseif info and can_tell_columns(info) and info.known[name] then
    raise("unknown_method", ("no method `%s`; use Class.c.%s for the column"):format(name, name), { name = name })
  end
  local definition = info and require("perilune.records.undefined_associations").definition(info, name)
  if definition then
    raise("unknown_method", ("no method or association `%s`; %s"):format(name, definition), { name = name })
  end
  local verbs, names = record_class.request_methods(info), info and own_names(info) or {}
  for verb, value in pairs(record_class.class_verbs) do verbs[verb] = value or nil end
  for verb in pairs(verbs) do names[#names + 1] = verb end
  table.sort(names)
  require("perilune.runtime.other_names").raise("class", "method", name, names, function(column) return info ~= nil and info.known[column] end)
end

setmetatable(record_class.class_verbs, { __index = function(_, name) record_class.raise_unknown_member(nil, name) end })

local function check_list_of_names(option, value)
  if type(value) == "string" then value = { value } end
  if type(value) ~= "table" or #value == 0 then
    raise("argument", ("perilune.record: option %s: expected a name or a list of names, got %s")
      :format(option, errors.describe(value)))
  end
  for _, name in ipairs(value) do sql_text.name(name, "perilune.record: option " .. option) end
  return table.move(value, 1, #value, 1, {})
end

function record_class.class_options.primary_key(info, value)
  info.primary_key = check_list_of_names("primary_key", value)
end

function record_class.class_options.extra(info, value)
  info.extra = check_list_of_names("extra", value)
  for _, name in ipairs(info.extra) do info.known[name] = true end
end

function record_class.class_options.fields(info, value) info.fields = record_fields.read(value) end
function record_class.class_options.naming(info, value) info.naming = record_fields.read_naming(value) end

function record_class.class_options.track_changes(info, value)
  if type(value) ~= "boolean" then
    raise("argument", "perilune.record: option track_changes: expected a boolean, got " .. errors.describe(value))
  end
  info.tracks_changes = value
end

local function read_options(info, options)
  if options == nil then return end
  if type(options) ~= "table" then
    raise("argument", "perilune.record: expected a table of options, got " .. errors.describe(options) .. checks.option_cure(options, record_class.class_options))
  end
  for name, value in pairs(options) do
    if type(name) == "string" and type(value) == "function" and not record_class.class_options[name] then
      check_hook(name)
      raise("unknown_option", ("perilune.record: no option `%s`; methods follow the class: function Class:%s() ... end"):format(name, name), { name = name })
    end
  end
  checks.option_names("perilune.record", options, record_class.class_options, "class_option")
  local names = {}
  for name in pairs(options) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do record_class.class_options[name](info, options[name]) end
end

--- Creates a class.
-- @param ?base the info of the class that it extends
local function make_class(table_name, options, base)
  local class = {}
  local info = {
    class = class, table = table_name, name = table_name, base = base, members = {}, known = {}, extra = {},
    lookup = setmetatable({}, { __index = base and base.lookup or record_class.class_verbs }),
    derived = setmetatable({}, { __mode = "k" }),
    primary_key = base and base.primary_key, tracks_changes = not base or base.tracks_changes, options = options or {},
  }
  read_options(info, options)
  if base then for name in pairs(base.known) do info.known[name] = true end end
  info.model = native_records.new_model(class, info.members, info.known, base and base.model, info.tracks_changes)
  if base then base.derived[info] = true end
  infos[class] = info
  record_fields.prepare(info)
  if info.computed or info.has_lazy then native_records.set_model(info.model, nil, nil, true) end
  for _, creator in ipairs(creators) do creator(info) end
  setmetatable(class, {
    info.model,
    __index = info.lookup,
    __newindex = define,
    __call = info.computed and make_with_computed or native_records.new_maker(info.model, make),
    __tostring = function() return "record class " .. table_name end,
    __len = function() raise("argument", "cannot take # of a record class; use Class:fetch_count() for the number of rows, or #Class:fetch_all()") end,
    __pairs = function() raise("argument", "cannot iterate over a record class itself; use `for record in Class:rows() do`, or Class:fetch_all()") end,
    __name = "record class", __receiver = "Class", __described = "the record class `" .. table_name .. "`",
    __table = table_name,
    __metatable = false,
  })
  for _, finish in ipairs(finishers) do finish(info) end
  return class
end

--- Creates a class that extends this one with more fields or methods.
function record_class.class_verbs.extend(class, options, surplus)
  if surplus ~= nil then require("perilune.runtime.arity").refuse("extend", 1, surplus) end
  local info = record_class.require_class("extend", class)
  local extended = make_class(info.table, options, info)
  return extended
end

--- Returns the info of a class; raises for any other value.
-- @tparam ?boolean may_be_record whether records have a method with that name too
function record_class.require_class(verb, class, may_be_record)
  local info = class ~= nil and infos[class]
  if not info then
    local expected = may_be_record and ("a record (record:%s(...)) or its class (Class:%s(...)) before the colon"):format(verb, verb)
      or ("a record class before the colon (Class:%s(...))"):format(verb)
    raise("argument", ("%s: expected %s, got %s"):format(verb, expected, errors.describe(class)))
  end
  return info
end

--- Raises for a value that is not a record.
function record_class.require_record(verb, value)
  if record_class.info_of(value) then return end
  raise("argument", ("%s: expected a record before the colon (record:%s(...)), got %s"):format(verb, verb, errors.describe(value)))
end

--- Returns whether a value is a record of the class or of a class that extends it.
function record_class.class_verbs.is(class, value, surplus)
  if surplus ~= nil then require("perilune.runtime.arity").refuse("is", 1, surplus) end
  local info = record_class.require_class("is", class)
  local found = record_class.info_of(value)
  for ancestor in record_class.ancestors(found) do
    if ancestor == info then return true end
  end
  return false
end

--- Creates a record class.
-- @tparam string table_name the table or view, which need not exist yet
-- @tparam ?table options fields and naming (fields.lua), types (of columns), primary_key (a name or a list; "rowid" for the row
--   id), extra (fields that are not columns), on_conflict (a policy), the behaviors in behaviours.lua, required (false: whether
--   columns that must not be NULL are validated), track_changes (true)
function record_class.new_class(table_name, options)
  if type(table_name) == "table" then
    errors.raise("argument", "perilune.record: argument 1: expected the name of a table, got a table; "
      .. 'use perilune.record("author", { ... })')
  end
  if native_records.is_database(table_name) or native_records.is_database(options) then
    raise("argument", "perilune.record: a class has no database; pass it to the verb, as in Class:fetch_all(db)")
  end
  sql_text.name(table_name, "perilune.record: argument 1")
  return make_class(table_name, options)
end

return record_class
