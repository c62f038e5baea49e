--- Interning: what is derived in the same way from the same thing is made once, so that equal ones are the same table.
--
-- What is derived is kept by the thing that it was derived from. By texts and numbers, which are without end, a limited number is kept;
-- what was derived with another thing is forgotten with that.

local interning = {}
local weak_keys = { __mode = "k" }

--- How many things are kept by text, unless an origin says otherwise.
local usual_limit = 200

--- Lets a table keep what is derived from it.
-- @tparam ?integer limit how many it keeps by text
function interning.origin(thing, limit)
  thing.by_text, thing.by_other, thing.text_count, thing.text_limit = {}, {}, 0, limit or usual_limit
  return thing
end

--- What an operation derives from a thing with a text, a number or nil.
-- @tparam function make `make(origin, op, text)` makes it at first; if it raises, nothing is kept
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

--- What an operation derives from a thing with another one.
-- @tparam function make `make(origin, op, other, ...)` makes it at first; if it raises, nothing is kept
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
