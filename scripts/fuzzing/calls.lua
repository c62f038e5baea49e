-- Calls public functions in random order with arguments of all kinds: dead handles, wrong states, and results of previous calls.
-- The driver prepends `seed`, and `names`: the functions of the reference by receiver.
math.randomseed(seed)

local function pick(list) return list[math.random(#list)] end

-- The names of receivers in the reference, with values for each.
local pool = { db = { db }, perilune = { perilune }, class = {}, any = {} }

local function keep(kind, value)
  local list = pool[kind] or {}
  pool[kind] = list
  if value ~= nil then
    if #list > 40 then list[math.random(#list)] = value else list[#list + 1] = value end
  end
end

local function prepare()
  db:execute[[
    CREATE TABLE IF NOT EXISTS author (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, born DATE, is_known BOOLEAN DEFAULT 0);
    CREATE TABLE IF NOT EXISTS book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author(id), title TEXT, price REAL, cover BLOB);
    INSERT INTO author (name) VALUES ('Ursula'), ('Stanisław'), ('');
    INSERT INTO book (author_id, title, price, cover) VALUES (1, 'a', 1.5, x'00ff'), (1, 'b', NULL, NULL), (2, 'c', -0.0, zeroblob(3));
  ]]
  local Author, Book = perilune.record("author"), perilune.record("book")
  pcall(function() Author:has_many("books", Book) Book:belongs_to("author", Author) end)
  local closed = perilune.queue()
  closed:close()
  pcall(db.write, db, function(inner) keep("db", inner) keep("cursor", inner:rows("SELECT * FROM author")) end)
  for _, maker in ipairs{
    { "Class", function() return Author end }, { "Class", function() return Book end }, { "record", function() return Author:find(1) end },
    { "record", function() return Book{ title = "new" } end }, { "record", function() return Author{} end },
    { "request", function() return Author:filter{ id = 1 } end }, { "request", function() return Book:order("title"):limit(1) end },
    { "request", function() return Author:joining(Author.books) end }, { "association", function() return Author.books end },
    { "association", function() return Book.author end }, { "statement", function() return Author:statement("insert", { name = "s" }) end },
    { "prepared", function() return db:prepare("SELECT * FROM author WHERE id = ?") end },
    { "row", function() return db:fetch_one("SELECT * FROM book") end }, { "cursor", function() return db:rows("SELECT * FROM book") end },
    { "column", function() return Book.columns.title end }, { "column", function() return perilune.column("title") end },
    { "column", function() return perilune.sql("title || ?", 1) end }, { "date", function() return perilune.now() end },
    { "db", perilune.queue }, { "db", function() return closed end }, { "enum", function() return perilune.enum{ "a", "b" } end },
    { "migrator", function()
      local migrator = perilune.migrator()
      migrator:register("m", "CREATE TABLE IF NOT EXISTS m (a)")
      return migrator
    end },
    { "observation", function() return db:observe("SELECT COUNT(*) FROM book", print) end },
    { "observer", function() return db:observe_transactions{ on_change = function() pool.call() end, did_commit = print } end },
    { "timer", function() return perilune.after(0, function() pool.call() end) end }, { "task", function() return perilune.spawn(pool.call) end },
    { "automation", function() return perilune.automation{ name = "a" .. math.random(9), on = { change = "book" }, run = function() pool.call() end } end },
  } do
    local ok, value = pcall(maker[2])
    if ok then keep(maker[1], value) end
  end
end

local plain = {
  function() return nil end, function() return true end, function() return math.random(-3, 3) end,
  function() return pick{ math.mininteger, math.maxinteger, 1 << 53, 2 ^ 63, -2 ^ 63, 1 / 0, -1 / 0, 0 / 0, 0.1, -0.0 } end,
  function() return pick{ "", "id", "name", "title", "author", "book", "books", "nothing", "a\0b", "\xff\xfe", ("x"):rep(1000), "%", "é", "DESC", "1ms", "2020-02-30" } end,
  function() return pick{ "SELECT 1", "SELECT * FROM author", "INSERT INTO author (name) VALUES (?)", "DELETE FROM book", "BEGIN", "ROLLBACK", "COMMIT",
    "SELECT", "", ";", "PRAGMA foreign_keys", "SELECT :a, ?2", "UPDATE book SET price = price + 1 RETURNING *", "SAVEPOINT x", "DROP TABLE IF EXISTS book" } end,
  function() return pick{ perilune.null, perilune.blob("bytes"), print, pcall, coroutine.create(print), perilune, _G, math } end,
  function() return function(...) pcall(pool.call) return ... end end,
  function() return function() error{ kind = "own" } end end,
  function() return function() return coroutine.yield(1) end end,
  function() return { pick(pool.any), id = math.random(5), name = "n", title = pick(pool.any) } end,
  function() return setmetatable({}, { __index = function() error("index") end, __tostring = function() return 1 end, __len = function() return 1 << 40 end }) end,
}

local depth = 0

local function argument()
  if math.random(4) == 1 and #pool.any > 0 then return pick(pool.any) end
  return pick(plain)()
end

local function receiver_of(kind)
  local list = pool[kind]
  if list and #list > 0 and math.random(20) > 1 then return pick(list) end
  return pick(pool[pick{ "db", "Class", "record", "request", "any", "row" }] or pool.db)
end

-- Makes a call. Its results are used as arguments and, under the name of their apparent type, as receivers.
function pool.call()
  if depth > 3 then return end
  depth = depth + 1
  local name = pick(names)
  local arguments = table.pack()
  for i = 1, math.random(0, 4) do arguments[i], arguments.n = argument(), i end
  local results = table.pack(pcall(function()
    local target = receiver_of(name[1])
    for i = 2, #name - 1 do target = target[name[i]] end
    local f = target[name[#name]]
    if name.is_method then return f(target, table.unpack(arguments, 1, arguments.n)) end
    return f(table.unpack(arguments, 1, arguments.n))
  end))
  depth = depth - 1
  local result = results[2]
  if result ~= nil then keep("any", result) end
  if results[1] and type(result) ~= "string" and type(result) ~= "number" and math.random(4) == 1 then
    keep(pick{ name[1], "record", "request", "column", "row", "statement", "observation", "cursor" }, result)
  end
  if not results[1] then pcall(tostring, result) end
end

-- Builds requests from expressions. Most errors in expressions only show when their SQL is written, so each request is compiled and
-- executed.

local methods = {}
for _, name in ipairs(names) do
  if name.is_method and #name == 2 then
    methods[name[1]] = methods[name[1]] or {}
    table.insert(methods[name[1]], name[2])
  end
end

-- Includes functions that this version of SQLite may lack, and names that are not functions.
local functions = {
  "abs", "avg", "char", "coalesce", "count", "date", "group_concat", "iif", "json_array", "json_each", "json_extract", "json_group_array",
  "json_group_object", "lag", "last_value", "lead", "length", "max", "min", "nth_value", "ntile", "nullif", "perilune_ordered_concat",
  "printf", "rank", "replace", "round", "row_number", "snippet", "string_agg", "strftime", "substr", "sum", "total", "zeroblob", "nothing", "",
}

local expression

local function list(most)
  local values = table.pack()
  for i = 1, math.random(0, most) do values[i], values.n = expression(), i end
  return values
end

local function column() return perilune.column(pick{ "id", "name", "title", "price", "cover", "author_id", "born", "nothing", "" }) end

local function called()
  local arguments = list(4)
  return perilune.fn[pick(functions)](table.unpack(arguments, 1, arguments.n))
end

local function window()
  local frame = { [pick{ "rows", "range", "groups" }] = pick{ 1, "all", { -1, 1 }, { 0, math.huge }, { -math.huge, 0 }, {} } }
  return { partition_by = list(2), order_by = list(2), frame = pick{ frame, frame, false } or nil }
end

local function method_of(value)
  local name = pick(methods.column)
  if math.random(8) == 1 then return value:over(window()) end
  local arguments = list(3)
  return value[name](value, table.unpack(arguments, 1, arguments.n))
end

local expression_depth = 0

-- Returns an expression, a plain value, or any value.
function expression()
  if expression_depth > 3 then return column() end
  expression_depth = expression_depth + 1
  local ok, value = pcall(function()
    local way = math.random(10)
    if way <= 3 then return column() end
    if way <= 6 then return called() end
    if way == 7 then return argument() end
    return method_of(pick{ column, called, perilune.count }())
  end)
  if ok and math.random(3) == 1 then
    local changed, other = pcall(method_of, value)
    if changed then value = other end
  end
  expression_depth = expression_depth - 1
  if ok then return value end
end

local composing = { "select", "filter", "order", "group", "having", "annotated_with", "then_order", "distinct", "limit", "join" }
local ending = { "fetch_all", "fetch_count", "fetch_values", "fetch_value", "sql", "update_all", "delete_all", "is_empty", "explain", "tuples", "pluck" }

function pool.compose()
  pcall(function()
    local request = pick{ perilune.record("author"), perilune.record("book") }
    for _ = 1, math.random(5) do
      local name = pick(math.random(3) == 1 and methods.request or composing)
      local arguments = math.random(4) == 1 and table.pack(list(3)) or list(3)
      local ok, longer = pcall(function() return request[name](request, table.unpack(arguments, 1, arguments.n)) end)
      if ok and longer ~= nil then request = longer end
    end
    keep("request", request)
    for _ = 1, 3 do
      local name = pick(math.random(4) == 1 and methods.request or ending)
      local arguments = list(2)
      local ok, problem = pcall(function() return request[name](request, table.unpack(arguments, 1, arguments.n)) end)
      if not ok then pcall(tostring, problem) end
    end
  end)
end

prepare()
keep("any", db)
for i = 1, 1500 do
  if i % 3 == 0 then pool.compose() else pool.call() end
  if i % 50 == 0 then pcall(prepare) end
  if i % 100 == 0 then collectgarbage() end
end
perilune.sleep(0.05) -- what was started continues for a moment
error("done")
