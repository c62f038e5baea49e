--- Expressions: SQL expressions written in Lua.
--
--     Author.c.age:gt(18) & ~Author.c.country:is_null()
--     Author.c.first_name .. " " .. Author.c.last_name
--
-- An expression consists of a shape and a list of values, in the order in which they were written. Expressions that differ only in their
-- values share a shape. A shape is passed to Swift when a request that contains it is first compiled.

local methods = require "perilune.expressions.methods"
for name, method in next, require "perilune.expressions.functions" do methods[name] = method end
require "perilune.runtime.loading"(methods, "perilune.expressions.windows", {
  "over", "order", "distinct", "lag", "lead", "first_value", "last_value", "nth_value",
})
return require "perilune.expressions.constructors"
