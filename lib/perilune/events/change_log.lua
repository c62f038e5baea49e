--- The change log for durable automations that observe tables. SQLite triggers add the key and the operation of each change to a table, so
-- that changes by any program at any time are recorded. Each automation reads them in the order of the commits.

local crashes = require "perilune.native.crashes"
local databases = require "perilune.native.databases"
local native_loop = require "perilune.native.loop"
local native_observation = require "perilune.native.observation"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local association_records = lazily "perilune.associations.records"
local marks = require "perilune.runtime.marks"
local record_class = require "perilune.records.class"
local sql_text = require "perilune.runtime.sql_text"
local runs = require "perilune.events.automation_runs"
local wake = require "perilune.events.wake"

local change_log = {}

local own = "/* perilune */ "

--- The interval in seconds for detecting changes by other processes, and the number of changes that are read in one transaction.
local poll, batch = 1.0, 500

local definitions = {
  own .. [[
  CREATE TABLE IF NOT EXISTS perilune_change (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    table_name TEXT NOT NULL,
    operation TEXT NOT NULL,
    row_key TEXT NOT NULL
  )]],
  own .. [[
  CREATE TABLE IF NOT EXISTS perilune_change_reader (
    automation TEXT NOT NULL PRIMARY KEY,
    tables TEXT NOT NULL,
    last_id INTEGER NOT NULL
  )]],
  own .. [[
  CREATE TABLE IF NOT EXISTS perilune_change_match (
    automation TEXT NOT NULL,
    row_key TEXT NOT NULL,
    PRIMARY KEY (automation, row_key)
  ) WITHOUT ROWID]],
}

-- Triggers --------------------------------------------------------------------------------------------------------------------

--- Returns the columns that identify the rows of a table.
local function key_columns(db, name, place)
  if db:view_exists(name) then checks.fail(place, ("option `on.change`: `%s` is a view, which a durable automation cannot observe; observe its tables"):format(name)) end
  local key = db:primary_key(name)
  return key and #key.columns > 0 and key.columns or { "rowid" }
end

--- Returns SQL that computes the key of a row as SQL text: the literals of its columns.
local function key_sql(row, columns)
  local parts = {}
  for index, column in ipairs(columns) do parts[index] = ("quote(%s.%s)"):format(row, sql_text.name(column)) end
  return table.concat(parts, " || ',' || ")
end

local function trigger_name(name, kind)
  return ("perilune_change_of_%s_%s"):format(name, kind)
end

local function trigger_sql(name, kind, body)
  return own .. ("CREATE TRIGGER IF NOT EXISTS %s AFTER %s ON %s BEGIN %s END"):format(
    sql_text.name(trigger_name(name, kind)), kind:upper(), sql_text.name(name), body)
end

local function insert_sql(name, kind, key, condition)
  return ("INSERT INTO perilune_change(table_name, operation, row_key) SELECT %s, '%s', %s%s;"):format(
    sql_text.literal(name), kind, key, condition and " WHERE " .. condition or "")
end

--- Creates the triggers of a table.
local function install(handle, name, columns)
  local new, old = key_sql("new", columns), key_sql("old", columns)
  handle:execute(trigger_sql(name, "insert", insert_sql(name, "insert", new)))
  handle:execute(trigger_sql(name, "delete", insert_sql(name, "delete", old)))
  handle:execute(trigger_sql(name, "update",
    insert_sql(name, "delete", old, ("%s IS NOT %s"):format(old, new)) .. insert_sql(name, "update", new)))
end

local function uninstall(handle, name)
  for _, kind in ipairs{ "insert", "update", "delete" } do
    handle:execute(own .. "DROP TRIGGER IF EXISTS " .. sql_text.name(trigger_name(name, kind)))
  end
end

--- Removes the triggers of tables that no durable automation observes.
local function uninstall_unused(handle)
  local used = {}
  for _, text in ipairs(handle:fetch_values(own .. "SELECT tables FROM perilune_change_reader")) do
    for _, name in ipairs(perilune.json.decode(text)) do used[name] = true end
  end
  for _, trigger in ipairs(handle:fetch_values(own .. [[
    SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'perilune@_change@_of@_%@_insert' ESCAPE '@']])) do
    local name = trigger:match("^perilune_change_of_(.*)_insert$")
    if not used[name] then uninstall(handle, name) end
  end
end

