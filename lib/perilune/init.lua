--- The table `perilune`. Some of its modules are loaded in every state, the others on first use.

--- The module `perilune`. Modules that are loaded later add functions to it.
local perilune = ...
local databases = require "perilune.native.databases"
local native_rows = require "perilune.native.rows"

local on_first_call = require "perilune.runtime.loading"

-- The methods of rows. The row path has created this table already.
perilune.row = native_rows.methods
native_rows.set_missing(function(...) return require("perilune.runtime.missing_columns")(...) end)
native_rows.set_missing_list_field(function(...) return require("perilune.runtime.missing_list_fields")(...) end)
perilune.json = {}
local owners = {
  ["perilune."] = perilune, ["perilune.json."] = perilune.json, ["perilune.row."] = native_rows.methods, ["row:"] = native_rows.methods, ["db:"] = databases.methods,
}
require "perilune.functions"(function(prefix, modules, names) on_first_call(owners[prefix], modules, names, prefix) end)

local arity = require "perilune.runtime.arity"
arity.limit_functions(perilune, "perilune.", { blob = 1 })
arity.limit(databases.methods, "db:", {
  path = 0, interrupt = 0, serialize = 0, snapshot = 0, checkpoint = 1, transaction_date = 0, is_inside_transaction = 0, prepare = 1,
})
databases.set_write_options(function(...) return require("perilune.events.write_options")(...) end)
perilune.excluded = setmetatable({}, { __index = function(_, name)
  require "perilune.record_assembly"
  require "perilune.request_assembly"
  require "perilune.requests.inserting"
  return perilune.excluded[name]
end })
perilune.fn = setmetatable({}, {
  __index = function(_, name)
    require "perilune.expressions.expression"
    return perilune.fn[name]
  end,
  __call = function()
    require "perilune.expressions.expression"
    perilune.fn()
  end,
})

-- Arguments after the block are passed on to the block. A table of options among them is probably a mistake.
local no_options = { note = true, retry = true, kind = true, mode = true, timeout = true, isolation = true, immediate = true, exclusive = true, deferred = true, readonly = true }

local function are_options(value)
  if type(value) ~= "table" or getmetatable(value) ~= nil or next(value) == nil then return false end
  for name in next, value do
    if not no_options[name] then return false end
  end
  return true
end

for _, name in ipairs{ "read", "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
  local run = databases.methods[name]
  databases.methods[name] = function(self, ...)
    local block, options, more = ...
    if type(block) == "function" and more == nil and are_options(options) then
      require("perilune.native.errors").raise("argument", ("db:%s: options come before the block%s"):format(name,
        name == "write" and ", as in db:write({ note = \"import\" }, function(db) ... end)" or "; this function has none"))
    elseif name == "in_transaction" and type(block) == "function" and more == nil and type(options) == "string" and no_options[options] then
      require("perilune.native.errors").raise("argument", ("db:in_transaction: the kind comes before the block; use db:in_transaction(%q, f)"):format(options))
    elseif name == "in_transaction" and select("#", ...) == 0 then
      require("perilune.native.errors").raise("argument", "db:in_transaction: argument 1: expected a function, got no value; use db:is_inside_transaction() "
        .. "to ask whether a transaction is open")
    elseif type(block) == "table" and options == nil and getmetatable(block) ~= nil then
      require("perilune.native.errors").raise("argument", ("db:%s: argument 1: expected a function, got %s, which has been written already; use db:%s(function(db) "
        .. "... end) around the call"):format(name, require("perilune.native.errors").describe(block), name))
    elseif type(block) == "table" and options == nil and type(block[1]) == "function" then
      require("perilune.native.errors").raise("argument", ("db:%s: argument 1: expected a function, got a table; use db:%s(function(db) ... end)"):format(name, name))
    elseif name == "in_savepoint" and type(block) == "string" and type(options) == "function" then
      require("perilune.native.errors").raise("argument", "db:in_savepoint: argument 1: expected a function, got a string; savepoints have no names, use "
        .. "db:in_savepoint(function(db) ... end)")
    elseif type(block) == "string" and options == nil and not (name == "in_transaction" and no_options[block]) then
      require("perilune.native.errors").raise("argument", ("%s: argument 1: expected a function, got a string; use db:execute(sql, ...) or "
        .. "db:fetch_all(sql, ...) for SQL"):format(name))
    end
    return run(self, ...)
  end
end

local unknown_methods = require "perilune.runtime.unknown_methods"
unknown_methods(databases.methods, "database", nil, function(name)
  local has_one, db = pcall(require("perilune.native.records").default_database)
  local is_done, is_table = pcall(function() return has_one and (db:table_exists(name) or db:table_exists((name:gsub("s$", "")))) end)
  return is_done and is_table
end)
unknown_methods(perilune.json, "json", "function")
unknown_methods(perilune, "perilune", "member")
unknown_methods(perilune.log, "log", "function")
require "perilune.runtime.warnings"(perilune.log)
setmetatable(perilune.row, { __call = function()
  require("perilune.native.errors").raise("argument", "perilune.row is a table of methods; use perilune.row.new(values)")
end })
getmetatable(perilune.log).__call = function()
  require("perilune.native.errors").raise("argument", "perilune.log is a table of functions; use perilune.log.info(message, fields)")
end
getmetatable(perilune.json).__call = function()
  require("perilune.native.errors").raise("argument", "perilune.json is a table of functions; use perilune.json.encode(value), or perilune.json.decode(text)")
end
for _, name in ipairs{ "date", "date_components" } do
  local metatable = getmetatable(perilune[name])
  -- Modules may check for optional members of a type, so only names from other libraries raise an error.
  metatable.__index = function(_, member)
    if not require("perilune.runtime.other_names").find("date", member) then return nil end
    require("perilune.runtime.checks").raise_unknown_method(perilune[name], member, "date", "function")
  end
  metatable.__metatable = false
end
arity.limit(databases.statement_methods, "statement:", { columns = 0, parameters = 0, is_readonly = 0, sql = 0, close = 0 })
for name in next, require("perilune.native.observers").methods do
  arity.limit(require("perilune.native.observers").methods, "observer:", { [name] = 0 })
end
unknown_methods(databases.statement_methods, "statement")
unknown_methods(require("perilune.native.observers").methods, "observer")
require "perilune.runtime.mistaken_fields"(perilune)

--- The fields to which the default database is assigned in other libraries.
local database_fields = {
  db = true, database = true, default_database = true, current_database = true, default_db = true, conn = true, connection = true,
}

-- Assignments to these fields are rejected. `perilune.database` is stored in the metatable, so that assignments to it call __newindex. Only
-- the first one, by the host, is accepted; `perilune.with` sets the field of the metatable.
local metatable, has_database = getmetatable(perilune), false
local raise_unknown_member = metatable.__index

function metatable.__index(_, name)
  if name == "database" then return metatable.database end
  return raise_unknown_member(perilune, name)
end

function metatable.__newindex(_, name, value)
  if name == "database" and not has_database then
    metatable.database, has_database = value, true
    return
  elseif database_fields[name] then
    require("perilune.native.errors").raise("argument",
      ("perilune.%s cannot be set; use perilune.with({ database = other }, function() ... end)"):format(name))
  end
  rawset(perilune, name, value)
end
getmetatable(perilune.log).__newindex = function(_, name, value)
  local use = require("perilune.runtime.other_names").find("log", name)
  if use and type(value) ~= "function" then
    require("perilune.native.errors").raise("argument", ("perilune.log.%s cannot be set; %s"):format(name, use))
  end
  rawset(perilune.log, name, value)
end

return perilune
