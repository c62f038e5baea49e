--- Expressions: SQL expressions written in Lua.
--
--     Author.c.age:gt(18) & ~Author.c.country:is_null()
--     Author.c.first_name .. " " .. Author.c.last_name
--
-- An expression is a shape, and a list of its values in the order in which they were written. Expressions that differ only in their values
-- have the same shape. Each shape is created once; it is first passed to Swift when a request that contains it is compiled.

local methods = require "perilune.expressions.methods"
for name, method in next, require "perilune.expressions.functions" do methods[name] = method end
require "perilune.runtime.loading"(methods, "perilune.expressions.windows", {
  "over", "order", "distinct", "lag", "lead", "first_value", "last_value", "nth_value",
})
return require "perilune.expressions.constructors"