--- Creates the triggers and the reading position of an automation. A new automation begins with the next change.
local function prepare(self, plan)
  databases.guarded(self.db, function(handle)
    crashes.label("observation of tables by", self.name)
    for _, sql in ipairs(definitions) do handle:execute(sql) end
    for _, name in ipairs(plan.tables) do install(handle, name, plan.columns[name]) end
    local last = handle:fetch_value(own .. "SELECT seq FROM sqlite_sequence WHERE name = 'perilune_change'") or 0
    handle:execute(own .. [[
      INSERT INTO perilune_change_reader VALUES (?1, ?2, ?3) ON CONFLICT(automation) DO UPDATE SET tables = ?2]],
      self.name, perilune.json.encode(perilune.json.array(plan.tables)), last)
    uninstall_unused(handle)
  end)
end

--- Deletes the reading position of an automation, and triggers that are no longer needed.
function change_log.remove(db, automation)
  if not db:table_exists("perilune_change_reader") then return end
  databases.guarded(db, function(handle)
    handle:execute(own .. "DELETE FROM perilune_change_reader WHERE automation = ?", automation)
    handle:execute(own .. "DELETE FROM perilune_change_match WHERE automation = ?", automation)
    uninstall_unused(handle)
  end)
end

-- Reading ---------------------------------------------------------------------------------------------------------------------

--- Returns a key as a value: for one column its value, otherwise a table of values by column.
local function key_value(handle, columns, text)
  local row = handle:fetch_one(own .. "SELECT " .. text)
  local values = row:values()
  if #columns == 1 then return values[1] end
  local key = {}
  for index, column in ipairs(columns) do key[column] = values[index] end
  return key
end

--- Returns the key of a run for a changed row: the row's key as text.
local function default_key(trigger)
  return type(trigger.key) ~= "table" and tostring(trigger.key) or trigger.row_key
end

--- Queues a run. With the option `key`, the run has no key until it starts, because the option may need the row, and script functions are
-- not called in this transaction.
local function add_run(handle, self, change, key)
  local trigger = { kind = "change", table = change.table_name, operation = change.operation, key = key, row_key = change.row_key }
  runs.add_queued(handle, { automation = self.name, trigger = trigger, run_key = not self.key_function and default_key(trigger) or nil })
end

--- Returns whether a row matches the request now, but did not when it was last examined.
local function comes_to_match(handle, self, plan, change, key)
  local is_match = change.operation ~= "delete" and plan.request:filter_key(key):fetch_one(handle) ~= nil
  if not is_match or change.operation == "insert" then
    handle:execute(own .. "DELETE FROM perilune_change_match WHERE automation = ? AND row_key = ?", self.name, change.row_key)
  end
  if not is_match then return false end
  return handle:execute(own .. "INSERT OR IGNORE INTO perilune_change_match VALUES (?, ?)", self.name, change.row_key).changed_rows == 1
end

--- Returns whether there are recorded changes that an automation has not read.
function change_log.has_unread(db, automation)
  return db:fetch_value(own .. [[
    SELECT 1 FROM perilune_change_reader WHERE automation = ? AND last_id < (SELECT max(id) FROM perilune_change)]], automation) == 1
end

--- Deletes the changes that all automations have read.
local function prune(handle)
  handle:execute(own .. "DELETE FROM perilune_change WHERE id <= (SELECT min(last_id) FROM perilune_change_reader)")
end

