--- The options of writes: the conflict policy, and the returned columns.

local errors = require "perilune.native.errors"
local native_rows = require "perilune.native.rows"
local native_records = require "perilune.native.records"
local arity = require "perilune.runtime.arity"
local checks = require "perilune.runtime.checks"
local record_class = require "perilune.records.class"
local record_fields = require "perilune.records.fields"
local column_details = require "perilune.records.column_details"

local record_options = {
  --- The options of each verb: functions `option(value, parsed, verb)`, which check the value and store it in `parsed`.
  by_verb = {
    insert = {}, update = {}, update_changes = {}, save = {}, upsert = {}, delete = {}, exists = {}, refresh = {},
    insert_all = {},
  },
}
-- An upsert of many records has the same options.
record_options.by_verb.upsert_all = record_options.by_verb.upsert

--- By verb, options that belong to another verb or have another name in other libraries, with the advice for them.
local advice = {}

local function advise(verbs, options, text)
  for verb in verbs:gmatch("%S+") do
    advice[verb] = advice[verb] or {}
    for option in options:gmatch("%S+") do advice[verb][option] = text end
  end
end

advise("insert", "target target_where update except set where", "use upsert")
advise("insert_all", "target target_where update except set where", "use upsert_all")
advise("insert insert_all", "ignore or_ignore ignore_duplicates skip_duplicates ignore_conflicts", "use on_conflict = \"ignore\"")
advise("insert insert_all", "replace or_replace", "use on_conflict = \"replace\"")
advise("insert insert_all", "unique_by conflict_target update_on_duplicate", "use upsert or upsert_all")
advise("upsert upsert_all", "set", "use update = { column = perilune.sql(\"...\") }")
advise("upsert upsert_all", "on_conflict", "the option `update` decides what happens to a conflicting row, and `target` is its unique key")
advise("upsert upsert_all", "unique_by conflict_target conflict_columns conflict_fields conflict index_elements on by key keys",
  "use target = \"column\", or target = { ... } for a key of several columns")
advise("upsert upsert_all", "update_only update_columns update_fields update_on_duplicate do_update columns only", "use update = { \"column\", ... }")
advise("upsert upsert_all", "ignore do_nothing ignore_duplicates skip_duplicates", "use update = \"none\"")

--- Options that one verb has parsed and passes to another one: the keys are empty tables that stand for them, the values are the parsed
-- options.
local carried = setmetatable({}, { __mode = "k" })

--- Wraps parsed options so that they can be passed to a verb of a class.
function record_options.carry(options)
  if options == nil then return nil end
  local carrier, content = setmetatable({}, { __name = "options", __metatable = false }), { is_carried = true }
  for name, value in pairs(options) do content[name] = value end
  carried[carrier] = content
  return carrier
end

--- The replacement of verbs that were given columns instead of options.
local cures = {
  update = "use record:update_changes{ column = value }", save = "use record:update_changes{ column = value }",
  insert = "use Class:insert{ column = value }, with options in a second table", upsert = "use Class:upsert{ column = value }, with options in a second table",
  delete = "use Class:filter{ column = value }:delete_all()", exists = "use Class:filter{ column = value }:exists()",
  refresh = "use record:update_changes{ column = value }",
}

--- Raises an error for the name of a column to write, given in place of options.
local function check_is_no_column(verb, name)
  if type(name) ~= "string" or verb ~= "update" and verb ~= "save" then return end
  errors.raise("argument", ("%s: expected a table of options, got %s; use record:update_changes{ %s = value } to write single columns")
    :format(verb, errors.describe(name), name))
end

--- Raises for names that are not options of a verb. If no option has a similar name, assumes that the table contains columns.
local function check_are_options(verb, options, known)
  local is_known, err = pcall(checks.option_names, verb, options, known, verb:find("_all$") and "list_option" or "write_option")
  if is_known then return end
  check_is_no_column(verb, options[1])
  if err.kind ~= "unknown_option" or err.suggestion or err.advice or not cures[verb] then error(err, 0) end
  errors.raise("unknown_option", ("%s: no option `%s`; %s"):format(verb, err.name, cures[verb]), { name = err.name, advice = cures[verb] })
end

--- Returns the parsed options of a call; nil without options.
function record_options.read(verb, options)
  if options == nil then return nil end
  if carried[options] then return carried[options] end
  if native_records.is_database(options) then arity.refuse_database(verb, verb == "update_changes" and "record" or "Class") end
  if type(options) ~= "table" or native_records.class_of(options) then
    check_is_no_column(verb, options)
    errors.raise("argument", ("%s: expected a table of options, got %s%s"):format(verb, errors.describe(options),
      checks.option_cure(options, record_options.by_verb[verb])))
  end
  local known, parsed = record_options.by_verb[verb], {}
  for name, text in next, advice[verb] or {} do
    if options[name] ~= nil then
      errors.raise("unknown_option", ("%s: no option `%s`; %s"):format(verb, name, text), { name = name })
    end
  end
  check_are_options(verb, options, known)
  for name, value in pairs(options) do known[name](value, parsed, verb) end
  return parsed
