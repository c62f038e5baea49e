--- Migrations: registered by name, run in order, each only once and in its own transaction.
--
--     local m = perilune.migrator()
--     m:register("create library", function(db)
--       db:execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
--     end)
--     m:register("add pages", "ALTER TABLE book ADD COLUMN pages INTEGER")
--     m:migrate(db)
--
-- The handle of a migration is invalid after the migration. Inside a migration, `db`, `perilune.database` and the default database of
-- records and requests are the migrated database. `has_schema_changes` and `erase_on_schema_change` run the applied migrations again on a
-- scratch database. This repeats their effects outside of the database.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local arity = require "perilune.runtime.arity"
local perilune = require "perilune"
local database = require("perilune.native.databases").methods
local functions = require "perilune.native.migrations"
local checks = require "perilune.runtime.checks"

--- The functions that scripts call.
local public = {}

local migrator = {}
local metatable = { __name = "migrator" }
--- The states of migrators. They are kept here so that scripts cannot damage them.
local states = setmetatable({}, { __mode = "k" })

local foreign_key_checks = { "deferred", "immediate", "disabled" }

local function state_of(self, method)
  local state = states[self]
  if not state then
    errors.raise("argument", "m:" .. method .. ": expected a migrator before the colon, got " .. errors.describe(self))
  end
  return state
end

-- MARK: Registering

