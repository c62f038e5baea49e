--- The methods of records beyond the basic verbs: change tracking, update_changes, validation, drafts.
-- Their modules are loaded on first use.

local arity = require "perilune.runtime.arity"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local record_options = require "perilune.records.options"
local instance_verbs = record_class.instance_verbs

--- The verbs of classes.
local verbs = {}

--- Returns the method that scripts have defined on a class, or on one that it extends; nil if none exists.
function record_class.method(info, name)
  for ancestor in record_class.ancestors(info) do
    local method = rawget(ancestor.members, name)
    if method ~= nil then return method end
  end
end

-- On a class without the hook, `class.will_save` is false.
for name in pairs(record_class.hooks) do verbs[name] = false end

for _, option in ipairs{ "target_where", "update", "except", "where" } do
  record_options.by_verb.upsert[option] = function(value, parsed) parsed[option] = value end
end

function record_options.by_verb.upsert.target(value, parsed, verb)
  require("perilune.records.upsert_keys").check_target(verb, value)
  parsed.target = value
end

--- Adds verbs of records that load their module when they are first called.
local function on_first_call(module, names)
  for _, name in ipairs(names) do
    record_class.add_instance_verbs{ [name] = function(...)
      local functions = require(module)
      local verb = arity.limited(name, functions[name], true)
      record_class.set_instance_verb(name, verb)
      return verb(...)
    end }
  end
end

on_first_call("perilune.records.changes", { "has_changes", "changes" })

record_class.add_instance_verbs{ update_changes = native_records.record_update_changes }

--- Returns its arguments. Wrapped around another call, it prevents a tail call, after which messages could not name the method.
local function results(...) return ... end

-- `Class:changes(record)` is for records that have a column named `changes`, which hides the method.
for _, name in ipairs{ "has_changes", "changes", "update_changes" } do
  verbs[name] = function(first, ...)
    if record_class.info(first) then return results(instance_verbs[name](...)) end
    return results(instance_verbs[name](first, ...))
  end
end

--- `Class:statement(verb, ...)`: see statements.lua.
function verbs.statement(...)
  return require("perilune.records.statements").of_class(...)
end

record_class.add_class_verbs(verbs)

require "perilune.records.validation"

--- `Class:draft(fields)`, `Class:draft(record)`: see drafts.lua.
record_class.on_creation(function(info)
  info.lookup.draft = function(first, ...)
    local fields, surplus = first, ...
    if rawequal(first, info.class) then fields, surplus = ... end
    if surplus ~= nil then arity.refuse("draft", 1, surplus) end
    return require("perilune.records.drafts").new(info.class, fields)
  end
end)
