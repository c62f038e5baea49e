-- The names of history triggers, by which certain SQLite errors are recognized.

local history_tables = library("perilune.schema.history_tables")

test("errors in any trigger of a history are explained", function()
  for _, event in ipairs(history_tables.events) do
    db:execute(([[
      DROP TABLE IF EXISTS leaf; CREATE TABLE leaf (side, colour);
      CREATE TRIGGER %s AFTER INSERT ON leaf BEGIN SELECT new.colour; END]]):format(history_tables.trigger_name("leaf_history", event)))
    matches(fails("sql", db.execute, db, "ALTER TABLE leaf DROP COLUMN colour"), "the trigger keeps a history")
  end
end)
