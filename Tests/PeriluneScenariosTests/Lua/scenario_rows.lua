-- Text tables, and rows that are compared with them.

local function shop()
  db:execute[[
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT);
    CREATE TABLE invoices (
      id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), number TEXT NOT NULL UNIQUE,
      status TEXT NOT NULL DEFAULT 'draft', total REAL, is_paid BOOLEAN NOT NULL DEFAULT FALSE, sent_at DATETIME);
    INSERT INTO customers VALUES (1, 'Ada', 'ada@example.org'), (2, 'Plato', NULL);
    INSERT INTO invoices VALUES (1, 1, '1', 'draft', 2.5, FALSE, NULL), (2, 1, '2', 'sent', NULL, TRUE, '2026-03-31 18:00:00.000'),
      (3, 2, '3', 'draft', 10, FALSE, NULL);]]
end

local function read(text)
  language()
  return library("scenarios.tables.text_table").read("rows", text)
end

test("a text table has headings and cells, trimmed", function()
  local parsed = read("\n  | id | name |\n  |----|:---:|\n\n  -- a comment\n  | 1 |  Ada Lovelace  |\r\n | 2|~|\n")
  equal(parsed.names, { "id", "name" })
  equal(#parsed.rows, 2)
  equal(parsed.rows[1][2], { kind = "bare", text = "Ada Lovelace", raw = "Ada Lovelace" })
  equal(parsed.rows[2][2].kind, "null")
end)

test("a first row of empty cells or single dashes is a row, and not a separator", function()
  equal(#read("| a | b |\n| - | - |").rows, 1)
  equal(#read("| a | b |\n|  |  |").rows, 1)
  equal(#read("| a | b |\n| --- | - |").rows, 1)
  equal(#read("| a | b |\n| --- | :-: |\n| 1 | 2 |").rows, 1)
end)

test("cells of a text table have types", function()
  local parsed = read([[
    | a | b | c    | d   | e       | f        | g | h |
    | ~ | * | @ada | now | x'00ff' | "a | \"b\"\n\x41" |   | ... |]])
  local kinds, texts = {}, {}
  for index, cell in ipairs(parsed.rows[1]) do kinds[index], texts[index] = cell.kind, cell.text end
  equal(kinds, { "null", "any", "name", "now", "blob", "text", "empty" })
  equal(texts[3], "ada")
  equal(texts[5], "\0\xff")
  equal(texts[6], 'a | "b"\nA')
end)

test("mistakes in a text table are reported with their line", function()
  language()
  local function mistake(text, part) matches(fails("text_table", read, text), part) end
  mistake("", "has no row of headings")
  mistake("| a | b |\n| 1 |", "row 1 of the text table has 1 cell, and the heading 2")
  mistake("| a |\n| 1 | 2 |", "row 1 of the text table has 2 cells, and the heading 1")
  mistake("| a |\n| 1", "line 2 of the text table: expected | cell | cell |, got | 1")
  mistake("| a | ...\n| 1 | ... |", "got | a | ...; `...` is a cell, too: end the line with `|`")
  mistake("| a |\n| \"1 |", "unterminated quote")
  mistake("| a | a |", "the heading `a` twice")
  mistake("| a |  |", "heading 2 of the text table is empty")
  mistake("| a | b |\n| ... | 1 |", "`...` can only be the last cell")
  mistake('| a |\n| "\\q" |', "an invalid escape: \\q")
  fails("argument", read, 7)
end)

test("expected rows are compared in order, with types from the actual values", function()
  shop()
  passes([=[
    expect(t.db:fetch_all("SELECT * FROM invoices ORDER BY id")):rows [[
      | id | number | total | is_paid | sent_at             |
      | 1  | 1      | 2.5   | false   | ~                   |
      | 2  | "2"    | ~     | true    | 2026-03-31 18:00:00 |
      | 3  | *      | 10    | 0       | ~                   |
    ]]
    expect(t.db.invoices):rows [[
      | id | sent_at              |
      | 1  | ~                    |
      | 2  | 2026-03-31T18:00:00Z |
      | 3  | ...                  |
    ]]]=])
end)

test("requests, classes, records and plain tables can be compared as rows", function()
  shop()
  passes([=[
    expect(t.db.customers:filter { name = "Ada" }):rows "| id |\n| 1 |"
    expect(t.db.customers):rows "| id | email |\n| 1 | ada@example.org |\n| 2 | ~ |"
    expect(t.db.customers:fetch_one(2)):rows "| name |\n| Plato |"
    expect({ { a = 1 }, { a = 2, b = "x" } }):rows "| a | b |\n| 1 | ~ |\n| 2 | x |"
    expect({}):rows "| whatever |"]=])
end)

test("an infinite number is written in a cell like in a failure", function()
  passes([[expect(t.db:fetch_all("SELECT 9e999 AS a, -9e999 AS b")):rows "| a | b |\n| inf | -inf |"]])
end)

test("quotes in a cell force text", function()
  passes("expect({ { a = '1' } }):rows '| a |\\n| \"1\" |'")
  local found = failure("expect({ { a = 1 } }):rows '| a |\\n| \"1\" |'")
  equal(found.details, { "  a", '! 1     a: expected "1"' })
end)

test("a failure shows the fraction of a time if quoted text differs only by it", function()
  shop()
  local found = failure([=[
    expect(t.db:fetch_all("SELECT sent_at FROM invoices WHERE id = 2")):rows '| sent_at |\n| "2026-03-31 18:00:00" |']=])
  equal(found.details, { "  sent_at", '! 2026-03-31 18:00:00.000     sent_at: expected "2026-03-31 18:00:00"' })
end)

test("a failure shows the rows and marks the different ones", function()
  shop()
  local found = failure([=[
    expect(t.db:fetch_all("SELECT * FROM customers ORDER BY id")):rows [[
      | id | name      |
      | 1  | Ada       |
      | 2  | Aristotle |
      | 3  | Sappho    |
    ]]]=])
  equal(found.message, 'expect(t.db:fetch_all("SELECT * FROM customers ORDER BY id")):rows')
  equal(found.details, {
    "  id  name", "  1   Ada", "! 2   Plato      name: expected Aristotle", "+ 3   Sappho     missing",
  })
end)

test("if a row is added in the middle, only this row is marked", function()
  local found = failure([=[
    expect({ { a = 1 }, { a = 9 }, { a = 2 }, { a = 3 } }):rows "| a |\n| 1 |\n| 2 |\n| 3 |"]=])
  equal(found.details, { "  a", "  1", "- 9     unexpected", "  2", "  3" })
end)

test("a failure mentions rows in a different order", function()
  local found = failure('expect({ { a = 2 }, { a = 1 } }):rows "| a |\\n| 1 |\\n| 2 |"')
  equal(found.details[#found.details], "  the rows are in another order; use rows_any_order to ignore it")
end)

test("a failure reports that the search for the rows of names was incomplete", function()
  local found = failure([=[
    local rows, lines = {}, { "| a | b |" }
    for a = 1, 6 do
      for b = 1, 6 do
        rows[#rows + 1] = { a = a, b = a + b == 12 and 7 or b }
        lines[#lines + 1] = "| @x" .. a .. " | @y" .. b .. " |"
      end
    end
    expect(rows):rows_any_order(table.concat(lines, "\n"))]=])
  matches(found.details[#found.details], "not all of them were tried")
end)

test("if there are many rows, a failure shows the different ones and their neighbors", function()
  local found = failure([=[
    local rows, lines = {}, { "| a |" }
    for index = 1, 40 do rows[index], lines[index + 1] = { a = index }, "| " .. index .. " |" end
    rows[20].a = 0
    expect(rows):rows(table.concat(lines, "\n"))]=])
  equal(found.details, { "  a", "  ... 17 rows", "  18", "  19", "! 0      a: expected 20", "  21", "  22", "  ... 18 rows" })
end)

test("many different rows are compared side by side", function()
  local found = failure([=[
    local rows, lines = {}, { "| a |" }
    for index = 1, 600 do rows[index], lines[index + 1] = { a = index }, "| " .. index + (index % 2) .. " |" end
    rows[601] = { a = 7 }
    expect(rows):rows(table.concat(lines, "\n"))]=])
  equal(#found.details, 102)
  equal({ found.details[2], found.details[3], found.details[102] }, { "! 1       a: expected 2", "  2", "  ... and more, of 601 rows" })
end)

test("rows_any_order matches rows one to one, even if a line fits several rows", function()
  passes([=[
    expect({ { a = 1, b = 1 }, { a = 1, b = 2 } }):rows_any_order "| a | b |\n| 1 | * |\n| 1 | 1 |"
    expect({ { a = 1 }, { a = 1 }, { a = 2 } }):rows_any_order "| a |\n| 2 |\n| 1 |\n| 1 |"]=])
  local found = failure('expect({ { a = 1 }, { a = 1 } }):rows_any_order "| a |\\n| 1 |\\n| 2 |"')
  equal(found.details, { "  a", "  1", "! 1     a: expected 2" })
end)

test("has_rows looks for rows among others", function()
  passes('expect({ { a = 1 }, { a = 2 } }):has_rows "| a |\\n| 2 |"')
  local found = failure('expect({ { a = 1 }, { a = 2 } }):has_rows "| a |\\n| 3 |"')
  equal(found.message, "expect({ { a = 1 }, { a = 2 } }):has_rows")
  equal(found.details, { "  a", "+ 3     missing", "  1", "  2" })
  equal(failure('expect({ { a = 1 } }):has_rows "| a |\\n| 3 |"').details, { "  a", "+ 3     missing", "  1" })
end)

test("a name represents the same value in every cell", function()
  passes('expect({ { a = 7, b = 7 }, { a = 8, b = 7 } }):rows "| a | b |\\n| @x | @x |\\n| @y | @x |"')
  local found = failure('expect({ { a = 7 }, { a = 8 } }):rows "| a |\\n| @x |\\n| @x |"')
  equal(found.details, { "  a", "  7", "! 8     a: expected @x (7)" })
end)

test("rows_any_order assigns rows to lines with one value for each name", function()
  passes([=[
    expect({ { a = 1, b = 7 }, { a = 2, b = 8 }, { a = 2, b = 7 } }):rows_any_order "| a | b |\n| 1 | @x |\n| 2 | @x |\n| * | 8 |"
    expect({ { a = 1, b = 8 }, { a = 1, b = 7 }, { a = 2, b = 7 } }):has_rows "| a | b |\n| 1 | @x |\n| 2 | @x |"
    expect({ { a = 1 }, { a = 2 }, { a = 1 } }):rows_any_order "| a |\n| @y |\n| * |\n| @y |"
    local rows, lines = {}, { "| a | b |" }
    for index = 1, 30 do rows[index], lines[index + 1] = { a = index, b = index % 7 }, "| @a" .. index .. " | * |" end
    lines[31] = "| 1 | * |"
    expect(rows):rows_any_order(table.concat(lines, "\n"))]=])
  equal(failure('expect({ { a = 7 }, { a = 8 } }):rows_any_order "| a |\\n| @x |\\n| @x |"').details,
    { "  a", "  7", "! 8     a: expected @x (7)" })
end)

test("a cell with `now` is the time of the scenario's clock", function()
  passes([=[
    local now = perilune.now()
    perilune.now = function() return now end
    expect({ { a = now, b = tostring(now), c = math.floor(now.unix), d = now:format("%Y-%m-%d") } }):rows "| a | b | c | d |\n| now | now | now | now |"]=])
  matches(failure('expect({ { a = "2000-01-01 00:00:00" } }):rows "| a |\\n| now |"').details[2], "a: expected now (20")
end)

test("an unknown heading in a text table is an error with the nearest column", function()
  shop()
  local found = failure('expect(t.db.invoices):rows "| id | numbr |"')
  equal(found.kind, "unknown_column")
  matches(found.message, "no column `numbr`; did you mean `number`?")
end)

test("an empty cell in expected rows is an error", function()
  matches(failure('expect({ { a = 1, b = 2 } }):rows "| a | b |\\n| 1 | |"').message, "row 1 of the text table: column `b` is empty; use ~")
end)

test("a value that is not a list of rows is an error", function()
  matches(failure('expect(7):rows "| a |"').message, "rows: expected rows (a list, a request, changes), got the integer 7")
  matches(failure('expect({ x = 1 }):rows "| a |"').message, "got { x = 1 }")
  matches(failure('expect({ 1 }):rows "| a |"').message, "got the integer 1 at position 1")
  matches(failure('expect("SELECT 1"):rows "| a |"').message, "use expect(t.db:fetch_all(sql)) for SQL")
end)

test("failures of count and is_empty show the existing rows", function()
  shop()
  passes("expect(t.db.customers):count(2)\nexpect(t.db.customers:filter { id = 9 }):is_empty()")
  equal(failure("expect(t.db:fetch_all('SELECT id FROM customers')):count(1)").details, { "expected 1, got 2", "  id", "  1", "  2" })
  equal(failure("expect(t.db:fetch_all('SELECT id FROM customers')):is_empty()").details, { "it has 2", "  id", "  1", "  2" })
end)

local function change(op, name, key, before, after, changed)
  local columns = { "id", "status", "sent_at" }
  return { op = op, table = name, key = { key }, key_columns = { "id" }, columns = columns, changed = changed, before = before, after = after }
end

local function changed(list)
  return { begin_changes = function() return 1 end, end_changes = function(number) return number == 1 and list end }
end

test("changes are compared as rows with op, table, key, and before -> after", function()
  local host = changed{
    change("insert", "invoices", 3, nil, { id = 3, status = "draft" }),
    change("update", "invoices", 1, { id = 1, status = "draft" }, { id = 1, status = "sent", sent_at = "x" }, { "status", "sent_at" }),
    change("delete", "invoices", 2, { id = 2, status = "paid" }, nil),
  }
  passes([=[
    local changes = t.changes(function() end)
    expect(changes):rows_any_order [[
      | op     | table    | key | status        | sent_at |
      | update | invoices | 1   | draft -> sent | ~ -> *  |
      | insert | invoices | 3   | draft         | ~       |
      | delete | *        | 2   | paid          | ...     |
    ]]
    expect(changes):count(3)
    expect(changes):has_rows "| op | status |\n| update | sent |"
    expect(changes):has_rows "| op | status |\n| insert | ~ -> draft |\n| delete | paid -> ~ |"
    expect.no(changes):has_rows "| op | status |\n| insert | draft -> ~ |"]=], host)
  local found = failure([=[
    expect(t.changes(function() end)):rows_any_order [[
      | op     | key | status        | sent_at |
      | update | 1   | draft -> paid |         |
      | insert | 3   | draft         | ~       |
    ]]]=], host)
  equal(found.details, {
    "  op      key  status         sent_at", "  insert  3    draft          ~",
    "! update  1    draft -> sent  ~ -> x      status: expected draft -> paid; sent_at: expected no change; use ~ for NULL",
    "- delete  2    paid           ~           unexpected",
  })
end)

test("an empty cell of an inserted or deleted row among changes is an error", function()
  local host = changed{ change("insert", "invoices", 3, nil, { id = 3, status = "draft" }) }
  local expected = "row 1 of the text table: column `status` is empty; use ~"
  matches(failure('expect(t.changes(function() end)):rows "| op | status |\\n| insert | |"', host).message, expected)
  matches(failure('expect(t.changes(function() end)):rows "| op | status |\\n| delete | |"', host).message, expected)
  passes('expect(t.changes(function() end)):rows "| op | table |\\n| insert | |"', host)
end)

test("an empty cell among changes matches a column that the table of the row does not have", function()
  local list = {
    change("insert", "invoices", 3, nil, { id = 3, status = "draft" }),
    { op = "insert", table = "customers", key = { 1 }, columns = { "id", "name" }, after = { id = 1, name = "Ada" } },
  }
  passes([=[
    expect(t.changes(function() end)):rows [[
      | op     | table     | status | name |
      | insert | invoices  | draft  |      |
      | insert | customers |        | Ada  |
    ]]
    expect(t.changes(function() end)):rows [[
      | op     | table     | status | name |
      | insert | invoices  | draft  | ~    |
      | insert | customers | ~      | Ada  |
    ]]]=], changed(list))
  local text = 'expect(t.changes(function() end)):has_rows "| op | table | status | name |\\n| insert | %s | | |"'
  matches(failure(text:format("invoices"), changed(list)).message, "column `status` is empty; use ~")
  matches(failure(text:format("customers"), changed(list)).message, "column `name` is empty; use ~")
end)

test("changes are printed with a line for each", function()
  local host = changed{
    change("insert", "invoices", 3, nil, { id = 3, status = "draft" }),
    change("update", "invoices", 1, { id = 1, status = "draft" }, { id = 1, status = "sent" }, { "status" }),
  }
  passes([[check(tostring(t.changes(function() end)) ==
    "insert invoices 3  id: 3, status: draft, sent_at: ~\nupdate invoices 1  status: draft -> sent")]], host)
  passes("check(tostring(t.changes(function() end)) == 'no changes')", changed{})
end)

test("an empty cell in expected changes means an unchanged column", function()
  local host = changed{ change("update", "invoices", 1, { id = 1, status = "draft" }, { id = 1, status = "sent" }, { "status" }) }
  passes('expect(t.changes(function() end)):rows "| key | status | sent_at |\\n| 1 | draft -> sent | |"', host)
end)

test("changes in tables without a key do not count as no changes", function()
  local host = changed{ unrecorded = { "log: it has no PRIMARY KEY", "g: it has generated columns" } }
  matches(failure("expect(t.changes(function() end)):is_empty()", host).message,
    "changes: changed rows cannot be listed: log: it has no PRIMARY KEY; g: it has generated columns")
  passes("check(tostring(t.changes(function() end)) ~= 'no changes')", host)
end)

test("headings are checked in comparisons with an empty result", function()
  shop()
  matches(failure('expect(t.db.customers:filter{ id = 9 }):rows "| idd |"').message, "no column `idd`; did you mean `id`?")
  matches(failure('expect.no(t.db.customers:filter{ id = 9 }):has_rows "| naame |\\n| x |"').message, "no column `naame`; did you mean `name`?")
  matches(failure('expect(t.db.customers:filter{ id = 9 }:select("id")):rows "| name |"').message, "no column `name`. Available: id")
  matches(failure('expect.no(t.changes(function() end)):has_rows "| op | tabel |\\n| insert | x |"', changed{}).message, "no column `tabel`; did you mean `table`?")
  passes('expect.no(t.changes(function() end)):has_rows "| op | status |\\n| insert | x |"', changed{})
  passes([[expect(t.db.customers:filter{ id = 9 }:annotated_with(t.db.customers.c.name:length():as("size"))):rows "| id | size |"]])
  passes([[t.db.invoices.customer = t.db.invoices:belongs_to(t.db.customers)
    expect(t.db.invoices:filter{ id = 9 }:including_required(t.db.invoices.customer)):rows "| id | customer |"]])
end)

test("a heading may end with `...`, above an empty cell or `...`", function()
  for _, row in ipairs{ "| 1 |", "| 1 | |", "| 1 | ... |" } do equal(#read("| a | ... |\n" .. row).rows[1], 1) end
end)

test("a row with too many cells explains quotes", function()
  matches(fails("text_table", read, "| a |\n| a|b |"), 'a cell that contains | needs quotes, as in "a|b"')
end)

test("words for NULL of other languages are explained", function()
  for _, word in ipairs{ "NULL", "null", "nil", "None" } do
    matches(failure(('expect({ { a = 1 } }):rows "| a |\\n| %s |"'):format(word)).details[2], word .. " (a text; ~ is NULL)")
  end
end)
