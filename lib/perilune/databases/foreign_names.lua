--- Methods of databases in other Lua libraries for SQL (lsqlite3, LuaSQL), and the calls that take their place here.

local transactions = "db:in_transaction(function() ... end) commits at its end, and rolls back if the function raises or returns \"rollback\""

return {
  exec = "use db:execute(sql, ...), or db:rows(sql, ...) to iterate over rows",
  nrows = "use db:rows(sql, ...), whose rows have a field for each column",
  irows = "use db:tuples(sql, ...), which gives the values of each row",
  urows = "use db:tuples(sql, ...), which gives the values of each row",
  first_row = "use db:fetch_one(sql, ...)",
  first_irow = "use db:fetch_values(sql, ...)",
  last_insert_rowid = "use db:execute(sql, ...).inserted_rowid",
  getlastautoid = "use db:execute(sql, ...).inserted_rowid",
  changes = "use db:execute(sql, ...).changed_rows",
  total_changes = "use db:fetch_value(\"SELECT total_changes()\")",
  errmsg = "a failure is an error object with the fields `message` and `kind`, which pcall returns",
  error_message = "a failure is an error object with the fields `message` and `kind`, which pcall returns",
  errcode = "a failure is an error object with the fields `code` and `extended_code`, which pcall returns",
  error_code = "a failure is an error object with the fields `code` and `extended_code`, which pcall returns",
  create_function = "use db:add_function(name, options, f)",
  create_aggregate = "use db:add_aggregate(name, options, definition)",
  create_collation = "use db:add_collation(name, compare)",
  update_hook = "use db:observe_transactions(observer)",
  commit_hook = "use db:observe_transactions(observer)",
  rollback_hook = "use db:observe_transactions(observer)",
  busy_timeout = "use the option `busy_timeout` of perilune.queue or perilune.pool",
  busy_handler = "use the option `busy_timeout` of perilune.queue or perilune.pool",
  db_filename = "use db:path()",
  isopen = "db:path() raises if the database is closed",
  wal_checkpoint = "use db:checkpoint(kind)",
  load_extension = "scripts cannot load extensions; the host lists them (perilune run --extension FILE)",
  begin = transactions, commit = transactions, rollback = transactions, setautocommit = transactions,
  escape = "pass values as arguments: db:execute(\"... WHERE name = ?\", name)",
}
