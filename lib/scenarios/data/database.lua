--- The database of a scenario. Scripts use the same database, but scenarios can do more: tables are record classes
-- (`t.db.invoices`), and there is the method `integrity_check`.

local errors = require "perilune.native.errors"
local introspection = require "perilune.schema.introspection"
local native_records = require "perilune.native.records"
local state = require "scenarios.base.state"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local other_names = require "perilune.runtime.other_names"
local database = require("perilune.native.databases").methods

local scenario_database = {}

local classes = {}

local function exists(db, name)
  return db:fetch_value("SELECT 1 FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) "
    .. "WHERE type IN ('table', 'view') AND lower(name) = lower(?)", name) ~= nil
end

--- Raises if a table or view does not exist; suggests the nearest name.
-- @tparam string what the caller, for messages
function scenario_database.require_table(what, name)
  if type(name) ~= "string" then
    state.mistake("%s: expected the name of a table, got %s", what, errors.describe(name))
  end
  local db = native_records.default_database()
  if not exists(db, name) and (name:find("^perilune_job") or name:find("^perilune_automation")) then
    errors.raise("unknown_table", ("%s: no table `%s` yet; it is made when the first %s"):format(what, name,
      name:find("job") and "job is enqueued" or "run of an automation is recorded"), { name = name })
  end
  if not exists(db, name) then introspection.raise_unknown_table(db, name, true) end
end

--- Returns the record class of a table, which is always the same one.
function scenario_database.class(name)
  local class = classes[name]
  if class then return class end
  class = perilune.record(name)
  classes[name] = class
  return class
end

--- Returns "ok", or the problems that SQLite finds in the file and its foreign keys.
function database:integrity_check()
  local lines = self:fetch_values("PRAGMA integrity_check")
  if lines[1] == "ok" then lines = {} end
  for _, violation in ipairs(self:foreign_key_violations()) do
    lines[#lines + 1] = ("row %s of %s refers to a row of %s that does not exist")
      :format(tostring(violation.rowid), violation.table, violation.referenced_table)
  end
  return #lines == 0 and "ok" or table.concat(lines, "\n")
end

--- Returns an additional member of databases in scenarios: the method above, or the class of a table.
function scenario_database.member(name)
  if type(name) ~= "string" then return nil end
  local method = rawget(database, name)
  if method then return method end
  if (name == "given" or name == "make" or name == "run" or name == "clock" or name == "effects") and not exists(native_records.default_database(), name) then
    errors.raise("unknown_member", ("no member `%s`; this is the database, not `t`. The function of a template gets the database alone, as in "
      .. "template(name, function(db) db.customer:insert{ ... } end)"):format(name))
  end
  if name == "db" and not exists(native_records.default_database(), name) then
    errors.raise("unknown_member", "no member `db`; this is the database itself, as in db:execute(sql)")
  end
  if not exists(native_records.default_database(), name) and other_names.find("database", name) then
    checks.raise_unknown_method(database, name, "database")
  end
  scenario_database.require_table("db", name)
  return scenario_database.class(name)
end

return scenario_database
