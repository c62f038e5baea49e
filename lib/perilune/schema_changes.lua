--- Running the statements that change a schema.

local internal = ...
local sql_text = internal.load("sql_text")

local schema_changes = {}

--- Runs statements: all of them, or none.
function schema_changes.run(db, statements)
  if #statements == 0 then return end
  if #statements == 1 then
    db:execute(statements[1])
    return
  end
  db:in_savepoint(function(db)
    for _, sql in ipairs(statements) do db:execute(sql) end
    return "commit"
  end)
end

return schema_changes
