--- Record classes: tables whose columns come from the schema, with methods written in Lua.
--
--     local Author = perilune.record("author")
--     function Author:label() return self.name end
--     local author = Author{ name = "Herman Melville" }:insert()
--
-- The row path (CPeriluneRecords) makes, reads and writes records; here is what is done once for a class and a schema, and what is
-- seldom done. Reading this, know: the *info* of a class is a table { class, table, name, options, base, members, lookup, known,
-- model }; the *description* of a table is made from its schema for one class, and is what a table layout of the row path is made from.

local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local null = require("perilune.native.values").null
local records = require "perilune.native.records"
local checks = require "perilune.runtime.checks"
local raise = errors.raise
local sql_text = require "perilune.runtime.sql_text"
local marks = require "perilune.runtime.marks"
local record_description = require "perilune.records.description"
local record_fields = require "perilune.records.fields"
local sql_names = require "perilune.runtime.names"

local record = {
  --- By name: methods that make the Lua part see every write of their class.
  hooks = { validate = true },
  --- Functions that are asked before a member is defined on a class: `definer(info, name, value)`; true if they have done it.
  definers = {},
  --- Functions that are called with every new class: `creator(info)`.
  creators = {},
  --- The same, when the class is complete.
  finishers = {},
  --- Functions that are called with every new description: `describer(info, description)`.
  describers = {},
  --- By name: verbs of records that the Lua part must know of where a class defines its own.
  overridable = {},
  --- What classes have, and what records have.
  class_verbs = {},
  instance_verbs = {},
  --- Options of `perilune.record` and `extend`: functions `option(info, value)`, which raise or take the value.
  class_options = {},
}

for _, verb in ipairs{ "insert", "update", "save", "delete" } do
  for _, moment in ipairs{ "will_", "around_", "did_" } do record.hooks[moment .. verb] = true end
end

local infos = setmetatable({}, { __mode = "k" })

--- What belongs to a class; nil for any other value.
function record.info(class)
  return infos[class]
end

