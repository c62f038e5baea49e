-- Several writers of one file, and writes that fail halfway: the guarantees of behaviors hold, and nothing is lost.
local function open(t)
  local path = t.tmp_dir .. "/shop.sqlite"
  local mine, theirs = perilune.pool(path), perilune.queue(path)
  mine:execute[[
    CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT UNIQUE, item_count INTEGER NOT NULL DEFAULT 0, updated_at DATETIME);
    CREATE TABLE item (id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shop (id), code TEXT UNIQUE, price INTEGER CHECK (price >= 0),
      updated_at DATETIME, deleted_at DATETIME, lock_version INTEGER NOT NULL DEFAULT 0);
    INSERT INTO shop (id, name) VALUES (1, 'one')]]
  t.defer(function()
    mine:close()
    theirs:close()
  end)
  return mine, theirs
end

group("several writers", { tags = { "records" } }, function()
  scenario("with a lock version, concurrent changes are never lost", function(t)
    local mine, theirs = open(t)
    local Item = perilune.record("item", { lock_version = true })
    Item:insert(mine, { id = 1, code = "a", price = 0 })
    local stale = 0
    local function add(db, meanwhile)
      while true do
        local item = Item:find(db, 1)
        if meanwhile then meanwhile() end
        item.price = item.price + 1
        local is_written, err = pcall(item.update_changes, item, db)
        if is_written then return end
        check(err.kind == "stale")
        stale, meanwhile = stale + 1, nil
      end
    end
    for _ = 1, 20 do
      add(mine, function() add(theirs) end)
      add(theirs, function() Item:update_all(mine, { price = Item.c.price + 1 }) end)
    end
    check(mine:fetch_value("SELECT price FROM item") == 80)
    check(stale == 40)
    local gone = Item:find(theirs, 1)
    Item:find(mine, 1):update_changes(mine, { price = 1 })
    expect_error(function() gone:delete(theirs) end, { kind = "stale" })
    check(Item:fetch_count(mine) == 1)
  end)

  scenario("a counter includes the rows of all writers, and no failed ones", function(t)
    local mine, theirs = open(t)
    local Shop, Item = perilune.record("shop"), perilune.record("item")
    Item.shop = Item:belongs_to(Shop, { counter_cache = "item_count", touch = true })
    local fails = false
    function Item:did_insert() if fails then error("stop") end end
    for number = 1, 10 do
      Item:insert(number % 2 == 0 and mine or theirs, { code = "i" .. number, shop_id = 1 })
      fails = true
      expect_error(function() Item:insert(mine, { code = "x", shop_id = 1 }) end, "stop")
      fails = false
      expect_error(function() Item:insert(theirs, { code = "i" .. number, shop_id = 1 }) end, { kind = "constraint_unique" })
    end
    check(Shop:find(mine, 1).item_count == 10)
    pcall(mine.write, mine, function(db)
      Item:find(db, 1):delete(db)
      check(Shop:find(db, 1).item_count == 9)
      error("stop")
    end)
    check(Shop:find(theirs, 1).item_count == 10)
    check(Item:fetch_count(theirs) == 10)
  end)

  scenario("a failed deletion deletes nothing, and others may restore deleted rows", function(t)
    local mine, theirs = open(t)
    local Item = perilune.record("item", { soft_delete = true, timestamps = { updated = "updated_at" } })
    Item:insert(mine, { id = 1, code = "a" })
    local item, before = Item:find(mine, 1), mine:fetch_value("SELECT updated_at FROM item")
    function Item:did_update() error("stop") end
    expect_error(function() item:delete(mine) end, "stop")
    check(Item:fetch_count(theirs) == 1)
    check(mine:fetch_value("SELECT updated_at FROM item") == before)
    Item.did_update = nil
    Item:find(theirs, 1):delete(theirs)
    check(Item:fetch_count(mine) == 0)
    Item:unscoped():filter_key(1):fetch_one(mine):restore(mine)
    check(Item:fetch_count(theirs) == 1)
  end)

  scenario("many rows are written as a whole or not at all", function(t)
    local mine, theirs = open(t)
    local Shop, Item = perilune.record("shop"), perilune.record("item", { immutable = "code" })
    Shop.items = Shop:has_many(Item)
    Item.shop = Item:belongs_to(Shop)
    Item:insert(theirs, { code = "b", price = 2 })
    local list = {}
    for number = 1, 500 do list[number] = { code = "c" .. number, price = number } end
    list[501] = { code = "b", price = -1 }
    expect_error(function() Item:upsert_all(mine, list, { target = "code", update = { "price" } }) end, { kind = "constraint_check" })
    check(Item:fetch_count(theirs) == 1)
    list[501].price = 3
    check(Item:upsert_all(mine, list, { target = "code", update = { "price" } }) == 501)
    check(Item:filter { code = "b" }:fetch_one(theirs).price == 3)
    expect_error(function()
      Shop:save_nested(mine, { name = "two", items = { { code = "n1" }, { code = "b" } } })
    end, { kind = "constraint_unique" })
    check(Shop:fetch_count(theirs) == 1)
    check(not Item:exists(theirs, { code = "n1" }))
    expect_error(function() Item:find(mine, 1):update_changes(mine, { code = "z" }) end, { kind = "immutable" })
  end)

  scenario("a writer that waits too long for a lock changes nothing and can retry", function(t)
    local mine, theirs = open(t)
    local Item = perilune.record("item", { lock_version = true })
    Item:insert(mine, { id = 1, code = "a", price = 1 })
    local item = Item:find(mine, 1)
    theirs:write(function(db)
      db:execute("UPDATE shop SET name = 'other'")
      expect_error(function() item:update_changes(mine, { price = 2 }) end, { kind = "busy" })
    end)
    check(item.price == 2)
    item:update_changes(mine)
    check(Item:find(theirs, 1).price == 2)
  end)
end)

