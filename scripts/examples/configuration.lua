-- Settings in a table with one row: defaults that are not stored, choices that are, and how to reset them.
--
--     perilune run configuration.lua

-- The schema allows at most one row: the key can only be 1, and inserting it again replaces the row.
-- A column that is NULL has not been chosen; `volume` always has a value.
db:create_table("configuration", function(t)
  t:primary_key("id", "integer", { on_conflict = "replace" }):check("id = 1")
  t:column("theme", "text")
  t:column("shows_hints", "boolean")
  t:column("volume", "integer"):not_null():check("volume BETWEEN 0 AND 10")
end)

local Configuration = perilune.single_row("configuration", {
  defaults = { theme = "light", shows_hints = true, volume = 5 },
})

-- Methods are defined on the class, as with records.
function Configuration:describe()
  return ("%s theme, volume %d, %s hints"):format(self.theme, self.volume, self.shows_hints and "with" or "no")
end

local function show(title)
  print(title, Configuration:find():describe())
  local row = db:fetch_one("SELECT theme, shows_hints, volume FROM configuration")
  print("", row and ("stored: %s, %s, %s"):format(row.theme, row.shows_hints, row.volume) or "nothing is stored")
end

show("At first:")

-- `update_changes` writes the changes. If there is no row, it first inserts one with the required defaults.
Configuration:find():update_changes(function(c) c.theme = "dark" end)
show("A choice:")

local configuration = Configuration:find()
configuration.shows_hints = false
configuration.volume = 8
configuration:save()
show("Two more:")

-- Reset to the default: NULL, if the column allows it.
configuration:update_changes(function(c) c:reset("theme", "volume") end)
show("Two less:")

-- Values that the schema rejects are not stored.
local ok, err = pcall(configuration.update_changes, configuration, function(c) c.volume = 11 end)
print("Too loud:", ok, err.kind)
show("As before:")

-- There is never a second row.
Configuration{ theme = "blue" }:insert()
show("Replaced:")
print("Rows:", db:fetch_value("SELECT COUNT(*) FROM configuration"))
