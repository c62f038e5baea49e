-- The names that scripts can reach: the methods and fields of each kind of value, read from the values themselves.
--
-- `library(name)` returns a module of the library, `metatable(value)` the metatable of any value, and `upvalue(f, name)` an upvalue
-- of a function. The result is a table: class of the reference -> set of names.

local api = {}

--- Adds the string keys of a table, except metamethods.
local function add(class, names, keep)
  api[class] = api[class] or {}
  for name in next, names do
    if type(name) == "string" and not name:find("^__") and (not keep or keep(name, names[name])) then api[class][name] = true end
  end
end

local function add_list(class, names)
  for _, name in ipairs(names) do add(class, { [name] = true }) end
end

local function is_function(_, value) return type(value) == "function" end

--- Returns the methods of a value: the `__index` table, or the table in an upvalue of the `__index` function.
local function methods_of(value)
  local index = metatable(value).__index
  return type(index) == "table" and index or upvalue(index, "methods") or upvalue(index, "modifiers")
end

--- Returns the members of a Swift object, which the error about an unknown member lists.
local function members_of_userdata(value)
  local _, err = pcall(function() return value.no_such_member end)
  local names = {}
  for name in err.message:match(": ([%w_, ]+)$"):gmatch("[%w_]+") do names[name] = true end
  return names
end

add("perilune", perilune)
if perilune.database then add("perilune", { database = true }) end
add("perilune.json", perilune.json)
add("perilune.log", perilune.log)
add("perilune.database", library("perilune.native.databases").methods)
add("perilune.row_methods", perilune.row, is_function)

-- Values of Lua and Swift.
add("perilune.date_type", perilune.date)
add("perilune.date_components_type", perilune.date_components)
for class, value in pairs{ ["perilune.date"] = perilune.now(), ["perilune.date_components"] = perilune.date_components("12:30") } do
  add(class, members_of_userdata(value))
end
local Enum = perilune.enum{ case = 1 }
add("perilune.enum", upvalue(metatable(Enum).__index, "members"), function(name) return name ~= "case" end)
add("perilune.case", Enum.case)
add("perilune.value_type", perilune.value_type{ to_database = print, from_database = print }, function(name) return name == "name" end)
add("perilune.row_type", methods_of(perilune.row_type{ from_row = print }))

db:execute("CREATE TABLE a (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a, name TEXT)")
local A = perilune.record("a")
A.children = A:has_many(A)
local request = A:filter{ name = "x" }

local statement = db:prepare("SELECT 1")
add("perilune.statement", methods_of(statement))
add("perilune.cursor", methods_of((select(4, db:rows("SELECT 1")))))
for name in pairs(db:execute("INSERT INTO a (id) VALUES (1)")) do add("perilune.execute_result", { [name] = true }) end

-- Definitions.
db:create_table("b", function(t)
  add("perilune.table_definition", methods_of(t))
  add("perilune.column_definition", methods_of(t:column("x", "text")))
  add("perilune.belongs_to_definition", methods_of(t:belongs_to("a")))
end)
db:alter_table("b", function(t) add("perilune.table_alteration", methods_of(t)) end)
local migrator = perilune.migrator()
add("perilune.migrator", library("perilune.migrations.migrator").methods)
add_list("perilune.migrator", { "erase_on_schema_change" })

