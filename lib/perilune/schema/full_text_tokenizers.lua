--- The option `tokenize`, which determines how FTS5 divides text into words.

local errors = require "perilune.native.errors"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"

--- Reads a boolean option, which FTS5 writes as 0 or 1.
local function switch(value, place)
  if type(value) ~= "boolean" then checks.fail(place, "expected a boolean, got " .. errors.describe(value)) end
  return value and "1" or "0"
end

local function text(value, place)
  if type(value) ~= "string" or value == "" or value:find("\0", 1, true) or not utf8.len(value) then
    checks.fail(place, "expected characters as a string, got " .. errors.describe(value))
  end
  return value
end

local function diacritics(value, place)
  local levels = { keep = "0", remove_legacy = "1", remove = "2" }
  local level = type(value) == "string" and levels[value] or (value == 0 or value == 1 or value == 2) and ("%d"):format(value)
  if not level then
    checks.fail(place, "expected \"keep\", \"remove_legacy\" or \"remove\", got " .. errors.describe(value))
  end
  return level
end

--- The options of each tokenizer, in order: name, FTS5's name, and the function that reads the value.
local tokenizers = {
  ascii = { { "separators", "separators", text }, { "token_characters", "tokenchars", text } },
  porter = {},
  trigram = { { "case_sensitive", "case_sensitive", switch } },
  unicode61 = {
    { "remove_diacritics", "remove_diacritics", diacritics }, { "categories", "categories", text },
    { "separators", "separators", text }, { "token_characters", "tokenchars", text },
  },
}

--- Returns the checked name and options of a tokenizer.
local function read(tokenizer, place)
  if type(tokenizer) == "string" then tokenizer = { tokenizer } end
  if type(tokenizer) ~= "table" or tokenizer[1] == nil then
    checks.fail(place, "expected the name of a tokenizer, or a table such as { \"unicode61\", separators = \"-\" }, got "
      .. (type(tokenizer) == "table" and "a table without a name" or errors.describe(tokenizer)))
  end
  local name = tokenizer[1]
  if not tokenizers[name] then errors.raise_unknown("tokenizer", name, { "ascii", "porter", "trigram", "unicode61" }) end
  local kinds, options = name == "porter" and { wrapping = "any" } or {}, checks.rest(tokenizer, 1)
  for _, option in ipairs(tokenizers[name]) do kinds[option[1]] = "any" end
  return name, checks.options(place, options, kinds)
end

--- Returns the parts of a tokenizer's definition: its name, options and values, followed by the parts of a wrapped tokenizer.
local function components(tokenizer, place)
  local name, options = read(tokenizer, place)
  local parts = { name }
  for _, option in ipairs(tokenizers[name]) do
    local value = options[option[1]]
    if value ~= nil then
      parts[#parts + 1] = option[2]
      parts[#parts + 1] = option[3](value, place .. ": option `" .. option[1] .. "`")
    end
  end
  local inner = options.wrapping
  if inner == nil then return parts end
  if inner == "porter" or type(inner) == "table" and inner[1] == "porter" then checks.fail(place, "porter cannot wrap itself") end
  local wrapped = components(inner, place .. ": option `wrapping`")
  return table.move(wrapped, 1, #wrapped, #parts + 1, parts)
end

--- Returns the SQL of the option for a tokenizer.
-- @param tokenizer a name, or a table of the name and options: `{ "porter", wrapping = "ascii" }`
return function(tokenizer, place)
  local parts = components(tokenizer, place)
  for index, part in ipairs(parts) do parts[index] = sql_text.literal(part) end
  return "tokenize=" .. sql_text.literal(table.concat(parts, " "))
end
