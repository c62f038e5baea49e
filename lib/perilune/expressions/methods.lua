--- The methods of expressions: comparisons, patterns, orders and casts.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local marks = require "perilune.runtime.marks"
local receivers = require "perilune.runtime.receivers"
local raise = errors.raise
local operators = require "perilune.expressions.operators"
local as_column, binary, unary, list_operation = operators.as_column, operators.binary, operators.unary, operators.list_operation

local shapes = require "perilune.expressions.shapes"
local date_comparisons = require "perilune.expressions.date_comparisons"
local check_string = operators.check_string

local methods = {}

-- Comparisons -----------------------------------------------------------------------------------------------------------

--- Comparison methods, which check their receiver themselves because they are called so frequently.
local comparisons = {}

--- Defines a comparison method. A comparison with NULL uses `op_for_null`, for example IS.
local function define_comparison(name, op, op_for_null)
  comparisons[name] = true
  methods[name] = function(self, value, surplus)
    if not marks.is_expression(self) then receivers.refuse(receivers.kinds.expression, name, self) end
    if surplus ~= nil then arity.refuse("column:" .. name, 1, surplus, name == "eq" and "use column:is_in{ a, b } for several values" or nil) end
    if value == null then
      if op_for_null then return unary(self, op_for_null) end
      raise("argument", "column:" .. name .. ": a comparison with NULL is never true; use `:is_null()` or `:is_not_null()`")
    end
    return binary(self, op, value, "column:" .. name)
  end
end

define_comparison("eq", "=", "is null")
define_comparison("ne", "<>", "is not null")
define_comparison("lt", "<")
define_comparison("le", "<=")
define_comparison("gt", ">")
define_comparison("ge", ">=")
define_comparison("is", "is", "is null")
define_comparison("is_not", "is not", "is not null")

function methods:is_null() return unary(self, "is null") end
function methods:is_not_null() return unary(self, "is not null") end

function methods:between(low, high)
  if high == nil then
    raise("argument", "column:between: argument 2: expected the upper bound, got nil; use column:between(low, high)")
  end
  local shape = self.shape
  local dates = date_comparisons.between(self, low, high)
  if dates then return dates end
  operators.check_compared(self, ">=", low, "column:between")
  operators.check_compared(self, "<=", high, "column:between")
  return list_operation("between", nil, { self, as_column(shape, low), as_column(shape, high), n = 3 }, "column:between")
end

local function define_pattern(name, op)
  methods[name] = function(self, pattern, escape)
    if escape == nil then return binary(self, op, pattern, "column:" .. name) end
    if type(escape) ~= "string" or utf8.len(escape) ~= 1 then
      raise("argument", "column:" .. name .. ": argument 2: expected one character, got " .. errors.describe(escape))
    end
    return list_operation(op, escape, { self, pattern, n = 2 }, "column:" .. name)
  end
end

define_pattern("like", "like")

--- Makes LIKE and GLOB raise for a pattern with only the other one's wildcards, unless it has an escape character.
local function check_wildcards(name, others, own, cure)
  local search = methods[name]
  methods[name] = function(self, pattern, escape)
    if escape == nil and type(pattern) == "string" and pattern:find(others) and not pattern:find(own) then
      raise("argument", ("column:%s: the pattern %q has no wildcard of %s; %s"):format(name, pattern, name:upper(), cure))
    end
    return search(self, pattern, escape)
  end
end

check_wildcards("like", "%*$", "[%%_]", "its wildcards are `%` for any text and `_` for one character; use column:glob(pattern) for `*` and `?`")

function methods:glob(pattern) return binary(self, "glob", pattern, "column:glob") end

check_wildcards("glob", "%%", "[*?%[]", "its wildcards are `*` for any text and `?` for one character; use column:like(pattern) for `%` and `_`")
function methods:regexp(pattern) return binary(self, "regexp", pattern, "column:regexp") end

--- Returns a full-text search. The pattern is in FTS5 syntax or comes from perilune.full_text_pattern.
function methods:match(pattern) return binary(self, "match", pattern, "column:match") end

--- Defines a search for literal text, in which `%` and `_` have no special meaning. It treats case in the same way as LIKE.
local function define_text_search(name, before, after)
  methods[name] = function(self, text)
    if type(text) ~= "string" then
      raise("argument", "column:" .. name .. ": argument 1: expected a string, got " .. errors.describe(text))
    end
    return self:like(before .. text:gsub("[\\%%_]", "\\%0") .. after, "\\")
  end
end

define_text_search("contains", "%", "%")
define_text_search("starts_with", "", "%")
define_text_search("ends_with", "%", "")

--- Returns the condition that the value is in a list or in the result of a request. No value is in an empty list.
function methods:is_in(list) return require("perilune.expressions.subquery").is_in(self, list, "column:is_in") end
function methods:is_not_in(list) return ~self:is_in(list) end

--- Makes comparisons and orders use a collation: "nocase", "rtrim", "localized_case_insensitive" (natural language), or an added one.
function methods:collating(name)
  local collation = require("perilune.runtime.collations").name(check_string("column:collating", name, "a collation"))
  local collated = unary(self, "collate", collation)
  -- Values that are compared with the result are converted in the same way as for the column itself.
  shapes.set_type(collated.shape, operators.type_of(self.shape))
  return collated
end

function methods:as(name) return unary(self, "as", check_string("column:as", name, "a name")) end

for name, op in pairs{ asc = "asc", desc = "desc", nulls_first = "nulls first", nulls_last = "nulls last" } do
  methods[name] = function(self) return unary(self, op) end
end

local cast_types = { "integer", "real", "text", "blob", "numeric" }

function methods:cast(type_name)
  local wanted = type(type_name) == "string" and type_name:lower() or type_name
  for _, known in ipairs(cast_types) do
    if known == wanted then return unary(self, "cast", known) end
  end
  raise("argument", "column:cast: argument 1: expected one of " .. table.concat(cast_types, ", ") .. ", got "
    .. errors.describe(type_name))
end

arity.limit(methods, "column:", {
  is_null = 0, is_not_null = 0, between = 2, like = 2, glob = 1, regexp = 1, match = 1, contains = 1, starts_with = 1, ends_with = 1,
  is_in = 1, is_not_in = 1, collating = 1, as = 1, asc = 0, desc = 0, nulls_first = 0, nulls_last = 0, cast = 1,
}, {
  is_in = "use column:is_in{ a, b } for several values", is_not_in = "use column:is_not_in{ a, b } for several values", contains = "use | for several texts",
  asc = "use column:asc():nulls_last()", desc = "use column:desc():nulls_first()",
})

-- Unknown names ------------------------------------------------------------------------------------------------------

local function names_of_methods()
  local names = {}
  for name in pairs(methods) do names[#names + 1] = name end
  table.sort(names)
  return names
end

setmetatable(methods, { __index = function(_, name)
  if type(name) == "number" then
    raise("unknown_method", ("an expression has no elements; use column:json(\"$[%s]\") for an element of a JSON document"):format(
      math.type(name) == "integer" and name > 0 and name - 1 or name), { name = tostring(name) })
  end
  local _, err = pcall(require("perilune.runtime.other_names").raise, "column", "method", name, names_of_methods())
  if type(name) ~= "string" or err.advice then error(err, 0) end
  raise("unknown_method", ("%s; use column:json(%q) for a member of a JSON document"):format(err.message, name),
    { name = name, suggestion = err.suggestion })
end })
operators.metatable.__index = receivers.checked_methods(receivers.kinds.expression, methods, comparisons)

return methods
