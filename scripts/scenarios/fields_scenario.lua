-- Fields of records that are not columns with the same name.
template("catalogue", { on = "empty" }, function(db)
  db:execute[[
    CREATE TABLE writer (id INTEGER PRIMARY KEY, "fullName" TEXT NOT NULL UNIQUE);
    CREATE TABLE volume (
      "volumeId" INTEGER PRIMARY KEY, "writerId" INTEGER REFERENCES writer (id), title TEXT NOT NULL, "pageCount" INTEGER,
      stored_flag BOOLEAN, cover BLOB, "priceAmount" INTEGER, "priceCurrency" TEXT)]]
end)

fixture("shelf", function()
  local Writer = perilune.record("writer", { naming = "snake_case" })
  local Volume = perilune.record("volume", {
    naming = "snake_case",
    fields = {
      is_lent = { column = "stored_flag", default = false },
      cover = { lazy = true },
      price = { fields = { amount = "price_amount", currency = "price_currency" } },
      thickness = {
        get = function(volume) return volume.page_count // 10 end,
        set = function(volume, value) volume.page_count = value * 10 end,
        expression = function(c) return (c.page_count / 10):cast("INTEGER") end,
      },
    },
  })
  Volume.writer = Volume:belongs_to(Writer)
  Writer.volumes = Writer:has_many(Volume)
  return { Writer = Writer, Volume = Volume }
end)

group("fields", { template = "catalogue", tags = { "records" } }, function()
  scenario("a naming strategy maps columns in camel case to fields in snake case", function(t)
    local Writer, Volume = t.fixtures.shelf.Writer, t.fixtures.shelf.Volume
    local writer = Writer:insert { full_name = "Ada" }
    Volume:insert { title = "Notes", writer_id = writer.id, page_count = 60 }
    check(Volume:filter { page_count = 60 }:fetch_one().writer_id == writer.id)
    check(Volume:including_required(Volume.writer):fetch_one().writer.full_name == "Ada")
    check(#Writer:including_all(Writer.volumes):fetch_one().volumes == 1)
    check(t.db:fetch_one("SELECT * FROM volume").pageCount == 60)
    check(tostring(Volume:filter { page_count = 60 }):match('"pageCount" = 60'))
  end)

  scenario("a field renames a column and has a default", function(t)
    local Volume = t.fixtures.shelf.Volume
    local volume = Volume:insert { title = "Notes" }
    check(volume.is_lent == false)
    volume.is_lent = true
    check(volume:changes().is_lent.new == true)
    volume:update_changes()
    Volume:filter { is_lent = true }:update_all { title = "Lent" }
    check(t.db:fetch_value("SELECT title FROM volume WHERE stored_flag") == "Lent")
    expect_error(function() return volume.stored_flag end, { kind = "unknown_column", message = "the field over this column is `is_lent`" })
    expect_error(function() Volume:filter { is_lend = true } end, { kind = "unknown_column", message = "is_lent" })
  end)

  scenario("lazy columns are fetched on request", function(t)
    local Volume = t.fixtures.shelf.Volume
    Volume:insert { title = "Notes", cover = "a picture" }
    local volume = Volume:find(1)
    expect_error(function() return volume.cover end, { kind = "not_fetched" })
    check(tostring(volume:refresh { fields = "cover" }.cover) == "a picture")
    check(tostring(Volume:annotated_with("cover"):fetch_one().cover) == "a picture")
    -- A record that was fetched without the field does not change it.
    Volume:find(1):update_changes { title = "Other" }
    check(t.db:fetch_value("SELECT cover IS NOT NULL FROM volume") == 1)
  end)

  scenario("several columns form one value", function(t)
    local Volume = t.fixtures.shelf.Volume
    local volume = Volume:insert { title = "Notes", price = { amount = 5, currency = "EUR" } }
    check(volume.price.currency == "EUR")
    check(Volume:filter { price = { amount = 5, currency = "EUR" } }:fetch_count() == 1)
    Volume:update_all { price = { amount = 7, currency = "USD" } }
    check(Volume:find(1).price.amount == 7)
    expect_error(function() volume.price.amount = 6 end, { kind = "readonly" })
    expect_error(function() volume.price = { amonut = 6 } end, { kind = "unknown_part", message = "amount" })
  end)

  scenario("computed fields work in records and requests", function(t)
    local Volume = t.fixtures.shelf.Volume
    local volume = Volume:insert { title = "Notes", thickness = 6 }
    check(volume.page_count == 60)
    Volume:insert { title = "Thin", page_count = 20 }
    check(Volume:filter { thickness = 2 }:fetch_one().title == "Thin")
    check(Volume:order("thickness"):fetch_one().title == "Thin")
  end)

  scenario("contradictory fields are refused", function(t)
    expect_error(function() perilune.record("volume", { fields = { lent = { colum = "stored_flag" } } }) end, { kind = "unknown_option", message = "column" })
    expect_error(function() perilune.record("volume", { fields = { lent = "stored_flg" } }):fetch_all() end, { kind = "unknown_column", message = "stored_flag" })
    expect_error(function() perilune.record("volume", { fields = { title = "cover" } }):fetch_all() end, { message = "same name as another column" })
  end)
end)
