--- The declared types of columns.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"

local declared_types = {}

--- Type names with a special spelling in SQL.
local known = {
  text = "TEXT", json_text = "TEXT", jsonb = "BLOB", integer = "INTEGER", double = "DOUBLE", real = "REAL",
  numeric = "NUMERIC", boolean = "BOOLEAN", blob = "BLOB", date = "DATE", datetime = "DATETIME", any = "ANY",
}

local strict_types = { int = true, integer = true, real = true, text = true, blob = true, any = true }

--- Words that would end the type and begin a constraint.
local constraints = {}
local words = "constraint primary not null unique check default collate references generated as on foreign deferrable"
for word in words:gmatch("%a+") do constraints[word] = true end

--- Raises unless a type consists of words, optionally followed by one or two numbers in parentheses.
local function check_words(declared, place)
  local words = declared:match("^(.-)%s*%(%s*[+-]?%d+%s*%)$")
    or declared:match("^(.-)%s*%(%s*[+-]?%d+%s*,%s*[+-]?%d+%s*%)$") or declared
  if not words:find("^[%a_\x80-\xff][%w_ \x80-\xff]*$") or not utf8.len(words) then
    checks.fail(place, "expected a type such as \"text\" or \"VARCHAR(20)\", got " .. errors.describe(declared))
  end
  for word in words:gmatch("[^ ]+") do
    if constraints[sql_names.fold(word)] then
      checks.fail(place, "`" .. declared .. "` is more than a type: constraints are methods, as in "
        .. "t:column(\"a\", \"text\"):not_null()")
    end
  end
end

--- Returns the SQL of a type.
-- @tparam ?string declared one of the names above, or any words that SQLite accepts as a type; nil for no type
-- @tparam boolean is_strict whether the table is STRICT
-- @treturn ?string
function declared_types.sql(declared, is_strict, place)
  if declared ~= nil and type(declared) ~= "string" then
    checks.fail(place, "expected a type as a string, got " .. errors.describe(declared))
  end
  local sql = declared and (known[sql_names.fold(declared)] or declared)
  if is_strict and not strict_types[sql_names.fold(sql or "")] then
    checks.refuse(place, "columns of a STRICT table have the type integer, int, real, text, blob or any, got "
      .. (declared and "`" .. declared .. "`" or "none"))
  end
  if sql and sql == declared then check_words(declared, place) end
  return sql
end

return declared_types
