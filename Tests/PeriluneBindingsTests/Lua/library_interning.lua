-- Interning: shapes of expressions and nodes of requests.

local interning = library("perilune.expressions.interning")

local function child(origin, op, other) return { parent = origin, op = op, other = other } end

test("equal derivations return the same object", function()
  local origin = {}
  local other = {}
  assert(interning.with_text(origin, "limit", 5, child) == interning.with_text(origin, "limit", 5, child))
  assert(interning.with_text(origin, "not", nil, child) == interning.with_text(origin, "not", nil, child))
  assert(interning.with_other(origin, "and", other, child) == interning.with_other(origin, "and", other, child))
  for _, different in ipairs{
    { interning.with_text(origin, "limit", 6, child), interning.with_text(origin, "offset", 5, child) },
    { interning.with_other(origin, "or", other, child), interning.with_other(origin, "and", {}, child) },
    { interning.with_text(origin, "not", "", child), interning.with_text(origin, "not", nil, child) },
  } do assert(different[1] ~= different[2]) end
end)

test("failed derivations are not cached", function()
  local origin = {}
  local function fail() error("no", 0) end
  assert(not pcall(interning.with_text, origin, "limit", 5, fail))
  assert(not pcall(interning.with_other, origin, "and", origin, fail))
  equal(interning.with_text(origin, "limit", 5, child).op, "limit")
  equal(interning.with_other(origin, "and", origin, child).op, "and")
end)

test("a limited number of derivations is cached by text", function()
  local origin, made = { text_limit = 10 }, 0
  local function count() made = made + 1 return {} end
  for number = 1, 100 do interning.with_text(origin, "limit", number, count) end
  local kept = 0
  for _, by_text in pairs(origin.by_text) do for _ in pairs(by_text) do kept = kept + 1 end end
  equal(made, 100)
  assert(kept <= 10)
end)

test("a cached derivation is released together with its other operand", function()
  local origin = {}
  for _ = 1, 50 do interning.with_other(origin, "and", {}, child) end
  collectgarbage()
  collectgarbage()
  equal(next(origin.by_other["and"]), nil)
end)

test("expressions that differ only in values share a shape", function()
  local id = perilune.column("id")
  local shape_of = function(expression) return rawget(expression, "shape") end
  assert(shape_of(id:eq(1) & id:gt(2)) == shape_of(id:eq(3) & id:gt(4)))
  assert(shape_of(perilune.sql("x")) == shape_of(perilune.sql("x")))
  assert(shape_of(perilune.sql("x")) ~= shape_of(perilune.column("x")))
end)
