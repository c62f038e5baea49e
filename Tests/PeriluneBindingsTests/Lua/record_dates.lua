--- Dates in records, both in the formats that the row path parses itself and in formats that the library parses.

db:execute "CREATE TABLE event (id INTEGER PRIMARY KEY, at DATETIME, note TEXT)"
local Event = perilune.record("event")

--- Texts that are dates. perilune.date reads all of them.
local texts = {
  "2026-03-01", "0000-01-01", "9999-12-31", "2024-02-29", "2000-02-29", "1969-12-31 23:59:59.999999", "0004-02-29 00:00",
  "2026-03-01 13:05", "2026-03-01 13:05:07", "2026-03-01 13:05:07.089", "2026-03-01T13:05", "2026-03-01T13:05:07.5",
  "2026-03-01 13:05:07.1234567", "2026-03-01 13:05Z", "2026-03-01T13:05:07.089Z", "2026-03-01 13:05:07.999999999999999999999",
  -- Unusual formats.
  "2026-03-01 ", "2026-03-01   13:05", "2026-03-01 13:05 +02:00", "2026-03-01 13:05:07-14:59", "2026-03-01 13:05z", "-0001-06-01",
  "2026-03-01 13:05:07.1234567890123456789012345", "2451545", " 2451545.5 ", "2026-03-01T13:05:07 Z",
}

test("a date in a record equals perilune.date of its text", function()
  for _, text in ipairs(texts) do db:execute("INSERT INTO event (at) VALUES (?)", text) end
  local events = Event:fetch_all()
  equal(#events, #texts)
  for index, event in ipairs(events) do
    equal(tostring(event.at), tostring(perilune.date(texts[index])))
    equal(event.at, perilune.date(texts[index]))
    equal(event.at.microsecond, perilune.date(texts[index]).microsecond)
    equal(event:has_changes(), false)
  end
end)

test("records read days of all years and months like perilune.date", function()
  local state, random = 7, nil
  function random(least, most)
    state = (state * 1103515245 + 12345) % 2147483648
    return least + state // 8 % (most - least + 1)
  end
  local written = {}
  for index = 1, 2000 do
    local text = ("%04d-%02d-%02d"):format(random(0, 9999), random(1, 12), random(1, 28))
    if index % 2 == 0 then text = text .. (" %02d:%02d:%02d.%03d"):format(random(0, 23), random(0, 59), random(0, 59), random(0, 999)) end
    written[index] = text
  end
  db:write(function()
    for _, text in ipairs(written) do db:execute("INSERT INTO event (at) VALUES (?)", text) end
  end)
  for index, event in ipairs(Event:fetch_all()) do equal(event.at, perilune.date(written[index])) end
end)

test("numbers in date columns are Julian days or Unix seconds", function()
  db:execute "INSERT INTO event (at) VALUES (2451545), (1772323200), (2451545.5), (NULL)"
  local events = Event:fetch_all()
  for index, number in ipairs{ 2451545, 1772323200, 2451545.5 } do equal(events[index].at, perilune.date:from_database(number)) end
  equal(events[4].at, nil)
end)

test("reading an invalid date raises an error that names the row", function()
  for _, text in ipairs{ "noon", "2026-02-30", "2026-13-01", "2026-00-10", "2026-01-00", "2026-03-01 24:00", "2026-03-01 12:60",
    "2026-03-01 12:00:60", "2026-03-01 12:00:00.", "2026-03-01x", "", "2026-3-1", "12:30", "2026-03-01 12",
    "2026-03-01 12:30:5" } do
    db:execute("DELETE FROM event")
    db:execute("INSERT INTO event VALUES (1, '2026-03-01', 'a'), (2, ?, 'b')", text)
    local ways = {
      function() Event:fetch_all() end,
      function() Event:find(2) end,
      function() Event:order("id"):fetch_all() end,
      function() Event:filter_key(2):fetch_one() end,
      function() for _ in Event:rows() do end end,
      function() for _ in Event:order("id"):rows() do end end,
      function() Event:update_all({ note = "c" }, { returning = true }) end,
      function() Event.from_row(db:fetch_one("SELECT * FROM event WHERE id = 2")) end,
    }
    for index, way in ipairs(ways) do
      local err = fails("conversion", way)
      equal({ err.table, err.column, err.key }, { "event", "at", 2 }, text .. ": way " .. index)
      matches(err.message, "`event`.`at` (row with `id` 2)")
    end
    -- Nothing is half done.
    equal(Event:find(1).at, perilune.date "2026-03-01")
    equal(db:fetch_value("SELECT COUNT(*) FROM event"), 2)
  end
end)

test("rows, RETURNING and from_row return dates", function()
  db:execute "INSERT INTO event VALUES (1, '2026-03-01', 'a'), (2, '2026-03-02 10:00+02:00', 'b')"
  local wanted = { perilune.date "2026-03-01", perilune.date "2026-03-02 08:00" }
  for event in Event:order("id"):rows() do equal(event.at, wanted[event.id]) end
  for index, row in ipairs(db:fetch_all("SELECT * FROM event ORDER BY id")) do equal(Event.from_row(row).at, wanted[index]) end
  for _, event in ipairs(Event:update_all({ note = "c" }, { returning = true })) do equal(event.at, wanted[event.id]) end
end)

test("dates in records have the type and behavior of perilune.date", function()
  db:execute "INSERT INTO event VALUES (1, '2026-03-01 10:00', 'a')"
  local event = Event:find(1)
  equal(perilune.date.is(event.at), true)
  equal({ event.at.year, event.at:format("%H:%M"), (event.at + 60):format("%H:%M") }, { 2026, "10:00", "10:01" })
  equal(event.at < perilune.date "2026-03-02", true)
  equal(event.at - perilune.date "2026-02-28 10:00", 86400.0)
  equal(Event:filter{ at = event.at }:fetch_count(), 1)
  equal(db:fetch_value("SELECT ?", event.at), "2026-03-01 10:00:00.000")
  fails(nil, function() event.at.year = 5 end)
end)

test("hooks receive dates", function()
  db:execute "INSERT INTO event VALUES (1, '2026-03-01', 'a'), (2, '2026-03-02 10:00+02:00', 'b')"
  local seen = {}
  function Event:did_fetch() seen[#seen + 1] = tostring(self.at) end
  Event:order("id"):fetch_all()
  equal(seen, { "2026-03-01 00:00:00.000", "2026-03-02 08:00:00.000" })
end)

test("conditions find dates that SQL has written without zeros at the end", function()
  db:execute "INSERT INTO event VALUES (1, '2026-03-01', 'by SQL')"
  Event{ at = "2026-03-01", note = "by a record" }:insert()
  for _, date in ipairs{ "2026-03-01", "2026-03-01 00:00:00.000", "2026-03-01T00:00Z", perilune.date "2026-03-01" } do
    equal(Event:filter{ at = date }:order("id"):pluck("note"), { "by SQL", "by a record" })
  end
  equal(Event:filter(Event.c.at:ge "2026-03-01" & Event.c.at:lt "2026-03-02"):fetch_count(), 2)
  equal(Event:filter("date(at) = ?", "2026-03-01"):fetch_count(), 2)
end)
