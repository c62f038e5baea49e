--- Expressions: SQL expressions written in Lua.
--
--     Author.c.age:gt(18) & ~Author.c.country:is_null()
--     Author.c.first_name .. " " .. Author.c.last_name
--
-- An expression is a shape, shared by all expressions that differ in nothing but their values, and these values in the order in
-- which it was written. Shapes are made once; Swift sees them when a request is first compiled.

require "perilune.expressions.functions"
require "perilune.runtime.loading"(require "perilune.expressions.methods", "perilune.expressions.windows", {
  "over", "order", "distinct", "lag", "lead", "first_value", "last_value", "nth_value",
})
return require "perilune.expressions.constructors"
