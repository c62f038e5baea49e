--- Reads the reference of all names that scripts can use from the files in `api`. Pages, help and types are generated from it.
--
-- A file in `api` is one page. It contains Lua that never runs: LuaCATS annotations and these additional tags:
--
-- - `@page TITLE`: the title of the page; the following lines are its introduction.
-- - `@raises KIND: when; KIND: when`: the errors of a function, or of all methods of a class; `none` for no errors.
-- - `@waits TEXT`: the function may wait. Functions without the tag do not wait.
-- - `@access TEXT`: the contexts in which the function, or all methods of the class, may be called; `any` for all contexts.
-- - `@module NAME`: the function is loaded on its first call, from `lib/perilune/NAME`, with `.` for `/`. Modules before the last one,
--   separated by spaces, are loaded first.
-- - `| "VALUE" # TEXT`, below an alias without a type: one of its values, and its meaning.
--
-- Code in the description of a function is an example. A test runs all examples. The library loads functions from the table of their
-- modules (`loading.lua`), which is generated too.

local reference = {}

--- The pages in their order. `is_scenario` marks names that only scenario files have; they are in a separate file of types.
reference.pages = {
  { name = "perilune", article = "LuaPerilune" }, { name = "databases", article = "LuaDatabases" },
  { name = "rows", article = "LuaRows" }, { name = "schema", article = "LuaSchema" },
  { name = "migrations", article = "LuaMigrations" }, { name = "records", article = "LuaRecords" },
  { name = "history", article = "LuaHistory" }, { name = "changesets", article = "LuaChangesets" },
  { name = "requests", article = "LuaRequests" }, { name = "expressions", article = "LuaExpressions" },
  { name = "associations", article = "LuaAssociations" }, { name = "dates", article = "LuaDates" },
  { name = "observation", article = "LuaObservation" }, { name = "tasks", article = "LuaTasks" },
  { name = "automations", article = "LuaAutomations" }, { name = "jobs", article = "LuaJobs" },
  { name = "errors", article = "LuaErrors" },
  { name = "scenarios", article = "LuaScenarios", is_scenario = true },
  { name = "expectations", article = "LuaExpectations", is_scenario = true },
}

--- Sets up the database that the examples use.
reference.database = [==[
db:execute[[
  CREATE TABLE author (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    country TEXT,
    born DATE
  );
  CREATE TABLE book (
    id INTEGER PRIMARY KEY,
    author_id INTEGER NOT NULL REFERENCES author ON DELETE CASCADE,
    title TEXT NOT NULL,
    year INTEGER,
    pages INTEGER,
    is_read BOOLEAN NOT NULL DEFAULT FALSE
  )]]

db:execute[[
  CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE book_tag (
    book_id INTEGER NOT NULL REFERENCES book ON DELETE CASCADE,
    tag_id INTEGER NOT NULL REFERENCES tag ON DELETE CASCADE,
    PRIMARY KEY (book_id, tag_id)
  )]]

db:execute[[
  INSERT INTO author VALUES
    (1, 'Herman Melville', 'US', '1819-08-01'),
    (2, 'Jules Verne', 'France', '1828-02-08'),
    (3, 'Ada Lovelace', NULL, NULL);
  INSERT INTO book VALUES
    (1, 1, 'Typee', 1846, 326, TRUE),
    (2, 1, 'Moby-Dick', 1851, 635, FALSE),
    (3, 2, 'Around the World', 1872, NULL, FALSE);
  INSERT INTO tag VALUES (1, 'sea'), (2, 'travel');
  INSERT INTO book_tag VALUES (1, 1), (2, 1), (3, 2)]]

Author, Book = perilune.record("author"), perilune.record("book")
Tag, BookTag = perilune.record("tag"), perilune.record("book_tag")
Author.books, Book.author = Author:has_many(Book), Book:belongs_to(Author)
Book.links = Book:has_many(BookTag)
BookTag.tag = BookTag:belongs_to(Tag)
Book.tags = Book:has_many(Tag, {
  through = Book.links,
  using = BookTag.tag,
})
]==]

