--- Lua tokens, for rewriting `check` and for quoting source in failures.
-- A token is a table { kind = "name"
-- "number"
-- "string"
-- "operator", text, from, to, line }.

local scenario_tokens = {}

local long_operators = { ["..."] = true, [".."] = true, ["=="] = true, ["~="] = true, ["<="] = true, [">="] = true, ["//"] = true,
  ["<<"] = true, [">>"] = true, ["::"] = true }

local byte, find, sub = string.byte, string.find, string.sub

local function count_lines(text, from, to)
  local count, position = 0, find(text, "\n", from, true)
  while position and position <= to do
    count, position = count + 1, find(text, "\n", position + 1, true)
  end
  return count
end

--- Returns the end of the long bracket that begins at a position; nil if no long bracket begins there, or if its end is missing.
local function long_bracket(text, from)
  local level = text:match("^%[(=*)%[", from)
  if not level then return nil end
  local _, to = text:find("]" .. level .. "]", from + #level + 2, true)
  return to
end

local function quoted(text, from)
  local quote, position = text:sub(from, from), from + 1
  while true do
    position = text:find("[\\\n" .. quote .. "]", position)
    if not position or text:byte(position) == 10 then return nil end
    if text:sub(position, position) == quote then return position end
    -- A backslash and the escaped character, which may be a line break.
    local _, space = text:find("^z%s*", position + 1)
    position = space and space + 1 or position + 2
  end
end

local function number(text, from)
  local exponent = text:find("^0[xX]", from) and "^[pP][+-]?" or "^[eE][+-]?"
  local position = from
  while true do
    local _, to = text:find(exponent, position)
    if not to then _, to = text:find("^[%w_.]", position) end
    if not to then return position - 1 end
    position = to + 1
  end
end

local function operator(text, from)
  for length = 3, 2, -1 do
    if long_operators[sub(text, from, from + length - 1)] then return from + length - 1 end
  end
  return from
end

--- The kinds of tokens by first byte: names, and operators of one character. For other tokens, the first byte is not enough.
local kinds = {}
for code = 0, 127 do
  local character = string.char(code)
  if character:find("[%a_]") then kinds[code] = "name"
  elseif character:find("[(){}%],;#+*%%^&|-]") then kinds[code] = "operator" end
end

--- Returns the position of the next token, after white space and comments; nil if a comment does not end.
local function skip_blanks(text, position)
  while true do
    position = find(text, "%S", position)
    if not position then return #text + 1 end
    if byte(text, position) ~= 45 or byte(text, position + 1) ~= 45 then return position end
    if text:find("^%[=*%[", position + 2) then
      local to = long_bracket(text, position + 2)
      if not to then return nil end
      position = to + 1
    else
      position = text:find("\n", position, true) or #text + 1
    end
  end
end

local function token_at(text, position)
  local kind = kinds[byte(text, position)]
  if kind == "operator" then return kind, position end
  if kind then
    local _, to = find(text, "^[%w_]+", position)
    return kind, to
  end
  if text:find("^%.?%d", position) then return "number", number(text, position) end
  if text:find("^[\"']", position) then return "string", quoted(text, position) end
  if text:find("^%[=*%[", position) then return "string", long_bracket(text, position) end
  return "operator", operator(text, position)
end

--- Returns the tokens of a text in order; nil if the scanner finds text that is not Lua.
function scenario_tokens.of(text)
  local list, count, line, seen, last = {}, 0, 1, 1, #text
  local position = skip_blanks(text, 1)
  while position and position <= last do
    line, seen = line + count_lines(text, seen, position - 1), position
    local kind, to = token_at(text, position)
    if not to then return nil end
    count = count + 1
    list[count] = { kind = kind, text = sub(text, position, to), from = position, to = to, line = line }
    position = skip_blanks(text, to + 1)
  end
  return position and list
end

local opening = { ["("] = true, ["["] = true, ["{"] = true, ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true }
local closing = { [")"] = true, ["]"] = true, ["}"] = true, ["end"] = true, ["until"] = true }

--- Visits the tokens between a bracket and its closing bracket.
-- @param open the index of the bracket
-- @param visit receives the index of each token that is not in an inner bracket or block
-- @return the index of the closing bracket; nil if it is missing
function scenario_tokens.inside(list, open, visit)
  local depth = 0
  for index = open + 1, #list do
    local token = list[index]
    local text = token.kind ~= "string" and token.text
    if closing[text] then
      if depth == 0 then return index end
      depth = depth - 1
    elseif depth == 0 and visit then
      visit(index, token)
    end
    if opening[text] then depth = depth + 1 end
  end
end

return scenario_tokens
