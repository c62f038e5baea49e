--- Columns of dates: DATE holds days, DATETIME and TIMESTAMP hold instants. Conditions, keys, groups and pages are compared with numbers
-- that this file computes without the library.

local date = perilune.date

--- Returns the year, month and day of a number of days since 1970.
local function civil(days)
  local year, rest = 1970, days
  local function length(of) return (of % 4 == 0 and of % 100 ~= 0 or of % 400 == 0) and 366 or 365 end
  while rest >= length(year) do rest, year = rest - length(year), year + 1 end
  for month, count in ipairs{ 31, length(year) - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 } do
    if rest < count then return year, month, rest + 1 end
    rest = rest - count
  end
end

local milliseconds_of_day = 86400000

local function day_text(moment) return ("%04d-%02d-%02d"):format(civil(moment // milliseconds_of_day)) end

--- Returns an instant, in milliseconds since 1970, as the text that records write.
local function full_text(moment)
  local rest = moment % milliseconds_of_day
  return day_text(moment) .. (" %02d:%02d:%02d.%03d"):format(rest // 3600000, rest // 60000 % 60, rest // 1000 % 60, rest % 1000)
end

--- Returns the texts of an instant without some of the zeros at the end.
local function spellings(moment)
  local list, text = { full_text(moment) }, full_text(moment)
  for _, zeros in ipairs{ "%.000$", ":00$", " 00:00$" } do
    if not text:find(zeros) then break end
    text = text:gsub(zeros, "")
    list[#list + 1] = text
  end
  return list
end

--- Instants around the end of February in a leap year and around the end of a year.
local first_days = { 11014, 11320, 20512 }

local function random_moment(random, pick)
  local moment = (pick(first_days) + random(4)) * milliseconds_of_day
  if random(3) == 1 then return moment end
  moment = moment + pick{ 0, 1, 12, 23 } * 3600000 + pick{ 0, 30 } * 60000
  if random(2) == 1 then moment = moment + pick{ 0, 5 } * 1000 + pick{ 0, 0, 1, 999 } end
  return moment
end

--- Returns an instant in a random form that scripts may use.
local function as_value(random, pick, moment)
  local form = random(4)
  if form == 1 then return pick(spellings(moment)) end
  if form == 2 then return (full_text(moment):gsub(" ", "T") .. "Z") end
  return date(full_text(moment))
end

--- Fills a table: `day DATE`, `at DATETIME`, and `full DATE`, which the class keeps in full. Returns the class and the moments by id.
local function fill(random, pick, count)
  db:execute[[
    DROP TABLE IF EXISTS e;
    CREATE TABLE e (id INTEGER PRIMARY KEY, day DATE, at DATETIME, full DATE);
    CREATE INDEX e_day ON e (day);
    CREATE INDEX e_at ON e (at)]]
  local E, moments = perilune.record("e", { types = { full = "datetime" } }), {}
  for id = 1, count do
    local moment = random(10) > 1 and random_moment(random, pick) or nil
    moments[id] = moment or false
    if moment and random(2) == 1 then
      local value = date(full_text(moment))
      if random(2) == 1 then E:insert{ id = id, day = value, at = value, full = value }
      else E:insert_all{ { id = id, day = value, at = value, full = value } } end
    else
      local texts = moment and spellings(moment)
      local day = moment and pick{ day_text(moment), full_text(moment), (full_text(moment):gsub(" ", "T")) }
      db:execute("INSERT INTO e VALUES (?, ?, ?, ?)", id, day, texts and pick(texts), texts and pick(texts))
    end
  end
  return E, moments
end

--- The comparison of each column: DATE columns compare days, the others milliseconds.
local units = { day = milliseconds_of_day, at = 1, full = 1 }

local tests = {
  eq = function(a, b) return a == b end, ne = function(a, b) return a ~= b end, lt = function(a, b) return a < b end,
  le = function(a, b) return a <= b end, gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
}
local names = { "eq", "ne", "lt", "le", "gt", "ge" }
local mirrored = { eq = "eq", ne = "ne", lt = "gt", le = "ge", gt = "lt", ge = "le" }

test("records store days in DATE columns and instants in other date columns", function()
  local random, pick = random_numbers(11)
  local E = fill(random, pick, 0)
  for id = 1, rounds(300) do
    local moment = random_moment(random, pick)
    local value = as_value(random, pick, moment)
    local way = random(5)
    local record = E{ id = id, day = value, at = value, full = value }
    if way == 1 then record:insert() elseif way == 2 then record:save() elseif way == 3 then record:upsert()
    elseif way == 4 then E:insert_all{ record }
    else
      E:insert{ id = id }
      E:filter_key(id):update_all{ day = value, at = value, full = value }
    end
    equal({ db:fetch_one("SELECT day, at, full FROM e WHERE id = ?", id):unpack() },
      { day_text(moment), full_text(moment), full_text(moment) })
    local found = E:find(id)
    equal(tostring(found.day), day_text(moment) .. " 00:00:00.000")
    equal(tostring(found.at), full_text(moment))
    equal(found:has_changes(), false)
    if way < 4 then equal({ record.day == found.day, record.at == found.at, record:has_changes() }, { true, true, false }) end
  end
end)

test("comparisons with a date compare instants, not texts", function()
  local random, pick = random_numbers(12)
  for _ = 1, rounds(15) do
    local E, moments = fill(random, pick, 60)
    for _ = 1, 100 do
      local column, name, moment = pick{ "day", "at", "full" }, pick(names), random_moment(random, pick)
      local value, c, unit = as_value(random, pick, moment), E.c[column], units[column]
      local form, condition = random(5), nil
      if form == 1 and name == "eq" then condition = { [column] = value }
      elseif form == 2 then
        value = date(full_text(moment))
        condition = perilune.value(value)[mirrored[name]](perilune.value(value), c)
      elseif form == 3 then condition = perilune.sql("1"):eq(1) & c[name](c, value)
      else condition = c[name](c, value) end
      local wanted = {}
      for id, other in ipairs(moments) do
        if other and tests[name](other // unit, moment // unit) then wanted[#wanted + 1] = id end
      end
      equal(E:filter(condition):order("id"):pluck("id"), wanted)
      if name ~= "ne" then equal(E:filter(condition):filter(~perilune.sql("0")):fetch_count(), #wanted) end
      equal(E:filter(~c[name](c, value)):filter(c:is_not_null()):fetch_count(), E:filter(c:is_not_null()):fetch_count() - #wanted)
      local prepared = E:filter(c[name](c, perilune.parameter "x")):prepare()
      equal(prepared:fetch_count{ x = value }, #wanted)
    end
  end
end)

test("lists and ranges of dates compare instants, not texts", function()
  local random, pick = random_numbers(13)
  for _ = 1, rounds(10) do
    local E, moments = fill(random, pick, 60)
    for _ = 1, 60 do
      local column, list, set = pick{ "day", "at", "full" }, {}, {}
      local c, unit = E.c[column], units[column]
      for index = 1, pick{ 1, 2, 5, 16, 17, 40 } do
        local moment = random_moment(random, pick)
        list[index], set[moment // unit] = as_value(random, pick, moment), true
      end
      local among, not_among, between = {}, {}, {}
      local low, high = random_moment(random, pick), random_moment(random, pick)
      for id, moment in ipairs(moments) do
        if moment then
          table.insert(set[moment // unit] and among or not_among, id)
          if moment // unit >= low // unit and moment // unit <= high // unit then between[#between + 1] = id end
        end
      end
      equal(E:filter(c:is_in(list)):order("id"):pluck("id"), among)
      equal(E:filter{ [column] = list }:order("id"):pluck("id"), among)
      equal(E:filter(c:is_not_in(list)):order("id"):pluck("id"), not_among)
      low, high = as_value(random, pick, low), as_value(random, pick, high)
      equal(E:filter(c:between(low, high)):order("id"):pluck("id"), between)
      equal(E:filter(c:between(perilune.parameter "a", perilune.parameter "b")):order("id"):prepare():fetch_count{ a = low, b = high }, #between)
      local first = random_moment(random, pick)
      local value, count = as_value(random, pick, first), 0
      for _, moment in ipairs(moments) do if moment and moment // unit == first // unit then count = count + 1 end end
      equal(E:filter(c:is(value)):fetch_count(), count)
      equal(E:filter(c:is_not(value)):fetch_count(), #moments - count)
    end
  end
end)

test("date keys find their rows in every stored format", function()
  local random, pick = random_numbers(14)
  for _ = 1, rounds(100) do
    local declared = pick{ "DATE", "DATETIME" }
    local unit = declared == "DATE" and milliseconds_of_day or 1
    db:execute("DROP TABLE IF EXISTS k; CREATE TABLE k (at " .. declared .. " PRIMARY KEY, other " .. declared .. " UNIQUE, n INTEGER)")
    local K, by_key = perilune.record "k", {}
    for n = 1, 8 do
      local moment = random_moment(random, pick)
      if not by_key[moment // unit] then
        by_key[moment // unit] = n
        local text = pick(declared == "DATE" and { day_text(moment), full_text(moment) } or spellings(moment))
        if random(2) == 1 then db:execute("INSERT INTO k VALUES (?, ?, ?)", text, text, n)
        else K:insert{ at = full_text(moment), other = full_text(moment), n = n } end
      end
    end
    for _ = 1, 8 do
      local moment = random_moment(random, pick)
      local n, value = by_key[moment // unit], as_value(random, pick, moment)
      local function n_of(record) return record and record.n end
      equal(n_of(K:fetch_one(value)), n)
      equal(n_of(K:fetch_one{ at = value }), n)
      equal(n_of(K:fetch_one{ other = value }), n)
      equal(n_of(K:filter_key(value):fetch_one()), n)
      equal(n_of(K:filter_key{ value }:fetch_one()), n)
      equal(K{ at = value }:exists(), n ~= nil)
      if n then
        K{ at = value, n = n }:update_changes{ n = n }
        K:find(value):update_changes{ n = n }
        K:upsert{ at = value, n = n }
        K:upsert({ other = value, n = n }, { target = "other" })
        K:upsert_all({ { other = value, n = n } }, { target = "other" })
        K:upsert_all{ { at = value, n = n } }
        equal(n_of(K:find_or_insert{ other = value }), n)
        equal(db:fetch_value "SELECT count(*) FROM k WHERE n IS NULL", 0)
      end
    end
    local count = 0
    for _ in pairs(by_key) do count = count + 1 end
    equal(K:fetch_count(), count)
  end
end)

test("pages ordered by dates contain every row once, in order", function()
  local random, pick = random_numbers(15)
  for _ = 1, rounds(20) do
    local E, moments = fill(random, pick, 40)
    local column = pick{ "at", "full" }
    local request, cursor, seen, last = E:filter(E.c[column]:is_not_null()):order(column), nil, 0, nil
    repeat
      local page = request:page_after(cursor, 7)
      for _, record in ipairs(page.records) do
        local moment = moments[record.id]
        equal(last == nil or last <= moment, true)
        seen, last = seen + 1, moment
      end
      cursor = page.next
    until not cursor
    equal(seen, request:fetch_count())
  end
end)

test("columns that are given by name are compared with dates, too", function()
  local random, pick = random_numbers(23)
  local column = perilune.column
  for _ = 1, rounds(10) do
    local E = fill(random, pick, 60)
    for _ = 1, 60 do
      local name, verb = pick{ "day", "at", "full" }, pick(names)
      local value, other = as_value(random, pick, random_moment(random, pick)), as_value(random, pick, random_moment(random, pick))
      local function conditions(c)
        return { c[verb](c, value), c:between(value, other), c:is_in{ value, other }, ~c[verb](c, value) | c:eq(other), c:eq(value) & column("id"):gt(20),
          perilune.value(date(value)):le(c) }
      end
      local typed = conditions(E.c[name])
      for index, condition in ipairs(conditions(column(name))) do
        equal(E:filter(condition):order("id"):pluck("id"), E:filter(typed[index]):order("id"):pluck("id"))
        equal(E:group("id"):having(condition):select("id"):fetch_count(), E:filter(typed[index]):fetch_count())
      end
    end
    local all = column("id"):eq(0)
    for id = 1, 2000 do all = all | column("id"):eq(id) end
    equal(E:filter(all):fetch_count(), 60)
  end
end)

test("conditions on dates use an index", function()
  local E = fill(random_numbers(16), function(list) return list[1] end, 0)
  local days = {}
  for index = 1, 30 do days[index] = date("2026-03-01"):add{ days = index } end
  for _, condition in ipairs{
    E.c.day:eq(date "2026-03-31"), E.c.day:le(date "2026-03-31"), E.c.day:is_in(days), E.c.day:is_in{ days[1], days[2] },
    E.c.at:eq(date "2026-03-31"), E.c.at:ge(date "2026-03-31"), E.c.at:is_in(days),
  } do
    local text = ""
    for _, step in ipairs(E:filter(condition):explain()) do text = text .. step.detail .. "\n" end
    equal(text:find "SCAN e", nil)
  end
end)

test("a condition on a DATE column compares whole days", function()
  local E = fill(random_numbers(17), function(list) return list[1] end, 0)
  local sql = E:filter(E.c.day:le(date "2026-03-31 17:00")):sql()
  equal(sql, [[SELECT * FROM "e" WHERE "e"."day" < ?]])
  equal(select(2, E:filter(E.c.day:le(date "2026-03-31 17:00")):sql())[1], "2026-04-01")
  equal(select(2, E:filter(E.c.day:gt(date "9999-12-31")):sql())[1], "9999-12-32")
  equal(tostring(E:filter{ at = "2026-03-01 10:00:05" }),
    [[SELECT * FROM "e" WHERE "e"."at" IN ('2026-03-01 10:00:05.000', '2026-03-01 10:00:05')]])
  equal(tostring(E:filter{ at = "2026-03-01 10:00:05.5" }), [[SELECT * FROM "e" WHERE "e"."at" = '2026-03-01 10:00:05.500']])
end)

test("values that are not dates are compared without conversion", function()
  local E = fill(random_numbers(18), function(list) return list[1] end, 0)
  db:execute "INSERT INTO e (id, day, at) VALUES (1, 'soon', 'soon'), (2, '2026-03-31', '2026-03-31'), (3, 7, 7)"
  for _, column in ipairs{ "day", "at" } do
    local c = E.c[column]
    equal(E:filter{ [column] = "soon" }:pluck("id"), { 1 })
    equal(E:filter{ [column] = "soon" }:pluck("id"), { 1 })
    equal(E:filter{ [column] = date "2026-03-31" }:pluck("id"), { 2 })
    equal(E:filter(c:is_in{ "soon", date "2026-03-31", 7 }):order("id"):pluck("id"), { 1, 2, 3 })
    equal(E:filter(c:ge("2026-03") & c:lt("2026-04")):pluck("id"), { 2 })
    equal(E:filter(c:eq(7)):pluck("id"), { 3 })
    equal(E:filter(c:like("2026-%")):pluck("id"), { 2 })
    equal(E:filter(column .. " = ?", "2026-03-31"):pluck("id"), { 2 })
  end
  fails("conversion", function() E:filter{ full = "soon" } end)
end)

test("groups and aggregates of dates compare instants", function()
  local E = fill(random_numbers(19), function(list) return list[1] end, 0)
  db:execute[[INSERT INTO e (id, day, at) VALUES (1, '2026-03-30', '2026-03-30 10:00:00'), (2, '2026-03-31 10:00:00.000', '2026-03-30 10:00:00.000')]]
  local latest = E.c.day:max()
  equal(E:select(latest:as("latest")):having(latest:le(date "2026-03-31")):group(perilune.sql("1 + 1")):fetch_count(), 1)
  equal(E:group("id"):having(E.c.at:max():eq(date "2026-03-30 10:00")):select("id"):order("id"):fetch_values(), { 1, 2 })
  equal(E:group("id"):having(E.c.day:max():lt(date "2026-03-31")):select("id"):fetch_values(), { 1 })
end)

test("rows with the same date form one group, even if their texts differ", function()
  local random, pick = random_numbers(22)
  for _ = 1, rounds(20) do
    local E, moments = fill(random, pick, 50)
    for _, column in ipairs{ "day", "at", "full" } do
      local counts = {}
      for _, moment in ipairs(moments) do
        local key = moment and (column == "day" and day_text(moment) or full_text(moment)) or "none"
        counts[key] = (counts[key] or 0) + 1
      end
      local found = {}
      for _, row in ipairs(E:select(column, perilune.count():as("count")):group(column):fetch_all()) do
        local key = row[column] and row[column]:format(column == "day" and "YMD" or "YMD_HMSS") or "none"
        equal(found[key], nil)
        found[key] = row.count
      end
      equal(found, counts)
    end
  end
end)

test("dates in column defaults and CASE expressions have the stored text format", function()
  db:create_table("d", function(t)
    t:primary_key("id", "integer")
    t:column("day", "date"):default(date "2026-03-31 10:00")
    t:column("at", "datetime"):default(date "2026-03-31 10:00")
    t:column("due", "date")
  end)
  local D = perilune.record "d"
  local made = D:insert{ id = 1 }
  equal(db:fetch_one("SELECT day, at FROM d"):to_table(), { day = "2026-03-31", at = "2026-03-31 10:00:00.000" })
  equal({ tostring(made.day), tostring(made.at) }, { "2026-03-31 00:00:00.000", "2026-03-31 10:00:00.000" })
  local c = D.c
  equal(D:select(c.due:coalesce(date "2026-04-01 08:00"):as("due")):fetch_value(), "2026-04-01")
  equal(D:select(c.day:nullif(date "2026-03-31 08:00")):fetch_optional_values(), { perilune.null })
  equal(D:select(c.due:coalesce(c.day):as("due")):fetch_value(), "2026-03-31")
end)

test("a record that is built from a request with a date condition gets that date", function()
  local E = fill(random_numbers(20), function(list) return list[1] end, 0)
  db:execute "CREATE TABLE owner (id INTEGER PRIMARY KEY); INSERT INTO owner VALUES (1); ALTER TABLE e ADD COLUMN owner_id INTEGER REFERENCES owner"
  local Owner = perilune.record "owner"
  Owner.es = Owner:has_many(E):filter{ day = date "2026-03-31 17:00" }
  local today = Owner:find(1):es()
  local made = today:insert{ at = "2026-03-31 17:00" }
  equal(tostring(made.day), "2026-03-31 00:00:00.000")
  equal(today:fetch_count(), 1)
  equal({ today:find_or_insert{ at = date "2026-03-31 17:00" }.id, today:fetch_count() }, { made.id, 1 })
end)

test("assigning another time of the same day to a DATE column is not a change", function()
  local E = fill(random_numbers(21), function(list) return list[1] end, 0)
  local record = E:insert{ id = 1, day = date "2026-03-31" }
  record.day = date "2026-03-31 18:00"
  equal(record:has_changes(), false)
  record.day = date "2026-04-01 00:30"
  equal(record:has_changes(), true)
  record:update()
  equal(db:fetch_value "SELECT day FROM e", "2026-04-01")
  db:execute "UPDATE e SET day = '2026-03-31 18:00:00.000'"
  record = E:find(1)
  equal(tostring(record.day), "2026-03-31 18:00:00.000")
  equal(record:has_changes(), false)
  record:update_changes{ at = "2026-03-31" }
  equal(db:fetch_value "SELECT day FROM e", "2026-03-31 18:00:00.000")
end)

test("a record that refers to a DATE key gets the exact text of that key", function()
  db:execute[[
    CREATE TABLE owner (day DATE PRIMARY KEY, n INTEGER);
    CREATE TABLE thing (id INTEGER PRIMARY KEY, day DATE REFERENCES owner, n INTEGER);
    INSERT INTO owner VALUES ('2026-03-31 00:00:00.000', 1), ('2026-04-01', 2)]]
  local Owner, Thing = perilune.record "owner", perilune.record "thing"
  Owner.things, Thing.owner = Owner:has_many(Thing), Thing:belongs_to(Owner)
  for n, text in ipairs{ "2026-03-31 00:00:00.000", "2026-04-01" } do
    local owner = Owner:find(date(text))
    owner:things():insert{ n = n }
    local built = owner:things():build{ n = n }
    equal(tostring(built.day), tostring(date(text)))
    built:insert()
    Thing:insert{ owner = owner, n = n }
    Owner:save_nested{ day = owner.day, n = n, things = { { n = n } } }
    equal(db:fetch_value("SELECT count(*) FROM thing WHERE day = ?", text), 4)
    equal(owner:things():fetch_count(), 4)
    equal(#Owner:including_all(Owner.things):find(owner.day).things, 4)
    equal(Thing:filter{ owner = owner }:fetch_count(), 4)
    equal(Thing:filter{ n = n }:limit(1):fetch_one():owner():fetch_one().n, n)
  end
end)

test("rows are found, changed and deleted by a DATE primary key", function()
  db:execute "CREATE TABLE k (day DATE PRIMARY KEY, n INTEGER); INSERT INTO k VALUES ('2026-03-31 10:00:00.000', 1), ('2026-04-01', 2)"
  local K = perilune.record "k"
  equal(K:exists(date "2026-03-31"), true)
  equal(K:delete_one(date "2026-03-31"), true)
  equal(K:delete_one "2026-03-31", false)
  equal(K:filter_key{ "2026-04-01", date "2026-04-02" }:update_all{ n = 5 }.changed_rows, 1)
  K{ day = "2026-04-01", n = 6 }:save()
  K{ day = date "2026-04-01 09:00", n = 7 }:upsert()
  equal(db:fetch_one("SELECT day, n FROM k"):to_table(), { day = "2026-04-01", n = 7 })
  K{ day = "2026-04-01" }:delete()
  equal(K:fetch_count(), 0)
end)

test("dates in CHECK constraints are compared like dates in conditions", function()
  db:create_table("limited", function(t)
    t:primary_key("id", "integer")
    t:column("day", "date"):check(function(day) return day:ge(date "2026-03-31 10:00") & day:ne(date "2026-12-31") end)
    t:column("at", "datetime"):check(function(at) return at:between(date "2026-03-31", date "2026-12-31 12:00") end)
    t:check(function(c) return c.day:lt(date "2027-01-01") end)
  end)
  local Limited = perilune.record "limited"
  Limited:insert{ day = "2026-03-31", at = "2026-03-31" }
  db:execute "INSERT INTO limited (day, at) VALUES ('2026-03-31 05:00', '2026-12-31 12:00'), ('2026-12-30 10:00', '2026-03-31')"
  for _, wrong in ipairs{ { day = "2026-03-30" }, { day = "2026-12-31" }, { day = "2027-01-01" }, { at = "2026-03-30 23:59" }, { at = "2026-12-31 12:00:01" } } do
    fails("constraint_check", function() Limited:insert(wrong) end)
  end
  db:alter_table("limited", function(t)
    t:drop_check(function(c) return c.day:lt(date "2027-01-01") end)
    t:check(function(c) return c.day:lt(date "2028-01-01") end)
  end)
  Limited:insert{ day = "2027-12-31" }
  fails("constraint_check", function() Limited:insert{ day = "2028-01-01" } end)
end)

test("a date in SQL text begins a range before all texts of its instant", function()
  db:execute[[
    CREATE TABLE reading (id INTEGER PRIMARY KEY, at DATETIME);
    INSERT INTO reading (at) VALUES ('2026-09-30 23:59:59.999'), ('2026-10-01'), ('2026-10-01 00:00:00'), ('2026-10-01 00:00:00.000'),
      ('2026-10-01 12:00:00')]]
  local Reading, first, last = perilune.record("reading"), perilune.date("2026-10-01"), perilune.date("2026-10-01 12:00")
  for sign, method in pairs{ ["<"] = "lt", ["<="] = "le", [">"] = "gt", [">="] = "ge" } do
    for _, date in ipairs{ first, last } do
      local expected = Reading:filter(Reading.c.at[method](Reading.c.at, date)):fetch_count()
      equal(Reading:filter("at " .. sign .. " ?", date):fetch_count(), expected)
      equal(Reading:filter("at " .. sign .. " :date AND id > :id", { date = date, id = 0 }):fetch_count(), expected)
    end
  end
  equal(Reading:filter("at BETWEEN ? AND ?", first, last):fetch_count(), 4)
  equal(Reading:filter("id > ? AND at >= ? AND at < ?", 0, first, last):fetch_count(), 3)
  -- A parameter that occurs twice has one value.
  local both = { date = first }
  equal({ Reading:filter("at >= :date OR at <= :date", both):fetch_count(), both.date == first }, { 5, true })
end)

test("a date in a statement of a class cannot be compared with a column of days", function()
  db:execute[[
    CREATE TABLE plot (id INTEGER PRIMARY KEY, planted DATE, at DATETIME);
    CREATE TABLE visit (id INTEGER PRIMARY KEY, plot_id INTEGER, planted DATETIME);
    INSERT INTO plot VALUES (1, '2026-03-01', '2026-03-01 00:00:00.000');
    INSERT INTO visit VALUES (1, 1, '2026-03-01 00:00:00.000')]]
  local Plot, date = perilune.record("plot"), perilune.date("2026-03-01")
  local function refused(f, ...) matches(fails("argument", f, ...), "date:format(\"%Y-%m-%d\")") end
  local source = Plot:from_sql("SELECT * FROM plot WHERE planted = ?", date)
  for _, verb in ipairs{ "fetch_all", "fetch_one", "fetch_count", "rows" } do refused(source[verb], source) end
  refused(Plot.fetch_all, Plot, "SELECT * FROM plot AS p WHERE p.planted BETWEEN :first AND :last", { first = date, last = date })
  refused(Plot.fetch_all, Plot, "SELECT * FROM plot WHERE id > ? AND id < ? AND at IS NOT ? AND planted = ?", 0, 9, nil, date)
  equal(#Plot:fetch_all("SELECT * FROM plot WHERE planted = ?", date:format("YMD")), 1)
  equal(#Plot:fetch_all("SELECT * FROM plot WHERE planted = date(?)", date), 1)
  equal(#Plot:fetch_all("SELECT * FROM plot WHERE at = ?", date), 1)
  -- The column `planted` of the other table has times.
  equal(#Plot:fetch_all("SELECT plot.* FROM plot JOIN visit v ON v.plot_id = plot.id WHERE v.planted = ?", date), 1)
  equal(#Plot:fetch_all("SELECT plot.* FROM plot, visit v WHERE v.plot_id = plot.id AND v.planted = ?", date), 1)
  equal(#Plot:fetch_all("SELECT * FROM plot WHERE id IN (SELECT plot_id FROM visit WHERE planted = ?)", date), 1)
end)
