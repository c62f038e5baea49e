-- A name becomes a first and a last name: what stands before the first space, and what stands after it.
return {
  up = function(db)
    db:alter_table("customers", function(t)
      t:add_column("first_name", "text")
      t:add_column("last_name", "text")
    end)
    db:execute[[
      UPDATE customers SET
        first_name = CASE instr(name, ' ') WHEN 0 THEN name ELSE substr(name, 1, instr(name, ' ') - 1) END,
        last_name = CASE instr(name, ' ') WHEN 0 THEN NULL ELSE substr(name, instr(name, ' ') + 1) END]]
    db:alter_table("customers", function(t) t:drop_column("name") end)
  end,
  down = function(db)
    db:execute("ALTER TABLE customers ADD COLUMN name TEXT NOT NULL DEFAULT ''")
    db:execute("UPDATE customers SET name = trim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))")
    db:alter_table("customers", function(t)
      t:drop_column("first_name")
      t:drop_column("last_name")
    end)
  end,
}