--- The project of the scenario examples: the text of each file.
reference.project = {
  ["migrations/0001_customers.sql"] = [[
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer, cents INTEGER NOT NULL);
]],
  ["migrations/0001_customers.down.sql"] = "DROP TABLE invoice; DROP TABLE customer;\n",
  ["scripts/ensure_customer.lua"] = [[
db:execute("INSERT OR IGNORE INTO customer (name) VALUES (?)", (...).name)
]],
  ["scripts/welcome.lua"] = [[
local mail = require "mail"
perilune.automation{ name = "welcome", durable = true, on = { change = "customer" }, run = function(run)
  run:call("send", function(key) return mail.send{ to = run.value.name, key = key } end)
  run:sleep("3 days")
  run:call("remind", function(key) return mail.send{ to = run.value.name, key = key } end)
end }
]],
  ["scripts/add_customer.lua"] = [[
local customer = ...
local id = db:execute("INSERT INTO customer (name) VALUES (?)", customer.name).inserted_rowid
print("added " .. customer.name)
return id
]],
  ["scripts/send.lua"] = [[
local letter = ...
return require("mail").send(letter)
]],
}

-- Reading ---------------------------------------------------------------------------------------------------------------------

--- Splits `type description`. The type may contain spaces inside brackets and around `|`.
local function split_type(text)
  local depth, index = 0, 1
  while index <= #text do
    local character = text:sub(index, index)
    if character:find("[%(%[{<]") then depth = depth + 1 end
    if character:find("[%)%]}>]") then depth = depth - 1 end
    if character == '"' then index = text:find('"', index + 1, true) or #text end
    if character == " " and depth == 0 then
      -- The types `fun(): string, integer` and `fun(self: t): boolean` continue after the colon.
      local before = text:sub(1, index - 1)
      if not before:find("[:,]$") then return before, text:sub(index + 1) end
    end
    index = index + 1
  end
  return text, ""
end

