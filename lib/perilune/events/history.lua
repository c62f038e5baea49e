--- The history of tables: previous versions of rows, when they were written, and in which transaction.
--
--     local history = perilune.history(Book)
--     history:install(db)                                       -- in a migration
--     db:write({ note = "prices of May" }, function(db) ... end)
--     Book:as_of("2026-03-01"):fetch_all()
--     for _, version in ipairs(book:history()) do print(version.time, version.operation, version.note) end
--     history:undo(version.transaction)
--
-- SQLite triggers record the history, so it includes writes of other programs. Each row of the history contains the table's columns after a
-- change, or, for a deletion, before it.

local errors = require "perilune.native.errors"
local databases = require "perilune.native.databases"
local checks = require "perilune.runtime.checks"
local database_argument = require "perilune.runtime.database_argument"
local record_class = require "perilune.records.class"
local history_keeping = require "perilune.schema.history_keeping"
local history_tables = require "perilune.schema.history_tables"
local history_versions = require "perilune.schema.history_versions"
local history_reading = require "perilune.events.history_reading"
local history_undoing = require "perilune.events.history_undoing"

--- The functions that scripts call.
local public = {}

local History = {}
local Histories = checks.class("history", "history", History, "history")

local function self_of(self, method)
  if getmetatable(self) ~= Histories then
    checks.fail("history:" .. method, "call it with a colon, got " .. errors.describe(self) .. " before the arguments")
  end
  return rawget(self, "history"), "history:" .. method
end

--- Installs the history of the table, or updates it after a change of the table's columns. Each existing row is recorded as a first
-- version.
function History.install(self, db)
  local self, place = self_of(self, "install")
  databases.guarded(checks.database(place, db), function(db) history_keeping.install(db, record_class.info(self.class).table, place) end)
end

--- Removes the triggers and the history, optionally keeping its rows.
-- @tparam ?table options `keep_versions`
function History.remove(self, db, options)
  local self, place = self_of(self, "remove")
  options = checks.options(place, options, { keep_versions = "boolean" })
  databases.guarded(checks.database(place, db), function(db)
    local name = record_class.info(self.class).table
    history_reading.require_installed(db, name, place)
    local history = history_tables.name_of(name)
    for _, sql in ipairs(history_versions.trigger_drops(history)) do db:execute(sql) end
    if not options.keep_versions then db:drop_table(history) end
  end)
end

function History.is_installed(self, db)
  local self, place = self_of(self, "is_installed")
  return history_tables.is_kept(checks.database(place, db), record_class.info(self.class).table)
end

local of_transactions = checks.fields("transaction", "transaction", { "id", "note", "time" })

--- Returns the transactions with a note, newest first.
-- @tparam ?database db
-- @tparam ?integer limit the maximum number of transactions, 20 by default
function History.transactions(self, ...)
  local self, place = self_of(self, "transactions")
  local db, limit = database_argument.take(place, 1, ...)
  db = checks.database(place, db)
  if limit ~= nil then checks.positive(place, limit) end
  history_reading.require_installed(db, record_class.info(self.class).table, place)
  local list = {}
  for index, row in ipairs(db:fetch_all("SELECT id, note, began_at FROM perilune_transaction ORDER BY id DESC LIMIT ?", limit or 20)) do
    list[index] = setmetatable({ id = row.id, note = row.note, time = row:date("began_at") }, of_transactions)
  end
  return list
end

--- Restores the rows that a transaction has changed, in all tables with a history. Does this in a new transaction.
-- @tparam ?database db
-- @tparam integer transaction its id
-- @treturn integer the number of restored rows
function History.undo(self, ...)
  local self, place = self_of(self, "undo")
  local db, transaction = database_argument.take(place, 1, ...)
  if math.type(transaction) ~= "integer" then checks.fail(place, "expected the id of a transaction, got " .. errors.describe(transaction)
    .. "; db:write({ note = \"...\" }, f) makes transactions that have one, and history:transactions() lists them") end
  return history_undoing.undo(checks.database(place, db), record_class.info(self.class).table, transaction, place)
end

-- Classes --------------------------------------------------------------------------------------------------------------------------

local made = setmetatable({}, { __mode = "k" })

require("perilune.runtime.arity").limit_all(History, "history:")

--- Returns the history of a class's table. Adds the method `as_of` to the class and the method `history` to its records.
function public.history(class)
  local info = class ~= nil and record_class.info(class)
  if not info then
    checks.fail("perilune.history: argument 1", "expected a record class, got " .. errors.describe(class)
      .. (type(class) == "string" and ("; use perilune.history(perilune.record(%q))"):format(class) or ""))
  end
  if made[class] then return made[class] end
  local self = { class = class }
  class.as_of = function(of, ...) return history_reading.as_of(of, ...) end
  class.history = function(target, db)
    -- This is not a tail call. After a tail call, error messages could not name the record.
    local versions = history_reading.versions(class, target, db)
    return versions
  end
  made[class] = setmetatable({ history = self }, Histories)
  return made[class]
end

return public
