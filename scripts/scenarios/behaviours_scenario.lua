-- Behaviors: class options for common tasks, and records that belong to others.
template("stock", { on = "empty" }, function(db)
  db:create_table("shop", function(t)
    t:auto_incremented_primary_key("id")
    t:column("name", "text"):not_null():unique()
    t:column("item_count", "integer"):not_null():default(0)
    t:column("updated_at", "datetime")
  end)
  db:create_table("item", function(t)
    t:auto_incremented_primary_key("id")
    t:belongs_to("shop")
    t:column("code", "text"):not_null():unique()
    t:column("price", "integer"):not_null():default(1)
    t:column("status", "integer"):not_null():default(0)
    t:column("created_at", "datetime")
    t:column("updated_at", "datetime")
    t:column("deleted_at", "datetime")
    t:column("lock_version", "integer"):not_null():default(0)
  end)
end)

group("behaviours", { template = "stock", tags = { "records" } }, function()
  scenario("timestamps record the insertion and the last change", { clock = "2026-03-01 12:00:00" }, function(t)
    local Item = perilune.record("item", { timestamps = true })
    local item = Item { code = "a" }:insert()
    check(item.created_at == perilune.now())
    item:update()
    check(Item:find(item.id).updated_at == perilune.now())
  end)

  scenario("a stale record is an error and changes nothing", function(t)
    local Item = perilune.record("item", { lock_version = true })
    Item { code = "a" }:insert()
    local mine, theirs = Item:find(1), Item:find(1)
    mine.price = 2
    mine:update()
    theirs.price = 3
    expect_error(function() theirs:update() end, { kind = "stale" })
    check(Item:find(1).price == 2)
    -- Changes of many rows make other copies stale too.
    Item:filter_key(1):update_all { price = 4 }
    expect_error(function() mine:update() end, { kind = "stale" })
  end)

  scenario("softly deleted rows stay in the table", function(t)
    local Item = perilune.record("item", { soft_delete = true })
    local item = Item { code = "a" }:insert()
    item:delete()
    check(Item:is_empty())
    check(Item:unscoped():fetch_count() == 1)
    Item:unscoped():find(item.id):restore()
    check(Item:fetch_count() == 1)
    -- It keeps its unique keys. The error identifies the row that has them.
    Item:find(item.id):delete()
    t.db:create_index("item", { "code" }, { unique = true })
    local err = expect_error(function() Item:find_or_insert { code = "a" } end, { kind = "constraint_unique" })
    check(err.deleted_key == item.id)
    Item:unscoped():find(err.deleted_key):restore()
    check(select(2, Item:find_or_insert { code = "a" }) == false)
    Item:find(item.id):delete_forever()
    check(Item:unscoped():is_empty())
  end)

  scenario("immutable columns are protected, and enumerations define requests", function(t)
    local Status = perilune.enum { new = 0, sold = 1 }
    local Item = perilune.record("item", { immutable = { "code" }, enums = { status = Status } })
    local item = Item { code = "a", status = Status.sold }:insert()
    item.code = "b"
    expect_error(function() item:update() end, { kind = "immutable" })
    check(Item:sold():fetch_one():is_sold())
    check(Item:new():is_empty())
    -- A case with the name of a method needs a prefix.
    local Draft = perilune.enum { draft = 0, final = 1 }
    expect_error(function() perilune.record("item", { enums = { status = Draft } }) end, "prefix")
    local Prefixed = perilune.record("item", { enums = { status = { Draft, prefix = "status" } } })
    check(Prefixed:status_final():fetch_one():is_status_final() and Prefixed:status_draft():is_empty())
  end)

  scenario("an upsert applies the behaviors of its class", function(t)
    local Item = perilune.record("item", { immutable = { "status" }, lock_version = true })
    Item { code = "a", status = 1 }:insert()
    local stale = Item:find { code = "a" }
    local item = Item { code = "a", status = 2 }:upsert { target = "code" }
    check(item.status == 1 and item.lock_version == 1)
    expect_error(function() stale:upsert { target = "code" } end, { kind = "stale" })
  end)

  scenario("a counter column counts the associated rows", function(t)
    local Shop, Item = perilune.record("shop"), perilune.record("item")
    Shop.items = Shop:has_many(Item)
    Item.shop = Item:belongs_to(Shop, { counter_cache = "item_count", touch = true })
    local shop = Shop { name = "s" }:insert()
    local item = shop:items():insert { code = "a" }
    shop:items():insert { code = "b" }
    check(shop:refresh().item_count == 2)
    check(shop.updated_at ~= nil)
    item:delete()
    check(shop:refresh().item_count == 1)
  end)
end)

group("related records", { template = "stock", tags = { "records" } }, function()
  scenario("records are found or created, created for others, and preloaded", function(t)
    local Shop, Item = perilune.record("shop"), perilune.record("item")
    Shop.items = Shop:has_many(Item)
    local shop, is_new = Shop:find_or_insert { name = "s" }
    check(is_new)
    check(Shop:find_or_insert { name = "s" }.id == shop.id)
    shop:items():insert { code = "a", price = 3 }
    local draft = shop:items():build { code = "b" }
    check(draft.shop_id == shop.id)
    check(Item:fetch_count() == 1)
    local shops = Shop:fetch_all()
    local queries = t.queries(function() Shop:preload(shops, Shop.items) end)
    expect(queries):exactly(1)
    check(shops[1].items[1].price == 3)
  end)

  scenario("many rows are inserted or update existing rows", function(t)
    local Item = perilune.record("item")
    Item:insert_all({ { code = "a", price = 1 }, { code = "b", price = 2 } })
    local count = Item:upsert_all({ { code = "b", price = 20 }, { code = "c", price = 30 } }, { update = { "price" } })
    check(count == 2)
    expect(Item:order("code"):select("code", "price"):fetch_all()):rows [[
      | code | price |
      | a    | 1     |
      | b    | 20    |
      | c    | 30    |
    ]]
    local rows = Item:upsert_all({ { code = "c" }, { code = "d" } }, { update = "none", returning = "code" })
    expect(rows):equals { { code = "d" } }
  end)
end)