-- Records and requests.
local class = library("perilune.records.class")
add("perilune.record_class", class.class_verbs, function(name, value) return type(value) == "function" and not class.hooks[name] and name ~= "did_fetch" end)
add("perilune.record_class", { insert_from = A.insert_from })
add_list("perilune.record_class", { "c", "requests", "draft", "from_row", "unscoped" })
add("perilune.record_hooks", class.hooks)
add_list("perilune.record_hooks", { "did_fetch" })
add("perilune.record", class.instance_verbs)
-- The members of classes with `soft_delete` and with a history, which adds `as_of`.
local Kept = perilune.record("a", { soft_delete = "deleted_at" })
perilune.history(Kept)
add("perilune.record", { restore = Kept.restore, delete_forever = Kept.delete_forever, history = Kept.history })
add("perilune.record_options", class.class_options)
add("perilune.draft", upvalue(metatable(A.draft{}).__index, "methods"))
add("perilune.write_statement", methods_of(A:statement("insert", { name = "x" })))
add("perilune.sql_request", methods_of(A:from_sql("SELECT * FROM a")))
local request_module = library("perilune.requests.request")
add("perilune.request", request_module.derivations)
add("perilune.request", request_module.verbs)
add("perilune.request", request_module.class_methods)
add("perilune.prepared_request", upvalue(metatable(request:prepare()).__index, "prepared"))
add("perilune.common_table", { c = true })
add("perilune.expression", library("perilune.expressions.methods"))
add("perilune.association", upvalue(metatable(upvalue(metatable(A.children).__index, "own_methods")).__index, "methods"))
add_list("perilune.association", { "c" })
db:execute("CREATE TABLE settings (id INTEGER PRIMARY KEY)")
local Settings = perilune.single_row("settings")
add("perilune.single_row_class", { find = Settings.find, record = Settings.record })
add("perilune.single_row", { reset = Settings.reset })

-- Options of writes.
local by_verb = library("perilune.records.options").by_verb
for _, verb in ipairs{ "insert", "update", "update_changes", "save", "delete", "insert_all" } do add("perilune.write_options", by_verb[verb]) end
add("perilune.upsert_options", by_verb.upsert_all)
add("perilune.insert_from_options", upvalue(upvalue(library("perilune.requests.inserting").insert_from, "read_options"), "known_options"))

library("perilune.schema.full_text")
add("perilune.fts5_options", upvalue(library("perilune.schema.full_text").create_fts5, "option_kinds"))

-- Observation, tasks, automations.
add("perilune.transaction_observer", methods_of(db:observe_transactions{ did_commit = function() end }))
add("perilune.observation", metatable(A:observe()), is_function)
local timer, task = perilune.after("1h", print), perilune.spawn(function() end)
add("perilune.timer", metatable(timer), is_function)
add("perilune.schedule", metatable(perilune.schedule("@daily", print)), is_function)
add("perilune.task", metatable(task), is_function)
timer:cancel()
local automation = perilune.automation{ name = "x", on = { event = "x" }, run = print }
add("perilune.automation_options", upvalue(upvalue(library("perilune.events.automation").public.automation, "read_definition"), "option_kinds"))
add("perilune.automation", metatable(automation), is_function)
add_list("perilune.automation", { "name", "description" })

local before = {}
for name in pairs(library("perilune.native.databases").methods) do before[name] = true end
provide("scenarios.native.host", {})
library("scenarios.data.database")
add("perilune.db", library("perilune.native.databases").methods, function(name) return not before[name] end)

-- Scenarios. Their global functions are listed as `words`; `t` and its fields have lists of their own.
local definitions = library("scenarios.defining.definitions")
for name in pairs(_G) do before[name] = true end
library("scenarios").install()
add("words", _G, function(name) return not before[name] end)
local readers = upvalue(library("scenarios.defining.options").read, "readers")
add("perilune.scenario_options", readers.scenario)
add("perilune.group_options", readers.group)
add_list("perilune.t", library("scenarios.context.context").names())
add("perilune.scenario", definitions.scenario, is_function)
add("perilune.expect", library("scenarios.expectations.expect"), is_function)
add("perilune.expectation", library("scenarios.expectations.matchers"))
add("perilune.expectation", library("scenarios.data.queries").matchers)
add("perilune.clock", upvalue(metatable(library("scenarios.context.clock")).__index, "clock"))
add("perilune.effects", upvalue(metatable(library("scenarios.context.effects").proxy.mail).__index, "methods"))

return perilune.json.encode(api)
