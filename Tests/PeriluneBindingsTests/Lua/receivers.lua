--- The errors of methods that are called with a dot name the expected receiver.

db:execute[[
  CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, before_id INTEGER REFERENCES book);
  INSERT INTO book VALUES (1, 'Typee', NULL)]]
local Book = perilune.record "book"
Book.before = Book:belongs_to(Book)

--- Calls the methods of a value with a dot, in several ways.
local function check(value, names, expected)
  for _, name in ipairs(names) do
    local method = value[name]
    for _, arguments in ipairs{ {}, { "x" }, { 1, 2 }, { function() end }, { {} } } do
      matches(fails("argument", method, table.unpack(arguments)), name .. ": expected " .. expected .. " before the colon (")
    end
  end
end

test("requests check their receiver", function()
  check(Book:order("id"), {
    "all", "aliased", "annotated_with", "build", "cross_join", "delete_all", "distinct", "except", "exists", "explain", "fetch_all",
    "fetch_count", "fetch_one", "fetch_set", "fetch_value", "fetch_values", "filter", "filter_given", "filter_key", "find", "find_or_build",
    "find_or_insert", "group", "having", "in_batches", "including_all", "insert", "insert_all", "is_empty", "join", "joining_required", "limit", "matching", "max",
    "none", "observe", "offset", "order", "page", "page_after", "pluck", "prepare", "reversed", "rows", "select", "sql",
    "statement", "sum", "then_order", "tuples", "union", "unordered", "update_all", "when",
  }, "a request")
end)

test("associations check their receiver", function()
  check(Book.before, { "count", "is_empty", "exists", "max", "unscoped", "as", "distinct", "select", "joining_required" }, "an association")
  matches(fails("argument", Book.before.filter, "x"), "filter: expected a request before the colon")
end)

test("expressions check their receiver", function()
  check(Book.c.title, {
    "eq", "ne", "lt", "le", "gt", "ge", "is", "is_not", "is_null", "between", "like", "glob", "contains", "is_in", "collating", "as", "desc",
    "cast", "length", "upper", "sum", "over", "json", "where",
  }, "an expression")
end)

test("prepared requests and records from SQL check their receiver", function()
  local prepared = Book:filter("id = :id"):prepare()
  check(prepared, { "fetch_all", "fetch_one", "fetch_count", "rows", "exists", "delete_all" }, "a prepared request")
  equal(prepared:fetch_one{ id = 1 }.title, "Typee")
  matches(fails("unknown_method", function() prepared:update_all{} end), "fetch_all")
  check(Book:from_sql("SELECT * FROM book"), { "fetch_all", "fetch_one", "fetch_count", "rows" }, "records from SQL")
end)

test("records check their receiver", function()
  local typee = Book:find(1)
  for _, name in ipairs{ "copy", "inserted", "invalid", "changes", "has_changes" } do
    matches(fails("argument", typee[name]), name .. ": expected a record before the colon (record:" .. name .. "(...)), got nil")
  end
  for _, name in ipairs{ "save", "insert", "update", "delete", "exists", "upsert", "refresh" } do
    matches(fails("argument", typee[name]),
      ("%s: expected a record (record:%s(...)) or its class (Class:%s(...)) before the colon, got nil"):format(name, name, name))
  end
end)
