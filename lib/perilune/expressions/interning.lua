--- Interning of derivations: if something is derived twice from the same origin in the same way, the result is the same table.
--
-- An origin stores its derivations. The number of derivations by text or number is limited, because scripts may use any number of different
-- texts. A derivation by another object is removed when that object is garbage-collected.

local interning = {}
local weak_keys = { __mode = "k" }

--- The default number of derivations by text that an origin stores.
local usual_limit = 200

--- Makes a table an origin.
-- @tparam ?integer limit the maximum number of derivations by text that it stores
function interning.origin(thing, limit)
  thing.by_text, thing.by_other, thing.text_count, thing.text_limit = {}, {}, 0, limit or usual_limit
  return thing
end

--- Returns the derivation of an origin by an operation with text, a number or nil.
-- @tparam function make `make(origin, op, text)` creates the derivation the first time; if `make` raises, nothing is stored
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
-- @tparam function make `make(origin, op, other, ...)` creates it the first time; if it raises, nothing is stored
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
