--- Runs statements that change a schema.

local databases = require "perilune.native.databases"

local schema_changes = {}

--- Runs a statement.
function schema_changes.execute(db, sql) return db:execute(sql) end

--- Runs all statements, or none of them if one fails.
function schema_changes.run(db, statements)
  if #statements == 1 then
    schema_changes.execute(db, statements[1])
  elseif #statements > 1 then
    databases.guarded(db, function(db)
      for _, sql in ipairs(statements) do schema_changes.execute(db, sql) end
    end)
  end
end

return schema_changes