--- Queues runs for unread changes. Updates the reading position in the same transaction.
-- @treturn boolean whether there may be more unread changes
local function consume(self, plan)
  local last = self.db:fetch_value(own .. "SELECT max(id) FROM perilune_change")
  local read = self.db:fetch_value(own .. "SELECT last_id FROM perilune_change_reader WHERE automation = ?", self.name)
  if not read or not last or last <= read then return false end
  local count = self.db:write(function(handle)
    read = handle:fetch_value(own .. "SELECT last_id FROM perilune_change_reader WHERE automation = ?", self.name)
    local changes = handle:fetch_all(own .. "SELECT * FROM perilune_change WHERE id > ? ORDER BY id LIMIT ?", read, batch)
    for _, change in ipairs(changes) do
      local columns = plan.columns[change.table_name]
      if columns then
        local key = key_value(handle, columns, change.row_key)
        if not plan.request or comes_to_match(handle, self, plan, change, key) then add_run(handle, self, change, key) end
      end
    end
    if #changes == 0 then return 0 end
    handle:execute(own .. "UPDATE perilune_change_reader SET last_id = ? WHERE automation = ?", changes[#changes].id, self.name)
    prune(handle)
    return #changes
  end)
  if count > 0 then wake.later(self.db) end
  return count == batch
end

--- Returns the changed row, fetched by the request or the class; nil if it no longer exists.
function change_log.fetch(self, trigger)
  local plan, key = self.change_plan, trigger.key
  if not plan or trigger.operation == "delete" then return nil end
  -- A key must be a plain table, so the metatable of decoded JSON objects is removed.
  if type(key) == "table" then
    key = {}
    for name, value in pairs(trigger.key) do key[name] = value end
  end
  return self.db:read(function(handle)
    return (plan.request or plan.classes[trigger.table]):filter_key(key):fetch_one(handle)
  end)
end

--- Returns the default key of an automation's run. For a change or a record, this is the key of the row, even if the row has been deleted.
-- For other values, it is nil.
function change_log.key_of(self, trigger, value)
  if trigger.kind == "change" then return default_key(trigger) end
  local info = value ~= nil and record_class.info_of(value)
  if not info then return nil end
  return self.db:read(function(handle)
    local columns, parts, values = key_columns(handle, info.table, ('automation "%s"'):format(self.name)), {}, {}
    for index, column in ipairs(columns) do
      local is_read, part = pcall(association_records.stored_field, value, column)
      if not is_read or part == nil then return nil end
      parts[index], values[index] = "quote(?)", part
    end
    if #columns == 1 then return tostring(values[1]) end
    return handle:fetch_value(own .. "SELECT " .. table.concat(parts, " || ',' || "), values)
  end)
end

-- Automations -----------------------------------------------------------------------------------------------------------------

local function table_of(request)
  return request.node.root.source.table
end

--- Returns the tables to observe, with the columns of their keys.
local function make_plan(db, place, change, names)
  local plan = { tables = {}, columns = {}, classes = {}, request = marks.is_request(change) and change or nil }
  for index, name in ipairs(plan.request and { table_of(plan.request) } or names) do
    if native_observation.is_own_table(name) then
      checks.fail(place, ("option `on.change`: `%s` is an internal table of Perilune, and its changes trigger nothing"):format(name))
    end
    if not db:table_exists(name) and not db:view_exists(name) then require("perilune.schema.introspection").raise_unknown_table(db, name, true) end
    local stored = db:fetch_value(own .. "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)", name)
    if not stored and not db:view_exists(name) then
      checks.fail(place, ("option `on.change`: `%s` is not in the main database, so that its triggers could not record changes there"):format(name))
    end
    plan.columns[stored or name] = key_columns(db, stored or name, place)
    plan.tables[index], plan.classes[stored or name] = stored or name, perilune.record(stored or name)
  end
  return plan
end

local function start(self, plan)
  local state = {}
  local function look()
    local is_ok, e = pcall(function()
      while not state.is_over and consume(self, plan) do end
    end)
    if is_ok then return end
    if type(e) == "userdata" and e.kind == "cancelled" then error(e, 0) end
    perilune.log.error("the changes for a durable automation could not be read", { automation = self.name, error = tostring(e) })
  end
  local queries = {}
  for index, name in ipairs(plan.tables) do queries[index] = ("SELECT * FROM %s"):format(sql_text.name(name)) end
  local count = 0
  local is_observed, observation = pcall(self.db.observe, self.db, function(handle)
    for _, sql in ipairs(queries) do handle:fetch_one(sql) end
    count = count + 1
    return count
  end, look, { on_error = function() end })
  -- A database in a cluster cannot be observed, so its change log is only polled.
  if not is_observed and (perilune.context ~= "live" or observation.kind ~= "cluster_refused") then error(observation, 0) end
  if is_observed then state.observation = observation end
  if perilune.context == "live" then state.timer = native_loop.start_timer(poll, poll, look, false) end
  function state:cancel()
    self.is_over = true
    if self.observation then self.observation:cancel() end
    if self.timer then native_loop.stop(self.timer) end
  end
  return state
end

--- Reads the option `on` of a durable automation that is triggered by changes.
function change_log.read(place, on, change_names)
  local change = on.change
  if type(change) == "function" then
    checks.fail(place, "option `on.change`: a durable automation observes tables, records or a request, got a function")
  end
  for _, name in ipairs{ "initially", "poll" } do
    if on[name] ~= nil then checks.fail(place, ("option `on.%s` does not apply to durable automations"):format(name)) end
  end
  local names = not marks.is_request(change) and change_names(place, change) or nil
  local text = names and "change of " .. table.concat(names, ", ") or "change"
  return text, function(db, _, _, host)
    local self = host.automation
    self.change_plan = make_plan(db, place, change, names)
    if perilune.context == "preview" then return { cancel = function() end } end
    prepare(self, self.change_plan)
    return start(self, self.change_plan)
  end, function(db)
    -- A run that was started by the method `run` receives the first row of the request or table.
    return (marks.is_request(change) and change or perilune.record(names[1])):fetch_one(db)
  end
end

return change_log
