-- Types for editors.

local function types_of(sql)
  db:execute(sql)
  local S = language()
  S.load("support.lua", 'fixture("models", function() end)', true)
  local text = S.types()
  assert(load(text))
  return text
end

test("each table has generated types for its records, values, requests and class", function()
  local text = types_of[[
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE invoices (
      id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), status TEXT NOT NULL CHECK (status IN ('draft', 'sent')),
      total REAL, is_paid BOOLEAN NOT NULL DEFAULT FALSE, sent_at DATETIME, data BLOB, double REAL AS (total * 2))]]
  matches(text, [[
---A record of invoices. customer_id refers to customers.
---@class (exact) perilune.record.invoices: perilune.record_methods
---@field id integer
---@field customer_id integer
---@field status "draft"|"sent"
---@field total? number
---@field is_paid boolean
---@field sent_at? perilune.date
---@field data? string
---@field double? number
]])
  matches(text, [[
---@class (exact) perilune.new.invoices
---@field id? integer|perilune.null
---@field customer_id? integer
---@field status? "draft"|"sent"
---@field total? number|perilune.null
---@field is_paid? boolean
---@field sent_at? perilune.date|string|perilune.null
---@field data? string|perilune.null

]])
  matches(text, "---@field find fun(self: perilune.class.invoices, key: integer|table): perilune.record.invoices")
  matches(text, "---@class perilune.db\n---@field customers perilune.class.customers\n---@field invoices perilune.class.invoices\n")
  matches(text, "---@field invoices perilune.maker.invoices")
  matches(text, "---@class perilune.fixtures\n---@field models any")
end)

test("the name of a class type follows from its table", function()
  local text = types_of("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE KEY (TABLE_ TEXT)")
  matches(text, '---@overload fun(table_name: "a", options?: perilune.record_options): perilune.class.a\n')
  matches(text, '---@overload fun(table_name: "KEY", options?: perilune.record_options): perilune.class.KEY\n')
  matches(text, "---@return perilune.record_class\nfunction perilune.record(table_name, options) end")
  matches(text, "---@class (exact) perilune.columns.a\n---@field id perilune.expression\n---@field name perilune.expression\n")
  matches(text, "---@class perilune.class.KEY: perilune.request.KEY, perilune.record_class\n")
end)

test("derived requests keep the type of their records", function()
  local text = types_of("CREATE TABLE a (id INTEGER PRIMARY KEY)")
  for _, name in ipairs{ "filter", "order", "limit", "including_all", "joining_optional", "unordered", "union" } do
    matches(text, ("---@field %s fun(self: perilune.request.a, ...: any): perilune.request.a"):format(name))
  end
  matches(text, "---@field fetch_all fun(self: perilune.request.a, db?: perilune.database): perilune.record.a[]")
  equal(text:find("@field select ", 1, true), nil)
end)

test("views have types, and names that are not Lua identifiers are left out of types", function()
  local text = types_of('CREATE TABLE a (id INTEGER PRIMARY KEY, "two words" TEXT); CREATE VIEW b AS SELECT id FROM a; CREATE TABLE "c d" (x)')
  matches(text, '---@field ["two words"]? string')
  matches(text, "---@class (exact) perilune.record.b")
  equal(text:find("c d", 1, true), nil)
end)

test("generated types are the same each time", function()
  local text = types_of("CREATE TABLE b (x INTEGER, y TEXT, z REAL); CREATE TABLE a (x)")
  equal(library("scenarios").types(), text)
end)

