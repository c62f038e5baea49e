--- The declared types of columns: which ones are valid, and how they are written in SQL.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"

local declared_types = {}

--- Type names with a special spelling in SQL.
local known = {
  text = "TEXT", json_text = "TEXT", jsonb = "BLOB", integer = "INTEGER", double = "DOUBLE", real = "REAL",
  numeric = "NUMERIC", boolean = "BOOLEAN", blob = "BLOB", date = "DATE", datetime = "DATETIME", any = "ANY",
}

--- SQL types that SQLite reads as their names suggest.
local sql_types = {}
for _, name in ipairs{
  "int", "tinyint", "smallint", "mediumint", "bigint", "int2", "int4", "int8", "unsigned big int", "unsigned int", "int unsigned", "integer unsigned",
  "bigint unsigned", "character", "char", "varchar", "varying character", "character varying", "nchar", "native character", "nvarchar", "clob", "tinytext",
  "mediumtext", "longtext", "ntext", "tinyblob", "mediumblob", "longblob", "double precision", "float", "decimal", "bool", "timestamp", "time", "json",
} do sql_types[name] = true end

--- Raises if a type has a different meaning in SQLite than its name suggests. SQLite accepts any word as a type: `string`, for example,
-- means NUMERIC, so that the text 01234 is stored as 1234.
local function check_is_known(declared, place)
  local name = sql_names.fold(declared:match("^[^(]*")):gsub("%s+", " "):match("^%s*(.-)%s*$")
  if known[name] or sql_types[name] then return end
  local names = {}
  for existing in pairs(known) do names[#names + 1] = existing end
  table.sort(names)
  local use = require("perilune.runtime.other_names").find("type", name)
  if use then errors.raise("unknown_type", ("%s: no type `%s`; %s"):format(place, declared, use), { name = declared, advice = use }) end
  local _, err = pcall(errors.raise_unknown, "type", declared, names)
  errors.raise("unknown_type", place .. ": " .. err.message .. "; t:column_sql(sql) takes any type", { name = declared, suggestion = err.suggestion })
end

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
    checks.fail(place, "expected a type such as \"text\" or \"VARCHAR(20)\", got " .. errors.describe(declared)
      .. (sql_names.fold(declared):find("^enum") and "; use \"text\", and the class option types = { column = perilune.enum{ \"a\", \"b\" } }" or ""))
  end
  for word in words:gmatch("[^ ]+") do
    if constraints[sql_names.fold(word)] then
      checks.fail(place, "`" .. declared .. "` is more than a type: constraints are methods, as in "
        .. "t:column(\"a\", \"text\"):not_null()")
    end
  end
end

local date_forms = { date = "day", datetime = "instant", timestamp = "instant" }

--- Returns how a column of a declared type stores dates (see stored_dates.lua); nil for other types.
function declared_types.date_form(declared)
  return date_forms[sql_names.fold(declared:match("^[^(]*")):match("^%s*(.-)%s*$")]
end

--- Returns the SQL of a type.
-- @tparam ?string declared one of the names above, or an SQL type, such as "varchar(20)"; nil for no type
-- @tparam boolean is_strict whether the table is STRICT
-- @tparam ?boolean is_copied whether an existing column already has the type, which may be any word
-- @treturn ?string
function declared_types.sql(declared, is_strict, place, is_copied)
  if declared ~= nil and type(declared) ~= "string" then
    checks.fail(place, "expected a type as a string, got " .. errors.describe(declared)
      .. (type(declared) == "table" and "; use t:column(\"name\", \"text\"):not_null()" or ""))
  end
  local sql = declared and (known[sql_names.fold(declared)] or declared)
  if is_strict and not strict_types[sql_names.fold(sql or "")] then
    checks.refuse(place, "columns of a STRICT table have the type integer, int, real, text, blob or any, got "
      .. (declared and "`" .. declared .. "`" or "none"))
  end
  if sql and sql == declared then
    check_words(declared, place)
    if not is_copied then check_is_known(declared, place) end
  end
  return sql
end

return declared_types