group("table rebuilds", { tags = { "schema" } }, function()
  scenario("a failure in the middle of a rebuild leaves the table unchanged", function(t)
    local mine, theirs = open(t)
    mine:execute[[
      CREATE INDEX item_by_price ON item (price);
      CREATE TRIGGER keep AFTER INSERT ON item BEGIN UPDATE shop SET updated_at = 1; END;
      INSERT INTO item (code, price, shop_id) VALUES ('1', 1, 1), ('007', 2, 1), ('3', 3, 1)]]
    local before = mine:schema_sql()
    local function state() return { theirs:schema_sql() == before, theirs:fetch_value("SELECT group_concat(code || price) FROM item") } end
    local unchanged = { true, "11,0072,33" }
    -- A value that the type would change.
    expect_error(function() mine:alter_table("item", function(item) item:change_column("code", "integer") end) end)
    expect(state()):equals(unchanged)
    -- A block that raises an error after it has changed the definition.
    expect_error(function()
      mine:alter_table("item", function(item)
        item:change_column("price", "real")
        error("stop")
      end)
    end, "stop")
    expect(state()):equals(unchanged)
    -- A transaction that raises an error after the table has changed.
    expect_error(function()
      mine:write(function(db)
        db:alter_table("item", function(item) item:change_column("price", "real") end)
        db:execute("DELETE FROM shop")
      end)
    end, { kind = "constraint_foreign_key" })
    expect(state()):equals(unchanged)
    -- Afterwards the change succeeds, and other writers can continue.
    mine:alter_table("item", function(item) item:change_column("price", "real") end)
    theirs:execute("INSERT INTO item (code, price, shop_id) VALUES ('4', 4, 1)")
    check(mine:fetch_value("SELECT group_concat(code || price) FROM item") == "11.0,0072.0,33.0,44.0")
    check(mine:trigger_exists("keep"))
    check(mine:index_exists("item_by_price"))
  end)
end)
