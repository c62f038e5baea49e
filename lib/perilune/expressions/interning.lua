--- Interning of derivations: if something is derived twice from the same origin in the same way, the result is the same table.
--
-- An origin stores its derivations. The number of derivations by text or number is limited, because scripts may use any number of different
-- texts. A derivation by another object is removed when that object is garbage-collected. Most origins have few derivations or none, so their
-- lists are created on first use.

local interning = {}
local weak_keys = { __mode = "k" }

--- The default number of derivations by text that an origin stores.
local usual_limit = 200

--- Returns the derivation of an origin, which can be any table, by an operation with text, a number or nil. The origin's field `text_limit`
-- is the maximum number of derivations by text that it stores, if it is not the default.
-- @tparam function make `make(origin, op, text)` creates the derivation the first time; if `make` raises, nothing is stored
function interning.with_text(origin, op, text, make)
  local by_text, key = origin.by_text, text == nil or text
  local made = by_text and by_text[op]
  local found = made and made[key]
  if found then return found end
  found = make(origin, op, text)
  by_text = origin.by_text
  if not by_text or origin.text_count >= (origin.text_limit or usual_limit) then
    by_text = {}
    origin.by_text, origin.text_count = by_text, 0
  end
  made = by_text[op] or {}
  by_text[op], origin.text_count = made, origin.text_count + 1
  made[key] = found
  return found
end

--- Returns the derivation of an origin by an operation with another object.
-- @tparam function make `make(origin, op, other, ...)` creates it the first time; if it raises, nothing is stored
function interning.with_other(origin, op, other, make, ...)
  local by_other = origin.by_other
  if not by_other then
    by_other = {}
    origin.by_other = by_other
  end
  local made = by_other[op]
  if not made then
    made = setmetatable({}, weak_keys)
    by_other[op] = made
  end
  local found = made[other]
  if not found then
    found = make(origin, op, other, ...)
    made[other] = found
  end
  return found
end

return interning