end

-- Conflicts

local policies = { "abort", "fail", "ignore", "replace", "rollback" }

--- Policies of other libraries, with their replacements.
local other_policies = { update = "use upsert", merge = "use upsert", do_update = "use upsert", nothing = "use \"ignore\"", do_nothing = "use \"ignore\"", skip = "use \"ignore\"" }

local function check_policy(place, value)
  for _, policy in ipairs(policies) do
    if policy == value then return value end
  end
  errors.raise("argument", place .. ": expected one of " .. table.concat(policies, ", ") .. ", got "
    .. errors.describe(value) .. (other_policies[value] and "; " .. other_policies[value] or ""))
end

local function note_policy(value, parsed, verb)
  parsed.on_conflict = check_policy(verb .. ": option on_conflict", value)
end

for _, verb in ipairs{ "insert", "update", "update_changes", "save", "insert_all" } do
  record_options.by_verb[verb].on_conflict = note_policy
end

--- The class option `on_conflict`: a policy for all writes of the class, or a table with the policies of `insert` and `update`.
local function read_on_conflict(info, value)
  local place = "perilune.record: option on_conflict"
  if type(value) ~= "table" then
    info.policies = { insert = check_policy(place, value), update = value }
    return
  end
  info.policies = {}
  checks.option_names(place, value, { insert = true, update = true })
  for kind, policy in pairs(value) do
    info.policies[kind] = check_policy(place .. ": " .. kind, policy)
  end
end

record_class.add_options{ on_conflict = read_on_conflict }

record_class.on_creation(function(info)
  if info.policies then native_records.set_model(info.model, true) end
end)

local function class_policy(info, kind)
  for ancestor in record_class.ancestors(info) do
    if ancestor.policies then return ancestor.policies[kind] end
  end
end

--- Returns the policy for a write; nil to use the schema's.
-- @tparam string kind "insert" or "update"
function record_options.policy(info, options, kind)
  return options and options.on_conflict or class_policy(info, kind)
end

--- Returns the clause of a statement for the options of a call: "OR ...", and "*" at the end to return the whole row.
-- @tparam string kind "insert" or "update"
function record_options.clause(info, options, kind)
  local policy = record_options.policy(info, options, kind)
  local clause = policy and "OR " .. policy:upper() or ""
  if options and options.returning then clause = clause .. "*" end
  return clause ~= "" and clause or nil
end

--- The option `key`: whether a changed key is written too, to the row with the previous key.
for _, verb in ipairs{ "update", "update_changes" } do
  record_options.by_verb[verb].key = function(value, parsed)
    if type(value) ~= "boolean" then
      errors.raise("argument", verb .. ": option key: expected true or false, got " .. errors.describe(value))
    end
    parsed.key = value
  end
end

-- Returned columns

local function note_returning(value, parsed, verb)
  local is_list = type(value) == "table" and getmetatable(value) == nil and #value > 0
  if type(value) ~= "string" and not is_list then
    errors.raise("argument", verb .. ": option returning: expected a column, a list of columns or \"all\", got "
      .. errors.describe(value))
  end
  parsed.returning = value == "*" and "all" or value
end

for _, verb in ipairs{ "insert", "update", "save", "upsert", "update_changes", "delete", "insert_all" } do
  record_options.by_verb[verb].returning = note_returning
end

--- Returns the names of the columns to return. Raises for one that the table does not have.
local function returned_columns(details, returning)
  if returning == "all" and not details.declared.all then return details.columns end
  local columns = type(returning) == "table" and returning or { returning }
  for _, column in ipairs(columns) do
    if not details.declared[column] then errors.raise_unknown_column(column, details.schema.name, details.columns) end
  end
  return columns
end

--- Returns the columns that the options request; nil for none. Raises for an unknown one.
function record_options.columns(info, options, db)
  local returning = options and options.returning
  if not returning then return nil end
  local details = column_details.of_class(info.class, db)
  for _, column in ipairs(returning ~= "all" and (type(returning) == "table" and returning or { returning }) or {}) do
    if not details.declared[column] then
      record_fields.check_is_column(info, column, "name the columns that it is computed from")
      details = column_details.with_column(info.class, db, column)
    end
  end
  return returned_columns(details, returning)
end

--- Raises if the options request unknown columns.
record_options.check = record_options.columns

--- Returns the result of a successful write: the record, or the columns requested by the option `returning`.
function record_options.result(info, target, options, db)
  local returning = options and options.returning
  if not returning then return target end
  local details = column_details.of_class(info.class, db)
  local columns = returned_columns(details, returning)
  if returning == "all" and columns == details.columns then return target end
  if type(returning) == "string" then return rawget(target, returning) end
  local values = {}
  for _, column in ipairs(columns) do values[column] = rawget(target, column) end
  return native_rows.make(table.move(columns, 1, #columns, 1, {}), values)
end

return record_options
