--- Comparisons in SQL text: which column or function is compared with which value.

local native_sql = require "perilune.native.sql"

local text_comparisons = {}

local signs = { ["="] = true, ["=="] = true, ["<>"] = true, ["!="] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true }

--- Returns the tokens of a text without blanks and comments; adjacent signs of one operator are one token.
local function tokens_of(text)
  local list = {}
  for _, token in ipairs(native_sql.tokens(text)) do
    local last = list[#list]
    if token.kind == "sign" and last and last.kind == "sign" and last.is_open and (signs[last.text .. token.text] or last.text .. token.text == "->"
      or last.text .. token.text == "->>") then
      last.text = last.text .. token.text
    elseif token.kind ~= "blank" and token.kind ~= "comment" then
      list[#list + 1] = { kind = token.kind, text = token.text, name = token.name, is_open = true }
    end
    if (token.kind == "blank" or token.kind == "comment") and last then last.is_open = false end
  end
  return list
end

--- Numbers the parameters as SQLite does: the position of `?` and `?1`, the name of the others.
local function number_parameters(tokens)
  local count = 0
  for _, token in ipairs(tokens) do
    if token.kind == "parameter" then
      local name = token.text:sub(2)
      if token.text:byte() ~= 63 then token.parameter = name
      else
        count = name == "" and count + 1 or tonumber(name)
        token.parameter = count
      end
    end
  end
end

local function word_of(token) return token and token.kind == "word" and token.text:lower() or nil end

--- Returns the left side of the comparison at a position: a column, or the call of a function with its first argument.
local function left_of(tokens, index)
  local token = tokens[index - 1]
  if not token then return nil end
  if token.kind == "string" and tokens[index - 2] and (tokens[index - 2].text == "->") then return { is_json = true } end
  if token.kind == "word" or token.kind == "name" then return { column = token.name or token.text } end
  if token.text ~= ")" then return nil end
  local depth, start = 0, nil
  for position = index - 1, 1, -1 do
    local text = tokens[position].kind == "sign" and tokens[position].text
    if text == ")" then depth = depth + 1 elseif text == "(" then depth = depth - 1 end
    if depth == 0 then start = position break end
  end
  local name = start and word_of(tokens[start - 1])
  if not name then return nil end
  local shown = {}
  for position = start - 1, index - 1 do shown[#shown + 1] = tokens[position].text end
  local first = tokens[start + 1]
  return { call = name, first = first.kind == "string" and first.text:sub(2, -2) or nil, shown = table.concat(shown) }
end

--- Adds the value at a position to a comparison. Returns it, or nil if the operand is not a value.
local function with_value(comparison, tokens, index)
  local token = tokens[index]
  if not token then return nil end
  if token.kind == "string" then comparison.value = token.text:sub(2, -2):gsub("''", "'")
  elseif token.kind == "number" then
    comparison.value, comparison.text = tonumber(token.text) or 0, token.text
    if tokens[index + 1] and tokens[index + 1].text == "-" and tokens[index + 2] and tokens[index + 2].kind == "number" then
      comparison.text = token.text .. "-" .. tokens[index + 2].text .. (tokens[index + 3] and tokens[index + 3].text == "-" and "-..." or "")
    end
  elseif token.kind == "parameter" then comparison.parameter = token.parameter
  elseif token.kind == "word" and tokens[index + 1] and tokens[index + 1].text == "(" then
    local argument = tokens[index + 2]
    comparison.function_name = token.text:lower()
    comparison.argument = argument and argument.kind == "string" and argument.text:sub(2, -2) or nil
  elseif token.kind == "word" then comparison.word = token.text:lower()
  else return nil end
  return comparison
end

local function read(text)
  local list, tokens = {}, tokens_of(text)
  number_parameters(tokens)
  local function add(left, op, index)
    if not left then return end
    local comparison = { op = left.is_json and "->" or op, column = left.column, call = left.call, first = left.first, shown = left.shown }
    list[#list + 1] = with_value(comparison, tokens, index)
  end
  for index, token in ipairs(tokens) do
    local word = word_of(token)
    if token.kind == "sign" and signs[token.text] then add(left_of(tokens, index), token.text, index + 1)
    elseif word == "or" and tokens[index + 1] and (tokens[index + 1].kind == "string" or tokens[index + 1].kind == "parameter") then
      -- A value that is a condition by itself, as in `name = 'a' OR 'b'`.
      local following = tokens[index + 2]
      if not following or following.text == ")" or word_of(following) == "or" or word_of(following) == "and" then
        list[#list + 1] = with_value({ op = "or", first_column = list[#list] and list[#list].column }, tokens, index + 1)
      end
    elseif word == "like" then add(left_of(tokens, index), word, index + 1)
    elseif word == "between" then
      local left = left_of(tokens, index)
      add(left, word, index + 1)
      if word_of(tokens[index + 2]) == "and" then add(left, word, index + 3) end
    elseif word == "in" and tokens[index + 1] and tokens[index + 1].text == "(" then
      local left, position = left_of(tokens, index), index + 2
      while left and tokens[position] and tokens[position + 1] and (tokens[position + 1].text == "," or tokens[position + 1].text == ")") do
        add(left, word, position)
        position = position + 2
      end
    end
  end
  return list
end

--- Comparisons by text. Few texts are used again and again.
local known, count = {}, 0
local most_known = 500

--- Returns the comparisons in a text. Each has `op`, in lower case. Its left side is `column`; or `call`, the name of a function, with
-- `first`, the text of its first argument, and `shown`. Its right side is `value`, `parameter` (a position or a name), `word` or
-- `function_name`.
function text_comparisons.of(text)
  if not known[text] then
    if count >= most_known then known, count = {}, 0 end
    known[text], count = read(text), count + 1
  end
  return known[text]
end

return text_comparisons