--- The classes of a table that extend no other.
function record.classes_of(table_name)
  local classes, wanted = {}, sql_names.fold(table_name)
  for class, info in next, infos do
    if not info.base and sql_names.fold(info.table) == wanted then classes[#classes + 1] = class end
  end
  return classes
end

--- What belongs to the class of a record; nil for any other value.
function record.info_of(value)
  local class = records.class_of(value)
  return class and infos[class]
end

-- Table layouts

--- A method that is called like a column could never be called.
local function check_methods(info, columns)
  for _, column in ipairs(columns) do
    for ancestor in record.ancestors(info) do
      if rawget(ancestor.members, column.name) ~= nil then
        raise("argument", ("the method `%s` of the record class %s has the same name as a column of its table")
          :format(column.name, info.name))
      end
    end
  end
end

--- The class itself, and those that it extends.
function record.ancestors(info)
  local next_info = info
  return function()
    local ancestor = next_info
    next_info = ancestor and ancestor.base
    return ancestor
  end
end

record_fields.ancestors = record.ancestors

--- Has each description of a table say what is a column of that in another database, and of this one not.
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
  records.note_columns(info.model, differ)
end

--- The names that records may have as fields: columns of the table, in any database, and fields that the class declares.
local function update_known(info)
  local known, descriptions = info.known, {}
  -- Before any name goes: C knows names by their addresses.
  records.forget_found(info.model)
  for name in pairs(known) do known[name] = nil end
  for _, layout in pairs((records.table_layouts(info.model))) do
    local description = records.table_layout_description(layout)
    descriptions[#descriptions + 1] = description
    for _, column in ipairs(description.columns) do known[column.name] = true end
  end
  note_other_columns(info, descriptions)
  for ancestor in record.ancestors(info) do
    for _, name in ipairs(ancestor.extra) do known[name] = true end
  end
end

local most_layouts = 16

local function count(map)
  local result = 0
  for _ in pairs(map) do result = result + 1 end
  return result
end

--- Whether inserting a row does that and nothing else, so that many may be inserted at once: there are no triggers and no
-- conflict clauses.
local function is_batched(db, table_name)
  return db:fetch_value([[
    SELECT COUNT(*) = 1 AND MAX(sql NOT LIKE '%CONFLICT%' AND sql NOT LIKE 'CREATE VIRTUAL %')
    FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema)
    WHERE type IN ('table', 'trigger') AND lower(tbl_name) = lower(?)]], table_name) == 1
end

--- Makes the table layout of a class for a database, or finds that the one it has is still good.

local function make_table_layout(class, db)
  local info = infos[class]
  -- The first statement that runs after a change may be the one that notices it: the generation comes after it.
  local batched = is_batched(db, info.table)
  local generation, schema = records.schema_generation(db), record_fields.view(info, native_schema.table(db, info.table))
  local layouts = records.table_layouts(info.model)
  local former = layouts[records.database_id(db)]
  if former and records.table_layout_description(former).schema == schema and records.table_layout_description(former).is_batched == batched then
    records.renew_table_layout(former, generation)
    return former
  end
  if count(layouts) >= most_layouts then records.keep_table_layout(info.model) end
  local description = record_description.describe(info, schema)
  description.is_batched = batched
  check_methods(info, description.columns)
  for _, describer in ipairs(record.describers) do describer(info, description) end
  description.generation = generation
  local layout = records.make_table_layout(info.model, db, description)
  records.keep_table_layout(info.model, layout)
  update_known(info)
  return layout
end

--- What a class knows of its table in a database.
-- @param ?db the innermost access or the default database without it
-- @return the description, the table layout
function record.description(class, db)
  db = db or records.default_database()
  local info = infos[class]
  local layout = records.table_layouts(info.model)[records.database_id(db)]
  if not layout or records.table_layout_generation(layout) ~= records.schema_generation(db) then layout = make_table_layout(class, db) end
  return records.table_layout_description(layout), layout
end

--- Reads the schema again, because of a name that was not known.
local function refresh(info)
  local db = records.default_database()
  records.touch_schema(db)
  return record.description(info.class, db)
end

--- Whether it is known which names are columns, after reading the schema again: not before the class has seen a table.
local function can_tell_columns(info)
  local is_done, err = pcall(refresh, info)
  if is_done then return true end
  if err.kind ~= "unknown_table" then error(err, 0) end
  -- The table may be in another database alone.
  return next((records.table_layouts(info.model))) ~= nil
end

local function known_names(info)
  local names = {}
  for name in pairs(info.known) do names[#names + 1] = name end
  for name in pairs(info.computed or {}) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- What the row path asks for

record.make_table_layout = make_table_layout

--- What messages call a class.
function record.name(class)
  return infos[class].name
end

--- What messages call a class where another one is expected. Each call of `perilune.record` makes a class.
function record.other_name(found, expected)
  if sql_names.fold(found.table) ~= sql_names.fold(expected.table) then return found.name end
  return ("another class of the same table, because each call of perilune.record(%q) creates one; create it once, in a module,  "
    .. "and `require` that module"):format(found.table)
end

--- What a class and those that it extends have been given: methods and associations.
local function own_names(info)
  local names = {}
  for ancestor in record.ancestors(info) do
    for name in pairs(ancestor.members) do names[#names + 1] = name end
    for name in pairs(ancestor.associations or {}) do names[#names + 1] = name end
  end
  return names
end

--- The schema as the class has seen it last, for names that it calls otherwise; nil if it calls none otherwise.
local function view_of(info)
  if not info.renames then return nil end
  local _, layout = records.table_layouts(info.model)
  return layout and records.table_layout_description(layout).schema
end

--- The value of a field that a record does not have: nil for a column that it could have.
-- @param target the record, of a class that has fields which are computed or lazy
function record.missing(class, name, target)
  local info = infos[class]
  if info.computed and info.computed[name] then return record_fields.get(info, target, name) end
  -- What C finds by itself for classes whose fields it reads: nothing is asked for, as that would cost more than the field.
  if info.known[name] then
    if info.has_lazy then record_fields.check_is_fetched(info, target, name) end
    return nil
  end
  for ancestor in record.ancestors(info) do
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
        info.table, record.other_name(twin, info)), { name = name, table = info.table })
    end
  end
  local names, methods = known_names(info), own_names(info)
  for verb in pairs(record.instance_verbs) do methods[#methods + 1] = verb end
  table.sort(methods)
  errors.raise_unknown_column(name, info.table, table.move(methods, 1, #methods, #names + 1, names))
end

--- Whether a field may be assigned.
-- @return false if it is computed, and has been assigned
function record.assign(class, target, name, value)
  local info = infos[class]
  if info.computed and info.computed[name] then
    record_fields.set(info, target, name, value)
    return false
  end
  if type(name) == "string" and (not can_tell_columns(info) or info.known[name]) then return true end
  record_fields.check_is_field(view_of(info), name)
  errors.raise_unknown_column(name, info.table, known_names(info))
end

--- Assigns fields to a record. perilune.null is written as NULL, also to columns that were not fetched.
function record.set_fields(target, values)
  for name, value in pairs(values) do
    if value == null then target[name] = nil end
    target[name] = value
  end
end

--- What `book:author()` means where the book was fetched with its author: the request of the association whose field holds the record.
function record.call(target, owner, ...)
  local info = record.info_of(owner)
  for ancestor in record.ancestors(info) do
    for name, association in pairs(ancestor.associations or {}) do
      if rawequal(rawget(owner, name), target) then return association(owner, ...) end
    end
  end
  raise("argument", ("attempt to call %s; use Class.name(record) for the request of an association"):format(errors.describe(target)))
end

-- Classes

local function may_be_called(value)
  return type(value) == "function" or type(value) == "userdata" or type(value) == "table" and getmetatable(value) ~= nil
end

--- What others call the moments and the verbs of hooks.
local moments = { will_ = "will_", did_ = "did_", around_ = "around_", before_ = "will_", after_ = "did_" }
local hooked_verbs = { create = "insert", destroy = "delete", remove = "delete" }

--- Raises for a method that is called nearly like a hook, here or elsewhere: it would never be called.
local function check_hook(name)
  if record.hooks[name] or name == "did_fetch" then return end
  local own_moment, verb = name:gsub("%u", function(letter) return "_" .. letter:lower() end):match("^(%l+_)(.+)$")
  local moment = moments[own_moment]
  if not moment or own_moment ~= moment and not (hooked_verbs[verb] or record.hooks["will_" .. verb]) then return end
  verb = hooked_verbs[verb] or verb
  if not record.hooks["will_" .. verb] then
    -- A method such as `will_save_the_day` is not a hook.
    if verb:find("_", 1, true) then return end
    local _, err = pcall(errors.raise_unknown, "hook", verb, { "insert", "update", "save", "delete" })
    verb = err.suggestion
  end
  if not verb then return end
  local suggestion = moment .. verb
  raise("unknown_hook", ("no hook `%s`; did you mean `%s`?"):format(name, suggestion), { name = name, suggestion = suggestion })
end

--- To be called when the methods of a class have changed: records keep what they have found.
local function forget_found(info)
  records.forget_found(info.model)
  for derived in pairs(info.derived) do forget_found(derived) end
end

--- Makes classes that extend a changed one look again for what they have found elsewhere under a name.
local function forget_in_derived(info, name)
  for derived in pairs(info.derived) do
    local is_own = rawget(derived.members, name) ~= nil or derived.associations and derived.associations[name] ~= nil
    if not is_own then
      rawset(derived.lookup, name, nil)
      forget_in_derived(derived, name)
    end
  end
end

--- Sets a method that all records have.
function record.set_instance_verb(name, verb)
  record.instance_verbs[name] = verb
  for _, info in pairs(infos) do records.forget_found(info.model) end
end

--- Defines a method, or what else classes may have.
local function define(class, name, value)
  local info = infos[class]
  for _, definer in ipairs(record.definers) do
    if definer(info, name, value) then return end
  end
  if type(name) ~= "string" then
    raise("argument", ("members of a record class need names, got %s"):format(errors.describe(name)))
  elseif (info.known[name] or info.computed and info.computed[name]) and value ~= nil then
    raise("argument", ("the record class %s cannot have a method `%s`: it is a %s"):format(info.name, name,
      info.known[name] and "column" or "field"))
  elseif record.hooks[name] and value and not may_be_called(value) then
    raise("argument", ("the hook `%s` of the record class %s: expected a function, got %s")
      :format(name, info.name, errors.describe(value)))
  end
  if value ~= nil then check_hook(name) end
  rawset(info.members, name, value)
  rawset(info.lookup, name, record.overridable[name] and may_be_called(value) and record.override(info, name, value) or value)
  forget_found(info)
  forget_in_derived(info, name)
  if record.hooks[name] and value ~= nil then records.set_model(info.model, true) end
  if name == "did_fetch" and value ~= nil then records.set_model(info.model, nil, true) end
end

--- A record with some fields, which must be columns. C makes those of the usual kind, and asks here for the others.
local function make(class, values, ...)
  local info = infos[class]
  values = marks.fields_of_object(values) or values
  if values ~= nil and type(values) ~= "table" or select("#", ...) > 0 then
    raise("argument", ("%s{...}: expected a table of columns, got %s"):format(info.name, errors.describe(values)))
  end
  local made = records.new_record(class, values)
  if made then return made end
  if not can_tell_columns(info) then return require("perilune.records.unresolved_table").make(info, values) end
  made = records.new_record(class, values) or records.new_record(class, values, true)
  if made then return made end
  for name in next, values or {} do
    if not info.known[name] then
      record_fields.check_is_field(view_of(info), name)
      errors.raise_unknown_column(name, info.table, known_names(info))
    end
  end
  raise("internal", ("a record of %s could not be created"):format(info.name))
end

--- The same for a class with computed fields, which are assigned when the record is there.
local function make_with_computed(class, values, ...)
  local info = infos[class]
  if type(values) ~= "table" then return make(class, values, ...) end
  local plain, others = record_fields.divide(info, values)
  local made = make(class, plain, ...)
  for _, name in ipairs(others or {}) do record_fields.set(info, made, name, values[name]) end
  return made
end

--- Raises for what a class does not have.
-- @tparam ?table info of the class
function record.raise_unknown_member(info, name)
  local verbs, names = record.request_methods(info), info and own_names(info) or {}
  for verb, value in pairs(record.class_verbs) do verbs[verb] = value or nil end
  for verb in pairs(verbs) do names[#names + 1] = verb end
  table.sort(names)
  errors.raise_unknown("method", name, names)
end

setmetatable(record.class_verbs, { __index = function(_, name) record.raise_unknown_member(nil, name) end })

local function check_list_of_names(option, value)
  if type(value) == "string" then value = { value } end
  if type(value) ~= "table" or #value == 0 then
    raise("argument", ("perilune.record: option %s: expected a name or a list of names, got %s")
      :format(option, errors.describe(value)))
  end
  for _, name in ipairs(value) do sql_text.name(name, "perilune.record: option " .. option) end
  return table.move(value, 1, #value, 1, {})
end

function record.class_options.primary_key(info, value)
  info.primary_key = check_list_of_names("primary_key", value)
end

function record.class_options.extra(info, value)
  info.extra = check_list_of_names("extra", value)
  for _, name in ipairs(info.extra) do info.known[name] = true end
end

function record.class_options.fields(info, value) info.fields = record_fields.read(value) end
function record.class_options.naming(info, value) info.naming = record_fields.read_naming(value) end

function record.class_options.track_changes(info, value)
  if type(value) ~= "boolean" then
    raise("argument", "perilune.record: option track_changes: expected a boolean, got " .. errors.describe(value))
  end
  info.tracks_changes = value
end

local function read_options(info, options)
  if options == nil then return end
  if type(options) ~= "table" then
    raise("argument", "perilune.record: expected a table of options, got " .. errors.describe(options))
  end
  checks.option_names("perilune.record", options, record.class_options)
  local names = {}
  for name in pairs(options) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do record.class_options[name](info, options[name]) end
end

--- Makes a class.
-- @param ?base the info of the class that it extends
local function make_class(table_name, options, base)
  local class = {}
  local info = {
    class = class, table = table_name, name = table_name, base = base, members = {}, known = {}, extra = {},
    lookup = setmetatable({}, { __index = base and base.lookup or record.class_verbs }),
    derived = setmetatable({}, { __mode = "k" }),
    primary_key = base and base.primary_key, tracks_changes = not base or base.tracks_changes, options = options or {},
  }
  read_options(info, options)
  if base then for name in pairs(base.known) do info.known[name] = true end end
  info.model = records.new_model(class, info.members, info.known, base and base.model, info.tracks_changes)
  if base then base.derived[info] = true end
  infos[class] = info
  record_fields.prepare(info)
  if info.computed or info.has_lazy then records.set_model(info.model, nil, nil, true) end
  for _, creator in ipairs(record.creators) do creator(info) end
  setmetatable(class, {
    info.model,
    __index = info.lookup,
    __newindex = define,
    __call = info.computed and make_with_computed or records.new_maker(info.model, make),
    __tostring = function() return "record class " .. table_name end,
    __name = "record class",
    __metatable = false,
  })
  for _, finish in ipairs(record.finishers) do finish(info) end
  return class
end

--- A class that has what this one has, with more fields or methods.
function record.class_verbs.extend(class, options)
  local info = record.require_class("extend", class)
  return make_class(info.table, options, info)
end

--- The info of a class, or raises.
-- @tparam ?boolean may_be_record whether records have a method of that name, too
function record.require_class(verb, class, may_be_record)
  local info = class ~= nil and infos[class]
  if not info then
    local expected = may_be_record and ("a record (record:%s(...)) or its class (Class:%s(...)) before the colon"):format(verb, verb)
      or ("a record class before the colon (Class:%s(...))"):format(verb)
    raise("argument", ("%s: expected %s, got %s"):format(verb, expected, errors.describe(class)))
  end
  return info
end

--- Raises for a value that is not a record.
function record.require_record(verb, value)
  if record.info_of(value) then return end
  raise("argument", ("%s: expected a record before the colon (record:%s(...)), got %s"):format(verb, verb, errors.describe(value)))
end

--- Whether a value is a record of the class, or of one that extends it.
function record.class_verbs.is(class, value)
  local info = record.require_class("is", class)
  local found = record.info_of(value)
  for ancestor in record.ancestors(found) do
    if ancestor == info then return true end
  end
  return false
end

--- Makes a class of records.
-- @tparam string table_name the table or view; it need not exist yet
-- @tparam ?table options fields and naming (fields.lua), types (of columns), primary_key (a name or a list; "rowid" for the row id), extra (fields that are no
--   columns), on_conflict (a policy), the behaviours of behaviours.lua, required (false: whether columns that must not be NULL are validated), track_changes (true)
function record.new_class(table_name, options)
  if type(table_name) == "table" then
    errors.raise("argument", "perilune.record: argument 1: expected the name of a table, got a table; "
      .. 'use perilune.record("author", { ... })')
  end
  sql_text.name(table_name, "perilune.record: argument 1")
  return make_class(table_name, options)
end

return record
