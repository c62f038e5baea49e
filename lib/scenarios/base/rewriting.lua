--- Rewrites `check(a == b)` so that a failure can show both operands: `check.compare("==", "a", "b", (a), (b))`. A condition with several
-- operands becomes `check.logic("a and b", function(operand) return ... end)`. In the function, each operand becomes `operand.value("a",
-- (a))` or `operand.compare("==", "a", "b", (a), (b))`, which records its value. The same operands are evaluated as without the rewriting.
-- Any other condition becomes `check.value("...", (...))`. Lines keep their numbers. A file that contains the line `-- check: plain`, or
-- that defines another `check`, is not changed.

local tokens = lazily "scenarios.base.tokens"

local comparisons = { ["=="] = true, ["~="] = true, ["<"] = true, [">"] = true, ["<="] = true, [">="] = true }

--- Returns the source of an operand on one line, as text for messages.
local function source_of(text, from, to)
  local source = text:sub(from, to):gsub("%s+", " ")
  if #source > 200 then source = source:sub(1, 197):gsub("[\x80-\xBF]*$", "") .. "..." end
  return ("%q"):format(source)
end

local function text_at(list, index)
  local token = list[index]
  return token and token.kind ~= "string" and token.text
end

--- Returns whether the `check` at an index is a name that is being declared or assigned.
local function is_declared(list, index)
  local before, after = text_at(list, index - 1), text_at(list, index + 1)
  if before == "local" or before == "function" then return true end
  if after == "=" and before ~= "." and before ~= "{" and before ~= "," then return true end
  local is_parameter = before == "(" and (text_at(list, index - 2) == "function" or text_at(list, index - 3) == "function")
  return is_parameter and (after == ")" or after == ",")
end

--- Returns the indexes of the first and last tokens of a call's first argument.
local function read_argument(list, open)
  local argument_end
  local close = tokens.inside(list, open, function(index, token)
    if not argument_end and token.kind ~= "string" and token.text == "," then argument_end = index - 1 end
  end)
  if close then return open + 1, argument_end or close - 1 end
end

--- Returns the operands of the `and` and `or` operators between two tokens that are not inside brackets: a list of { first, last,
-- comparison }. `comparison` is the index of the last comparison operator in the operand, which is the outermost one.
local function operands_of(list, first, last)
  local operands = { { first = first } }
  tokens.inside(list, first - 1, function(index, token)
    if index > last or token.kind == "string" then return end
    if token.text == "and" or token.text == "or" then
      operands[#operands].last = index - 1
      operands[#operands + 1] = { first = index + 1 }
    elseif comparisons[token.text] then
      operands[#operands].comparison = index
    end
  end)
  operands[#operands].last = last
  return operands
end

local literals = { ["nil"] = true, ["true"] = true, ["false"] = true }

--- Adds the edits that show the operands between two tokens: operands of `and`, `or` and `not`, including operands in brackets.
local function rewrite_operands(text, list, first, last, edit)
  for _, operand in ipairs(operands_of(list, first, last)) do
    local from, to = operand.first, operand.last
    if operand.comparison then
      edit(list[from].from, list[from].from - 1, ("__operand.compare(%q, %s, %s, ("):format(list[operand.comparison].text,
        source_of(text, list[from].from, list[operand.comparison - 1].to),
        source_of(text, list[operand.comparison + 1].from, list[to].to)))
      edit(list[operand.comparison].from, list[operand.comparison].to, "), (")
      edit(list[to].to + 1, list[to].to, "))")
    else
      while text_at(list, from) == "not" do from = from + 1 end
      if text_at(list, from) == "(" and tokens.inside(list, from) == to then
        rewrite_operands(text, list, from + 1, to - 1, edit)
      elseif from < to or list[from].kind == "name" and not literals[list[from].text] then
        edit(list[from].from, list[from].from - 1, "__operand.value(" .. source_of(text, list[from].from, list[to].to) .. ", (")
        edit(list[to].to + 1, list[to].to, "))")
      end
    end
  end
end

--- Returns whether the operands between two tokens can be shown separately: there are several, or a single one that is negated or
-- in brackets. Returns false if `...` is used, because a nested function could not access it.
local function has_operands(list, first, last)
  for index = first, last do
    if text_at(list, index) == "..." then return false end
  end
  local operands = operands_of(list, first, last)
  if #operands > 1 then return true end
  local is_bracketed = text_at(list, first) == "(" and tokens.inside(list, first) == last
  return not operands[1].comparison and (is_bracketed or text_at(list, first) == "not")
end

--- Adds the edits for the call at an index.
local function rewrite_call(text, list, index, edits)
  local first_index, last_index = read_argument(list, index + 1)
  if not first_index or last_index < first_index then return end
  local first, last = list[first_index], list[last_index]
  local comparison_index = operands_of(list, first_index, last_index)[1].comparison
  local function edit(from, to, replacement) edits[#edits + 1] = { from = from, to = to, text = replacement } end
  local name, bracket = list[index], list[index + 1]
  if has_operands(list, first_index, last_index) then
    edit(name.to + 1, name.to, ".logic")
    edit(bracket.to + 1, bracket.to, source_of(text, first.from, last.to) .. ", function(__operand) return ")
    rewrite_operands(text, list, first_index, last_index, edit)
    edit(last.to + 1, last.to, " end")
    return
  end
  if comparison_index then
    local comparison = list[comparison_index]
    edit(name.to + 1, name.to, ".compare")
    edit(bracket.to + 1, bracket.to, ("%q, %s, %s, ("):format(comparison.text,
      source_of(text, first.from, list[comparison_index - 1].to),
      source_of(text, list[comparison_index + 1].from, last.to)))
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

--- Returns the text with its calls of `check` rewritten.
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
  -- Closing brackets of inner calls precede the brackets of outer calls at the same position: `check(f(check(x)))`.
  for order, edit in ipairs(edits) do edit.order = edit.text == ")" and -order or order end
  return apply(text, edits)
end
