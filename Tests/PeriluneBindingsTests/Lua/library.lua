--- What every script finds.

test("the parts of the library are there", function()
  for _, name in ipairs{ "null", "blob", "date", "enum", "value_type", "record", "migrator", "single_row", "now" } do
    if perilune[name] == nil then error("perilune." .. name .. " is missing") end
  end
end)
