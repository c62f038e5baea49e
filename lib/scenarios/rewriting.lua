--- Rewrites `check(a == b)` so that a failure can show both operands: `check.compare("==", "a", "b", (a), (b))`.
-- Anything else, also a condition with `and` or `or` outside of brackets, becomes `check.value("...", (...))`. Lines stay where
-- they are. A file with a line `-- check: plain` is left as it is, and so is one that gives the name `check` to something else.

local state = require "scenarios.state"
local tokens = lazily "scenarios.tokens"

local comparisons = { ["=="] = true, ["~="] = true, ["<"] = true, [">"] = true, ["<="] = true, [">="] = true }

--- The source of an operand on one line, as text for messages.
local function source_of(text, from, to)
  local source = text:sub(from, to):gsub("%s+", " ")
  if #source > 200 then source = source:sub(1, 197):gsub("[\x80-\xBF]*$", "") .. "..." end
  return ("%q"):format(source)
end

local function text_at(list, index)
  local token = list[index]
  return token and token.kind ~= "string" and token.text
end

--- Whether the `check` at an index is a name that is being declared or assigned.
local function is_declared(list, index)
  local before, after = text_at(list, index - 1), text_at(list, index + 1)
  if before == "local" or before == "function" then return true end
  if after == "=" and before ~= "." and before ~= "{" and before ~= "," then return true end
  local is_parameter = before == "(" and (text_at(list, index - 2) == "function" or text_at(list, index - 3) == "function")
  return is_parameter and (after == ")" or after == ",")
end

--- The first argument of a call: the indexes of its first and last token, of the last comparison in it, and whether the
-- comparison is the outermost operation.
local function read_argument(list, open)
  local argument_end, comparison, is_logical
  local close = tokens.inside(list, open, function(index, token)
    if argument_end or token.kind == "string" then return end
    if token.text == "," then argument_end = index - 1
    elseif comparisons[token.text] then comparison = index
    elseif token.text == "and" or token.text == "or" then is_logical = true end
  end)
  if not close then return nil end
  return { first = open + 1, last = argument_end or close - 1, comparison = not is_logical and comparison or nil }
end

--- Notes how the call at an index is to be changed.
local function rewrite_call(text, list, index, edits)
  local argument = read_argument(list, index + 1)
  if not argument or argument.last < argument.first then return end
  local first, last = list[argument.first], list[argument.last]
  local comparison = list[argument.comparison]
  local function edit(from, to, replacement) edits[#edits + 1] = { from = from, to = to, text = replacement } end
  local name, bracket = list[index], list[index + 1]
  if comparison then
    edit(name.to + 1, name.to, ".compare")
    edit(bracket.to + 1, bracket.to, ("%q, %s, %s, ("):format(comparison.text,
      source_of(text, first.from, list[argument.comparison - 1].to),
      source_of(text, list[argument.comparison + 1].from, last.to)))
    edit(comparison.from, comparison.to, "), (")
  else
    edit(name.to + 1, name.to, ".value")
    edit(bracket.to + 1, bracket.to, source_of(text, first.from, last.to) .. ", (")
  end
  edit(last.to + 1, last.to, ")")
end

local function apply(text, edits)
  table.sort(edits, function(left, right)
    if left.from ~= right.from then return left.from < right.from end
    return left.order < right.order
  end)
  local parts, position = {}, 1
  for _, edit in ipairs(edits) do
    parts[#parts + 1] = text:sub(position, edit.from - 1)
    parts[#parts + 1] = edit.text
    position = edit.to + 1
  end
  parts[#parts + 1] = text:sub(position)
  return table.concat(parts)
end

--- The text with its calls of `check` rewritten.
return function(text)
  if not text:find("%f[%w_]check%s*%(") or ("\n" .. text):find("\n%s*%-%-%s*check:%s*plain%s*%f[\n\0]") then return text end
  local list = tokens.of(text)
  if not list then return text end
  local edits = {}
  for index, token in ipairs(list) do
    if token.text == "check" and token.kind == "name" then
      if is_declared(list, index) then return text end
      local before = text_at(list, index - 1)
      if before ~= "." and before ~= ":" and text_at(list, index + 1) == "(" then rewrite_call(text, list, index, edits) end
    end
  end
  -- What an outer call inserts at a place stands after what an inner one does: `check(f(check(x)))` closes inside first.
  for order, edit in ipairs(edits) do edit.order = edit.text == ")" and -order or order end
  return apply(text, edits)
end
