-- A migration keeps the data of an old file, and can be undone.
scenario("0007 splits the name without losing anyone", { database = "fixture:shop_v6.sqlite", timeout = "1m" }, function(t)
  local before = t.db:fetch_all("select count(*) as n from customers")[1].n

  t.migrate { to = "0007_split_name" }

  expect(t.db:fetch_all("select id, first_name, last_name from customers order by id limit 2")):rows [[
    | id | first_name | last_name |
    | 1  | Ada        | Lovelace  |
    | 2  | Plato      | ~         |
  ]]
  check(t.db:fetch_all("select count(*) as n from customers")[1].n == before)
  expect(t.db:schema_sql("customers")):snapshot("customers_after_0007")
  check(t.db:integrity_check() == "ok")

  t.step("and back again", function()
    t.migrate_down()
    expect(t.db:fetch_all("select name from customers where id = 1")):rows [[
      | name         |
      | Ada Lovelace |
    ]]
  end)
end)
