--- Interning: equal derivations of the same origin return the same table.
--
-- Each origin keeps its derivations, but only a limited number of derivations by text or number, because these are unlimited. A
-- derivation from another object is forgotten together with that object.

local interning = {}
local weak_keys = { __mode = "k" }

--- The number of derivations by text that an origin keeps by default.
local usual_limit = 200

--- Makes a table an origin, which keeps its derivations.
-- @tparam ?integer limit the number of derivations by text that it keeps
function interning.origin(thing, limit)
  thing.by_text, thing.by_other, thing.text_count, thing.text_limit = {}, {}, 0, limit or usual_limit
  return thing
end

--- Returns the derivation of an origin by an operation with a text, a number or nil.
-- @tparam function make `make(origin, op, text)` makes it the first time; if it raises, nothing is kept
function interning.with_text(origin, op, text, make)
  local made, key = origin.by_text[op], text == nil or text
  local found = made and made[key]
  if found then return found end
  found = make(origin, op, text)
  if origin.text_count >= origin.text_limit then origin.by_text, origin.text_count = {}, 0 end
  made = origin.by_text[op] or {}
  origin.by_text[op], origin.text_count = made, origin.text_count + 1
  made[key] = found
  return found
end

--- Returns the derivation of an origin by an operation with another object.
-- @tparam function make `make(origin, op, other, ...)` makes it the first time; if it raises, nothing is kept
function interning.with_other(origin, op, other, make, ...)
  local made = origin.by_other[op]
  if not made then
    made = setmetatable({}, weak_keys)
    origin.by_other[op] = made
  end
  local found = made[other]
  if not found then
    found = make(origin, op, other, ...)
    made[other] = found
  end
  return found
end

return interning