--- Parses `KIND: when; KIND: when`.
local function read_raises(text)
  local list = {}
  if text == "none" then return list end
  for part in (text .. "; "):gmatch("(.-); ") do
    local kind, when = part:match("^(.-): (.+)$")
    list[#list + 1] = { kind = kind or part, when = when or "" }
  end
  return list
end

local readers = {}

function readers.param(block, text)
  local name, rest = text:match("^(%S+) ?(.*)$")
  local kind, doc = split_type(rest)
  block.params[#block.params + 1] = { name = name:gsub("%?$", ""), is_optional = name:find("%?$") ~= nil, type = kind, doc = doc }
end

function readers.field(block, text)
  local name, rest = text:match("^(%[.-%]%??) (.+)$")
  if not name then name, rest = text:match("^(%S+) (.+)$") end
  local kind, doc = split_type(rest)
  block.fields[#block.fields + 1] = { name = name:gsub("%?$", ""), is_optional = name:find("%?$") ~= nil, type = kind, doc = doc }
end

readers["return"] = function(block, text)
  local kind, rest = split_type(text)
  local name, doc = rest:match("^(%S+) (.+)$")
  if rest == "" or not name then name, doc = rest ~= "" and rest or nil, "" end
  block.returns[#block.returns + 1] = { type = kind, name = name, doc = doc }
end

function readers.raises(block, text)
  block.raises = block.raises or {}
  for _, entry in ipairs(read_raises(text)) do block.raises[#block.raises + 1] = entry end
end

function readers.class(block, text)
  text = text:gsub("^%(exact%) ", function() block.is_exact = true return "" end)
  block.class, block.parent = text:match("^([%w_.]+) ?: ?([%w_.]+)$")
  block.class = block.class or text
end

for _, name in ipairs{ "access", "waits", "page", "type", "module" } do
  readers[name] = function(block, text) block[name] = text end
end

function readers.alias(block, text)
  block.alias, block.type = text:match("^(%S+) ?(.*)$")
end

--- Parses `"value" # meaning`, one of the values of the previous alias.
local function read_value(block, text, place)
  local value, doc = text:match('^"([^"]+)" # (.+)$')
  if not value or not block.alias then error(("%s: expected `---| \"value\" # what it means` below an alias"):format(place), 0) end
  block.values[#block.values + 1] = { value = value, doc = doc }
  block.type = (block.type ~= "" and block.type .. "|" or "") .. '"' .. value .. '"'
end

--- Returns the lines that are copied unchanged into the file of types.
for _, name in ipairs{ "overload", "operator", "generic", "async" } do
  readers[name] = function(block, text) block.verbatim[#block.verbatim + 1] = "---@" .. name .. (text ~= "" and " " .. text or "") end
end

function readers.meta() end

local function new_block(line)
  return { line = line, text = {}, params = {}, fields = {}, returns = {}, verbatim = {}, values = {} }
end

local function read_line(block, comment, place)
  local tag, text = comment:match("^@(%w+) ?(.*)$")
  if comment:find("^| ") then
    read_value(block, comment:sub(3), place)
  elseif not tag then
    block.text[#block.text + 1] = comment
  elseif readers[tag] then
    readers[tag](block, text)
  else
    error(("%s: the reference has no tag @%s"):format(place, tag), 0)
  end
end

--- Returns the description without code, as lines, and the examples, each a list of lines.
local function split_examples(text)
  local plain, examples, open = {}, {}, nil
  for _, line in ipairs(text) do
    if open and line == "```" then
      examples[#examples + 1], open = open, nil
    elseif open then
      open[#open + 1] = line
    elseif line == "```lua" then
      open = {}
    else
      plain[#plain + 1] = line
    end
  end
  while plain[#plain] == "" do plain[#plain] = nil end
  return plain, examples
end

--- Returns the declaration after a block of comments: a function, a variable, or nil.
local function read_code(line)
  local name, parameters = line:match("^function ([%w_.:]+)%((.-)%) end$")
  if name then return "function", name, parameters end
  local variable = line:match("^local ([%w_]+) = {}$") or line:match("^([%w_.]+) = {}$")
  if variable then return "class", variable end
  local global = line:match("^([%w_]+) = nil$")
  if global then return "global", global end
  return "none"
end

local Index = {}
Index.__index = Index

local function add_class(index, page, block, variable)
  local class = index.classes[block.class]
  if not class then
    class = { name = block.class, fields = {}, members = {}, verbatim = {}, pages = {} }
    index.classes[block.class], index.class_list[#index.class_list + 1] = class, class
  end
  class.variable = class.variable or variable
  class.parent = class.parent or block.parent
  class.is_exact = class.is_exact or block.is_exact
  table.move(block.fields, 1, #block.fields, #class.fields + 1, class.fields)
  table.move(block.verbatim, 1, #block.verbatim, #class.verbatim + 1, class.verbatim)
  for _, field in ipairs(block.fields) do field.class, field.page = class, page end
  if not class.text or #class.text == 0 then class.text, class.examples = split_examples(block.text) end
  class.raises, class.access = class.raises or block.raises, class.access or block.access
  class.waits = class.waits or block.waits
  if #class.pages == 0 or class.pages[#class.pages] ~= page then class.pages[#class.pages + 1] = page end
  local part = { kind = "class", class = class, variable = variable, block = block, page = page }
  page.parts[#page.parts + 1] = part
  return class
end

--- Returns the class of `perilune.json` in `function perilune.json.encode`, which is the class of the field `json`.
local function class_of_path(index, variables, path, place)
  if variables[path] then return variables[path] end
  local outer, field = path:match("^([%w_]+)%.([%w_]+)$")
  local owner = outer and (variables[outer] or index.classes[outer])
  for _, known in ipairs(owner and owner.fields or {}) do
    if known.name == field then return index.classes[known.type] end
  end
  if index.classes[path] then return index.classes[path] end
  error(("%s: the reference has no class for `%s`"):format(place, path), 0)
end

local function add_function(index, page, variables, block, name, parameters, place)
  local owner, separator, member = name:match("^(.-)([.:])([%w_]+)$")
  local class = owner and class_of_path(index, variables, owner, place)
  local text, examples = split_examples(block.text)
  local item = {
    name = name, owner = owner, separator = separator, member = member or name, class = class, parameters = parameters, page = page,
    text = text, examples = examples, params = block.params, returns = block.returns, raises = block.raises, waits = block.waits,
    access = block.access, module = block.module, verbatim = block.verbatim, place = place, is_async = block.waits ~= nil,
  }
  index.functions[#index.functions + 1] = item
  page.parts[#page.parts + 1] = { kind = "function", item = item, page = page }
  if class then class.members[#class.members + 1] = item end
end

local function finish(index, page, variables, block, line, number)
  local place = page.name .. ".lua:" .. number
  if block.page then
    page.title, page.text = block.page, block.text
    return
  end
  local kind, name, parameters = read_code(line)
  if kind == "function" then
    add_function(index, page, variables, block, name, parameters, place)
  elseif block.class then
    variables[name or ""] = add_class(index, page, block, kind == "class" and name or nil)
  elseif block.alias then
    local alias = { kind = "alias", name = block.alias, type = block.type, values = block.values, text = block.text }
    for _, value in ipairs(alias.values) do value.alias = alias end
    page.parts[#page.parts + 1] = alias
  elseif kind == "global" then
    page.parts[#page.parts + 1] = { kind = "global", name = name, type = block.type, text = block.text }
  end
end

local function read_page(index, page, source)
  local variables, block, number = {}, nil, 0
  page.parts = {}
  for line in (source .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    local comment = line:match("^%-%-%-(.*)$")
    if comment then
      block = block or new_block(number)
      read_line(block, comment, page.name .. ".lua:" .. number)
    elseif block then
      finish(index, page, variables, block, line, number)
      block = nil
    end
  end
end

--- Reads all pages.
-- @tparam function source the text of a page by its name
-- @treturn table `pages`, `functions`, `classes` by name, `class_list`
function reference.read(source)
  local index = setmetatable({ pages = {}, functions = {}, classes = {}, class_list = {} }, Index)
  for number, known in ipairs(reference.pages) do
    local page = { name = known.name, article = known.article, is_scenario = known.is_scenario or false }
    index.pages[number] = page
    read_page(index, page, source(known.name))
  end
  return index
end

-- Asking ----------------------------------------------------------------------------------------------------------------------

--- Returns the name of a class in messages and on pages: the name of its values in the examples.
function reference.shown(class)
  return class.variable or class.name
end

--- `db:fetch_all(sql, ...)`.
function reference.signature(item)
  return ("%s(%s)"):format(item.name, item.parameters)
end

--- Returns the errors of a function, its own before those of all methods of its class, and whether it declares any.
function reference.raises(item)
  local list, is_said = {}, item.raises ~= nil
  for _, entry in ipairs(item.raises or {}) do list[#list + 1] = entry end
  if item.class and item.class.raises then
    is_said = true
    for _, entry in ipairs(item.class.raises) do list[#list + 1] = entry end
  end
  return list, is_said
end

--- Returns the contexts in which a function may be called; nil if it does not declare them.
function reference.access(item)
  return item.access or item.class and item.class.access
end

--- Returns the reason for which a function waits; nil if it does not wait.
function reference.waits(item)
  return item.waits or item.class and item.class.waits
end

--- Returns the members of a class and of the classes that it extends: name -> item or field.
function Index:members(class_name)
  local members, class = {}, self.classes[class_name]
  while class do
    for _, item in ipairs(class.members) do members[item.member] = members[item.member] or item end
    for _, field in ipairs(class.fields) do members[field.name] = members[field.name] or field end
    class = class.parent and self.classes[class.parent]
  end
  return members
end

return reference
