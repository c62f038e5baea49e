--- Folders of migrations: one file for each migration, run in the byte order of their names.
--
-- `0002_add_pages.sql` contains SQL, and the optional `0002_add_pages.down.sql` undoes it. `0003_fill_pages.lua` returns a
-- function, or a table with the function `up` and the options of `m:register`:
--
--     return function(db) db:execute("UPDATE book SET pages = 0") end
--
--     return {
--       foreign_keys = "immediate",
--       merges = { "0001_create", "0002_add_pages" },
--       up = function(db, applied) ... end,
--       down = function(db) ... end,
--     }
--
-- The name of a migration is its file name without the extension. Other files, including hidden ones, are ignored.

local errors = require "perilune.native.errors"

--- Raises the error for a migration file that returns neither a function nor a table with `up`.
local function mistake(path, got)
  errors.raise("argument", path .. ": expected it to return a function(db), or a table with the function `up`, got "
    .. (got == nil and "nothing" or errors.describe(got)))
end

--- Returns the options and the function of a migration file in Lua.
local function read(path, value)
  if type(value) == "function" then return {}, value end
  if type(value) ~= "table" then mistake(path, value) end
  if type(value.up) ~= "function" then mistake(path, value) end
  local options = {}
  for name, option in pairs(value) do
    if name ~= "up" then options[name] = option end
  end
  return options, value.up
end

--- The argument of the main chunks of migration files: `local db = ...` gets a value whose first use raises an error.
local no_database = setmetatable({}, {
  __index = function()
    errors.raise("nested_access", "the main chunk of a migration file receives no database; return a function(db) that uses it")
  end,
})

--- Registers the migrations of a folder.
-- @tparam table functions the native functions for migrations
-- @tparam string path
-- @tparam function add receives name, options, body and source
return function(functions, path, add)
  if type(path) ~= "string" then
    errors.raise("argument", "m:register_folder: argument 1: expected the path of a folder, got " .. errors.describe(path))
  end
  local files = functions.folder(path)
  for _, file in ipairs(files) do
    if file.is_sql then file.options = { down = file.down }
    else file.options, file.up = read(file.path, (functions.load(file.text, file.path, no_database))) end
  end
  for _, file in ipairs(files) do
    add(file.name, file.options, file.up, { sql = file.is_sql and file.text or nil, file = file.path, checksum = file.checksum })
  end
end
