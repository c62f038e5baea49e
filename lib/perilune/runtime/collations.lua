--- Names of collations.

local collations = {}

--- Collations that every connection has in addition to SQLite's own. SQLite's NOCASE ignores case only for ASCII letters.
local unicode = {
  unicode = "swiftCompare", unicode_case_insensitive = "swiftCaseInsensitiveCompare", localized = "swiftLocalizedCompare",
  localized_case_insensitive = "swiftLocalizedCaseInsensitiveCompare", localized_standard = "swiftLocalizedStandardCompare",
}

--- Returns the database's name of a collation.
function collations.name(name)
  return name ~= nil and unicode[name] or name
end

return collations
