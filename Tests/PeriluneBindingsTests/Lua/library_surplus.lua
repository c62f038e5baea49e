--- Every function of the reference refuses surplus arguments, including trailing tables of options.

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read("a")
end

local reference = assert(load(read("lib/reference/init.lua"), "=reference"))()
local index = reference.read(function(page) return read("lib/reference/api/" .. page .. ".lua") end)
assert(load(reference.database, "=database"))()

--- An object for each name before a colon or a dot in the reference.
local function objects()
  local db = db
  local found = {
    perilune = perilune, db = db, request = Book:all(), Class = Author, record = Author:find(1), column = Author.c.name, association = Author.books,
    prepared = Book:all():prepare(), draft = Author.draft{ name = "x" }, from_sql = Author:from_sql("SELECT * FROM author"), statement = db:prepare("SELECT 1"),
    timer = perilune.after(0, function() end), task = perilune.spawn(function() end), date = perilune.now(), date_components = perilune.date_components("2026-01-01"),
    schedule = perilune.schedule("0 9 * * *", function() end), observer = db:observe_transactions{ on_change = function() end },
    observation = Author:observe(function() end), shared = db:share_observation(function() return 1 end), jobs = perilune.jobs("mail"),
    history = perilune.history(Author), changeset = db:record_changes(function() end), migrator = perilune.migrator(), row = db:fetch_one("SELECT 1 AS a"),
    enum = perilune.enum{ a = 1 }, row_type = perilune.row_type{ from_row = print }, SingleRow = perilune.single_row("author"),
    automation = perilune.automation{ name = "a", on = { every = "1h" }, run = function() end },
  }
  found.subscription, found.handler = found.shared:observe(function() end), found.jobs:handle(function() end)
  found.single_row = found.SingleRow:find()
  return found
end

local o = objects()

--- Valid arguments that follow the database, for functions that refuse nil.
local given = {
  ["perilune.blob"] = { "x" }, ["perilune.random"] = { 1, 2 }, ["perilune.enum"] = { { a = 1 } }, ["enum.from"] = { 1 }, ["perilune.json.encode"] = { {} },
  ["perilune.value_type"] = { { to_database = print, from_database = print } }, ["perilune.row_type"] = { { from_row = print } },
  ["row_type:from"] = { { id = 1 } }, ["perilune.json.decode"] = { "1" }, ["perilune.row.new"] = { { a = 1 }, { "a" } }, ["perilune.record"] = { "author", {} },
  ["migrator:register"] = { "x", {}, function() end }, ["Class.from_row"] = { { id = 1 } }, ["Class:insert"] = { { name = "q" }, {} },
  ["Class:insert_all"] = { { { name = "r" } }, {} }, ["Class:upsert_all"] = { { { name = "s" } }, {} }, ["Class:update"] = { o.record, {} },
  ["Class:save"] = { o.record, {} }, ["Class:upsert"] = { o.record, {} }, ["Class:delete"] = { Author:insert{ name = "zz" }, {} },
  ["Class:changes"] = { o.record }, ["Class:has_changes"] = { o.record }, ["Class:update_changes"] = { o.record, {}, {} }, ["request:find"] = { 1 },
  ["request:delete_all"] = { {} }, ["request:observe"] = { print, {} }, ["request:update_all"] = { { year = 1 }, {} },
}
for _, name in ipairs{ "get", "require", "integer", "float", "string", "boolean", "date", "date_components", "storage_class" } do given["row:" .. name] = { "a" } end
for _, name in ipairs{ "fetch_all", "fetch_one", "fetch_count", "is_empty", "exists", "rows", "tuples", "delete_all" } do given["prepared:" .. name] = { {} } end

--- Functions that this test cannot call, by the name before the colon, because the library calls them or Swift creates their objects.
local others = { hooks = true, blob = true, cursor = true, run = true, t = true, alteration = true, belongs_to = true, date = true, date_components = true }
local other_functions = {
  ["enum:from_database"] = true, ["enum:to_database"] = true, ["record:restore"] = true, ["record:delete_forever"] = true, ["request:save_nested"] = true,
}
for _, name in ipairs{ "now", "from_unix", "from_julian_day", "from_database", "is" } do
  other_functions["perilune.date." .. name], other_functions["perilune.date:" .. name] = true, true
  other_functions["perilune.date_components:" .. name], other_functions["perilune.date_components." .. name] = true, true
end

local function object_of(item)
  if not item.owner:find("^perilune") then return o[item.owner] end
  local object = _G
  for part in item.owner:gmatch("[^.]+") do object = object[part] end
  return object
end

--- Calls a function with nil or valid arguments, and a table after the last one.
local function call(item)
  local count, takes_database = 0, item.parameters:find("^db%f[%W]") ~= nil
  for _ in item.parameters:gmatch("[%w_]+") do count = count + 1 end
  local arguments = table.move(given[item.name] or {}, 1, count, takes_database and 2 or 1, {})
  if takes_database then arguments[1] = db end
  arguments[count + 1] = { option = true }
  local object = object_of(item)
  if object == nil then error("the test has no object for " .. item.name, 0) end
  local f = object[item.member]
  if item.separator == ":" then return pcall(f, object, table.unpack(arguments, 1, count + 1)) end
  return pcall(f, table.unpack(arguments, 1, count + 1))
end

test("every function of the reference refuses a surplus argument", function()
  local dropping, others_refused, called = {}, {}, 0
  for _, item in ipairs(index.functions) do
    local is_schema = item.page.name == "schema" and item.owner == "column"
    local is_called = item.owner and not item.page.is_scenario and not item.parameters:find("...", 1, true) and not others[item.owner]
      and not other_functions[item.name] and not is_schema
    if is_called then
      called = called + 1
      local is_done, err = call(item)
      if is_done then dropping[#dropping + 1] = item.name end
      -- Functions that are loaded on their first call count their arguments first.
      if item.module and not is_done and not tostring(err):find("takes ", 1, true) then others_refused[#others_refused + 1] = item.name end
    end
  end
  equal(dropping, {})
  equal(others_refused, {})
  equal(called > 250, true)
end)
