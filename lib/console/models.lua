--- Record classes for all tables of the database, with associations based on its foreign keys.
--
-- Class names are table names in Lua's class style: `order_line` becomes `OrderLine`, and also `order_line` unless another variable
-- has that name. A `belongs_to` association has the name of its column without `Id` or `_id`; a `has_many` association has the name
-- of the other table in the plural.

local perilune = require "perilune"
local native_records = require "perilune.native.records"

local models = {}

--- The classes by table name.
local classes = {}
--- Table names by global name, and the schema generation in which they were read.
local tables, generation = {}, nil
--- The tables and views that cannot be used, with reasons.
local unusable = {}

--- Returns the name of a table's class; nil if the table name cannot become a class name.
function models.class_name(table_name)
  local name = table_name:gsub("[^%w]+(%w?)", string.upper):gsub("^%l", string.upper)
  return name:match("^%a[%w]*$")
end

--- Returns the usable tables and views, without SQLite's own tables and tables that are parts of other tables; and a list of
-- unusable ones, with reasons.
local function table_names(db)
  local names, broken = {}, {}
  for _, name in ipairs(db:fetch_values[[
    SELECT name FROM pragma_table_list
    WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name]]) do
    local is_usable, err = pcall(db.columns, db, name)
    if is_usable then names[#names + 1] = name else broken[#broken + 1] = { table = name, reason = err.message } end
  end
  return names, broken
end

-- Associations -----------------------------------------------------------------------------------------------------------

local function plural(name)
  if name:match("s$") then return name end
  if name:match("[^aeiou]y$") then return name:sub(1, -2) .. "ies" end
  if name:match("x$") or name:match("ch$") or name:match("sh$") then return name .. "es" end
  return name .. "s"
end

local function without_id(column)
  return column:match("^(.-)_[iI][dD]$") or column:match("^(.+%l)I[dD]$") or nil
end

--- Adds an association to a class under the first available name.
local function define(class, names, make)
  for _, name in ipairs(names) do
    local is_taken = select(2, pcall(function() return rawget(class, name) ~= nil or class[name] ~= nil end)) == true
    if not is_taken and name:match("^[%a_][%w_]*$") and pcall(function() class[name] = make() end) then return name end
  end
end

local function belongs_to(class, key, target)
  local names = {}
  if #key.columns == 1 then names[1] = without_id(key.columns[1]) end
  names[#names + 1] = key.table
  names[#names + 1] = key.table .. "_by_" .. key.columns[1]
  return define(class, names, function() return class:belongs_to(target, { columns = key.columns }) end)
end

local function has_many(class, other, other_table, key, is_unique)
  local name = is_unique and other_table or plural(other_table)
  local kind = is_unique and "has_one" or "has_many"
  local names = { name, name .. "_by_" .. key.columns[1] }
  return define(class, names, function() return class[kind](class, other, { columns = key.columns }) end)
end

--- Returns an association through a table whose key consists of two foreign keys.
local function has_many_through(class, link_name, other, other_table, using)
  if not link_name or not using then return end
  define(class, { plural(other_table) }, function()
    return class:has_many(other, { through = class[link_name], using = using })
  end)
end

local function is_same(left, right) return left:lower() == right:lower() end

--- Returns whether the table has exactly the columns of its two foreign keys.
local function is_link(db, name, keys)
  if #keys ~= 2 then return false end
  local count = 0
  for _, key in ipairs(keys) do count = count + #key.columns end
  local own = db:primary_key(name).columns
  if #own ~= count then return false end
  local wanted = {}
  for _, column in ipairs(own) do wanted[column:lower()] = true end
  for _, key in ipairs(keys) do
    for _, column in ipairs(key.columns) do
      if not wanted[column:lower()] then return false end
    end
  end
  return true
end

--- Adds associations to all classes. Only existing tables are considered.
local function associate(db, names)
  local by_name, links = {}, {}
  for _, name in ipairs(names) do by_name[name:lower()] = name end
  for _, name in ipairs(names) do
    local class, keys = classes[name], db:foreign_keys(name)
    local ends = {}
    for _, key in ipairs(keys) do
      local target = by_name[key.table:lower()]
      if target then
        ends[#ends + 1] = {
          target = target, forth = belongs_to(class, key, classes[target]),
          back = has_many(classes[target], class, name, key, db:has_unique_key(name, key.columns)),
        }
      end
    end
    if #ends == 2 and is_link(db, name, keys) then links[#links + 1] = { name = name, ends[1], ends[2] } end
  end
  for _, link in ipairs(links) do
    for index, near in ipairs(link) do
      local far = link[3 - index]
      if not is_same(near.target, far.target) then
        has_many_through(classes[near.target], near.back, classes[far.target], far.target, far.forth and classes[link.name][far.forth])
      end
    end
  end
end

-- Globals ---------------------------------------------------------------------------------------------------------------

--- Creates classes for tables that have none yet.
local function refresh()
  local db = perilune.database
  local current = native_records.schema_generation(db)
  if generation == current then return end
  tables, generation = {}, current
  local is_new, names = false, nil
  names, unusable = table_names(db)
  for _, name in ipairs(names) do
    if not classes[name] then classes[name], is_new = perilune.record(name), true end
    if tables[name] == nil then tables[name] = name end
  end
  for _, name in ipairs(names) do
    local class_name = models.class_name(name)
    if class_name and tables[class_name] == nil then tables[class_name] = name end
  end
  if is_new then
    associate(db, names)
    generation = native_records.schema_generation(db)
  end
end

--- Returns the class for the name of a global variable; nil if none exists.
function models.find(name)
  if type(name) ~= "string" then return nil end
  refresh()
  return tables[name] and classes[tables[name]]
end

--- Returns, for each table, its name, the name of its class, and its associations.
function models.list()
  refresh()
  local list = {}
  for _, name in ipairs(table_names(perilune.database)) do
    local class_name = models.class_name(name)
    if tables[class_name] ~= name then class_name = name end
    list[#list + 1] = { table = name, class = class_name, value = classes[name] }
  end
  return list
end

--- Returns the tables and views that cannot be used: their names and the reasons.
function models.unusable()
  refresh()
  return unusable
end

--- Returns whether a class was created for a table.
function models.is_model(class)
  for _, known in next, classes do
    if known == class then return true end
  end
  return false
end

--- Makes the classes available as undefined globals.
function models.install()
  setmetatable(_G, {
    __index = function(_, name)
      -- The schema cannot be read while the database is in use. Unknown names are nil then, as usual.
      local is_done, class = pcall(models.find, name)
      return is_done and class or nil
    end,
  })
end

return models
