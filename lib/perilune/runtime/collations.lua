--- Names of collations.

local collations = {}

--- Those that every connection has beside SQLite's own, since these know the letters of ASCII only.
local unicode = {
  unicode = "swiftCompare", unicode_case_insensitive = "swiftCaseInsensitiveCompare", localized = "swiftLocalizedCompare",
  localized_case_insensitive = "swiftLocalizedCaseInsensitiveCompare", localized_standard = "swiftLocalizedStandardCompare",
}

--- What the database calls a collation.
function collations.name(name)
  return name ~= nil and unicode[name] or name
end

return collations