local function read_merges(place, merges)
  if type(merges) ~= "table" then
    errors.raise("argument", place .. ": option merges: expected a list of names, got " .. errors.describe(merges))
  end
  local names = {}
  for index, name in ipairs(merges) do
    if type(name) ~= "string" then
      errors.raise("argument", place .. ": option merges: expected a list of names, got " .. errors.describe(name)
        .. " in it")
    end
    names[index] = name
  end
  if next(merges, #names > 0 and #names or nil) ~= nil then
    errors.raise("argument", place .. ": option merges: expected a list of names, got a table with other keys")
  end
  return names
end

local function read_checks(place, value)
  for _, name in ipairs(foreign_key_checks) do
    if name == value then return name end
  end
  errors.raise("argument", place .. ': option foreign_keys: expected "deferred", "immediate" or "disabled", got '
    .. errors.describe(value))
end

--- Checks the names of options. For a migration in a file, errors name the file, because no line of a script is to blame.
local function check_option_names(place, options, file)
  local is_known, err = pcall(checks.option_names, place, options, { foreign_keys = true, merges = true, down = true })
  if is_known then return end
  if not file or err.kind ~= "unknown_option" then error(err, 0) end
  errors.raise(err.kind, file .. ": " .. err.message, { name = err.name, suggestion = err.suggestion })
end

--- Wraps a function of a migration so that, inside it, the default database is the database being migrated. This may be the scratch
-- database of `has_schema_changes`.
local function on_its_database(f)
  return function(handle, ...)
    return native_records.with_default_database(handle, getmetatable(perilune), function(_, ...) return f(handle, ...) end, ...)
  end
end

--- Adds a migration from a function, SQL text or a file. All ways to register a migration use this function.
-- @tparam table source the file, its checksum and the SQL, if known
local function add(state, name, options, body, source)
  if type(name) ~= "string" then
    errors.raise("argument", "m:register: argument 1: expected the name of a migration, got " .. errors.describe(name))
  end
  local place = source.file or "m:register"
  check_option_names(place, options, source.file)
  if options.down ~= nil and type(options.down) ~= "function" and type(options.down) ~= "string" then
    errors.raise("argument", place .. ": option down: expected a function or SQL, got " .. errors.describe(options.down))
  end
  local entry = {
    name = name,
    foreign_keys = options.foreign_keys == nil and "deferred" or read_checks(place, options.foreign_keys),
    merges = options.merges == nil and {} or read_merges(place, options.merges),
    body = type(body) == "function" and on_its_database(body) or nil,
    down = type(options.down) == "function" and on_its_database(options.down) or options.down,
    sql = source.sql,
    file = source.file,
    checksum = source.checksum,
  }
  if entry.sql then
    local sql = entry.sql
    entry.body = function(db) db:execute(sql) end
  elseif not entry.body then
    errors.raise("argument", "m:register: expected a function or SQL last, got " .. errors.describe(body))
  end
  state.register(name, entry.merges)
  state.list[#state.list + 1] = entry
end

--- Adds a migration after the ones registered so far.
-- @tparam string name the name under which databases record that the migration was applied; it must never change
-- @tparam ?table options
--
-- - `foreign_keys`: "deferred" (the default: not enforced during the migration, all checked at the end), "immediate" (enforced,
--   so that tables cannot be rebuilt) or "disabled" (neither).
-- - `merges`: the names of previous migrations that this one replaces. The function's second argument is the set of those that have already
--   been applied to the database: `if not applied.v1 then ... end`.
-- - `down`: a function that receives the database, or SQL, to undo the migration; see `migrate_down`.
-- @param body a function that receives the database, or SQL
function migrator:register(name, options, body)
  local state = state_of(self, "register")
  if body == nil then options, body = nil, options end
  if type(body) == "table" or type(name) == "table" then
    errors.raise("argument", "m:register: expected a name, options and a function or SQL, got " .. errors.describe(type(name) == "table" and name or body)
      .. "; use m:register(name, { down = f }, function(db) ... end)")
  end
  if options ~= nil and type(options) ~= "table" then
    errors.raise("argument", "m:register: argument 2: expected a table of options, got " .. errors.describe(options)
      .. (type(options) == "function" and "; use m:register(name, { down = f }, function(db) ... end)" or ""))
  end
  add(state, name, options or {}, body, { sql = type(body) == "string" and body or nil })
  return self
end

--- Adds the migrations of a folder; see folder.lua.
function migrator:register_folder(path)
  local state = state_of(self, "register_folder")
  require("perilune.migrations.folder")(functions, path, function(...) add(state, ...) end)
  return self
end

-- MARK: Status

--- Returns the names of the migrations, in order.
function migrator:names()
  local names = {}
  for index, entry in ipairs(state_of(self, "names").list) do names[index] = entry.name end
  return names
end

local function database_or_default(method, db)
  if db == nil then return native_records.default_database() end
  if not native_records.is_database(db) then
    errors.raise("argument", "m:" .. method .. ": argument 1: expected a database, got " .. errors.describe(db))
  end
  return db
end

--- Returns the migrations that have been applied to a database, in order and as a set.
local function seen_by(method, db)
  db = database_or_default(method, db)
  if not database.table_exists(db, "grdb_migrations") then return {}, {} end
  local names, set = database.fetch_values(db, "SELECT identifier FROM grdb_migrations ORDER BY rowid"), {}
  for _, name in ipairs(names) do set[name] = true end
  return names, set
end

local function select(self, method, db, wanted)
  local state = state_of(self, method)
  local _, seen = seen_by(method, db)
  local names = {}
  for _, entry in ipairs(state.list) do
    if (seen[entry.name] or false) == wanted then names[#names + 1] = entry.name end
  end
  return names
end

--- Returns the registered migrations that have been applied, in order.
function migrator:applied(db) return select(self, "applied", db, true) end

--- Returns the registered migrations that have not been applied, in order.
function migrator:pending(db) return select(self, "pending", db, false) end

--- Returns the migrations before the first one that has not been applied.
function migrator:completed(db)
  local state, names = state_of(self, "completed"), {}
  local _, seen = seen_by("completed", db)
  for index, entry in ipairs(state.list) do
    if not seen[entry.name] then break end
    names[index] = entry.name
  end
  return names
end

--- Returns whether all migrations have been applied.
function migrator:has_completed(db) return #select(self, "has_completed", db, false) == 0 end

--- Returns the applied migrations that are not registered, in the order in which they ran.
function migrator:unknown(db)
  local state, known, names = state_of(self, "unknown"), {}, {}
  for _, entry in ipairs(state.list) do
    known[entry.name] = true
    for _, name in ipairs(entry.merges) do known[name] = true end
  end
  for _, name in ipairs((seen_by("unknown", db))) do
    if not known[name] then names[#names + 1] = name end
  end
  return names
end

--- Returns whether the database has unknown migrations, because a later version of the program has migrated it.
function migrator:is_superseded(db) return #migrator.unknown(self, db) > 0 end

--- Returns, in order, the applied migrations whose files were edited after they ran. Only migrations in files whose checksum was recorded
-- can be included.
function migrator:edited(db)
  local state, names = state_of(self, "edited"), {}
  db = database_or_default("edited", db)
  if not database.table_exists(db, "perilune_migration") then return names end
  local _, seen = seen_by("edited", db)
  local checksums = {}
  for _, row in ipairs(database.fetch_all(db, "SELECT identifier, checksum FROM perilune_migration")) do
    checksums[row.identifier] = row.checksum
  end
  for _, entry in ipairs(state.list) do
    local kept = checksums[entry.name]
    if seen[entry.name] and entry.checksum and kept and kept ~= entry.checksum then names[#names + 1] = entry.name end
  end
  return names
end

--- Returns whether the schema differs from the result of the applied migrations, and a list of the differences.
function migrator:has_schema_changes(db)
  local state = state_of(self, "has_schema_changes")
  local differences = state.differences(database_or_default("has_schema_changes", db), state.list)
  return #differences > 0, differences
end

-- MARK: Migrating

local known_options = { up_to = "string", erase = "string", did_apply = "function" }

--- @param short the option that a plain name sets
local function read_options(method, options, short, known)
  if options == nil then return {} end
  if type(options) == "string" then return { [short] = options } end
  if type(options) ~= "table" then
    if native_records.is_database(options) then arity.refuse_database("m:" .. method) end
    errors.raise("argument", "m:" .. method .. ": expected the name of a migration or a table of options, got "
      .. errors.describe(options))
  end
  return checks.options("m:" .. method, options, known, short == "to" and "migrating_option" or "migrate_option")
end

--- Runs the pending migrations in order, each in its own transaction. If one fails, it is rolled back, earlier ones are kept, and later
-- ones do not run. The raised error has a field `migration`.
-- @param ?db the database; the default database if omitted
-- @param ?options the name of the last migration to run, or a table with these fields
--
-- - `up_to`: the name of the last migration to run.
-- - `did_apply`: a function called after each migration with its name and its duration in seconds.
-- - `erase`: the name of the file that `erase_on_schema_change` may erase.
-- @treturn {string,...} the names of the migrations that ran
-- @treturn {string,...} the differences that caused the erasure
function migrator:migrate(db, options)
  local state = state_of(self, "migrate")
  if options == nil and db ~= nil and type(db) ~= "userdata" then db, options = nil, db end
  options = read_options("migrate", options, "up_to", known_options)
  return state.migrate(database_or_default("migrate", db), state.list, {
    up_to = options.up_to, did_apply = options.did_apply, erase = options.erase, erases = state.erase_on_schema_change,
  })
end

--- Returns the migrations that were applied after a given one, in reverse order.
local function seen_after(state, seen, target)
  local names = {}
  for index = #seen, 1, -1 do
    if seen[index] == target then return names end
    names[#names + 1] = seen[index]
  end
  for _, entry in ipairs(state.list) do
    if entry.name == target then
      errors.raise("migration", ("the migration `%s` has not been applied"):format(target),
        { migration = target })
    end
  end
  errors.raise_unknown("migration", target, seen)
end

local down_options = { to = "string", did_undo = "function" }

--- Undoes the last applied migration by running its `down` in a transaction.
-- @param ?db the database; the default database if omitted
-- @param ?options the name of a migration, or a table with these fields
--
-- - `to`: the name of a migration. All migrations applied after it are undone, the last one first, provided that all of them have a `down`.
-- - `did_undo`: a function called after each of them with its name.
-- @treturn ?string the name of the migration undone last; nil if there was none
function migrator:migrate_down(db, options)
  local state = state_of(self, "migrate_down")
  if options == nil and db ~= nil and type(db) ~= "userdata" then db, options = nil, db end
  options = read_options("migrate_down", options, "to", down_options)
  db = database_or_default("migrate_down", db)
  local seen, undone = seen_by("migrate_down", db), nil
  local names = options.to and seen_after(state, seen, options.to) or { seen[#seen] }
  require("perilune.migrations.undoing")(db, state.list, names, function(name)
    undone = name
    if options.did_undo then options.did_undo(name) end
  end)
  return undone
end

require("perilune.runtime.arity").limit_all(migrator, "m:")

-- MARK: The migrator itself

function metatable.__index(self, name)
  if name == "erase_on_schema_change" then return states[self].erase_on_schema_change end
  local method = migrator[name]
  if method ~= nil or type(name) ~= "string" then return method end
  local names = { "erase_on_schema_change" }
  for known in pairs(migrator) do names[#names + 1] = known end
  table.sort(names)
  require("perilune.runtime.other_names").raise("migrator", "method", name, names)
end

function metatable.__len() errors.raise("argument", "cannot take # of a migrator; use #migrator:names()") end

--- `erase_on_schema_change`: whether to erase the database and run all migrations again if its schema differs from its migrations. All data
-- is lost; for development only. For a file, its name must be confirmed: `m:migrate(db, { erase = "a.db" })`.
function metatable.__newindex(self, name, value)
  if name ~= "erase_on_schema_change" then errors.raise_unknown("field", name, { "erase_on_schema_change" }) end
  if type(value) ~= "boolean" then
    errors.raise("argument", "m.erase_on_schema_change: expected a boolean, got " .. errors.describe(value))
  end
  states[self].erase_on_schema_change = value
end

function metatable.__tostring(self)
  return "migrator (" .. #states[self].list .. " migrations)"
end

metatable.__metatable = false

--- Creates a migrator.
-- @tparam ?table options `folder`: the path of a folder with the first migrations
function public.migrator(options)
  if options ~= nil and type(options) ~= "table" then
    errors.raise("argument", "perilune.migrator: argument 1: expected a table of options, got " .. errors.describe(options)
      .. checks.option_cure(options, { folder = true }))
  end
  for name, value in pairs(options or {}) do
    if type(value) == "function" or type(name) == "number" and type(value) == "table" then
      errors.raise("argument", ("perilune.migrator: takes no migrations; use migrator:register(%s, function(db) ... end)"):format(
        type(name) == "string" and ("%q"):format(name) or "name"))
    end
  end
  checks.option_names("perilune.migrator", options or {}, { folder = true }, "migrator_option")
  local self = setmetatable({}, metatable)
  local register, migrate, differences = functions.make()
  states[self] = { list = {}, register = register, migrate = migrate, differences = differences, erase_on_schema_change = false }
  if options and options.folder ~= nil then self:register_folder(options.folder) end
  return self
end

return { public = public, methods = migrator }
