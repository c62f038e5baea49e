--- Runs the statements that change a schema.

local databases = require "perilune.native.databases"

local schema_changes = {}

--- Runs statements: all of them, or none.
function schema_changes.run(db, statements)
  if #statements == 1 then
    db:execute(statements[1])
  elseif #statements > 1 then
    databases.guarded(db, function(db)
      for _, sql in ipairs(statements) do db:execute(sql) end
    end)
  end
end

return schema_changes
