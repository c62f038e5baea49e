--- Folders of migrations: one migration a file, run in the byte order of their names.
--
-- `0002_add_pages.sql` is SQL, and `0002_add_pages.down.sql`, if it is there, what undoes it. `0003_fill_pages.lua` returns a
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
-- The name of the migration is that of the file without its extension. Other files are left out, hidden ones too.

local errors = require "perilune.native.errors"

--- What the file returns that a person may have meant.
local function mistake(path, got)
  errors.raise("argument", path .. ": expected it to return a function(db), or a table with the function `up`, got "
    .. (got == nil and "nothing" or errors.describe(got)))
end

--- The options and the function of a migration in Lua.
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

--- Registers the migrations of a folder.
-- @tparam table functions what Swift gives
-- @tparam string path
-- @tparam function add gets name, options, body and source
return function(functions, path, add)
  if type(path) ~= "string" then
    errors.raise("argument", "m:register_folder: argument 1: expected the path of a folder, got " .. errors.describe(path))
  end
  local files = functions.folder(path)
  for _, file in ipairs(files) do
    if file.is_sql then file.options = { down = file.down }
    else file.options, file.up = read(file.path, (functions.load(file.text, file.path))) end
  end
  for _, file in ipairs(files) do
    add(file.name, file.options, file.up, { sql = file.is_sql and file.text or nil, file = file.path, checksum = file.checksum })
  end
end
