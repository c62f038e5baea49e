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

--- Numbers the parameters as SQLite does: the position of `?` and `?1`, the name of the others. Marks each parameter that occurs once.
local function number_parameters(tokens)
  local count, first = 0, {}
  for _, token in ipairs(tokens) do
    if token.kind == "parameter" then
      local name = token.text:sub(2)
      if token.text:byte() ~= 63 then token.parameter = name
      else
        count = name == "" and count + 1 or tonumber(name)
        token.parameter = count
      end
      local other = first[token.parameter]
      token.is_single = not other
      if other then other.is_single = false end
      first[token.parameter] = other or token
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

--- The functions and keywords of SQL that return dates as text.
local texts_of_dates = { date = true, datetime = true, current_date = true, current_timestamp = true }

--- Returns the position of the parenthesis that closes the one at a position.
local function closing_of(tokens, index)
  local depth = 0
  for position = index, #tokens do
    local text = tokens[position].kind == "sign" and tokens[position].text
    if text == "(" then depth = depth + 1 elseif text == ")" then depth = depth - 1 end
    if depth == 0 then return position end
  end
  return #tokens
end

--- Returns the number that is added to or subtracted from the operand that ends at a position, with its sign.
local function shift_after(tokens, index)
  local sign, number = tokens[index + 1], tokens[index + 2]
  if sign and (sign.text == "-" or sign.text == "+") and number and number.kind == "number" then return sign.text .. number.text end
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
  elseif token.kind == "parameter" then comparison.parameter, comparison.is_single = token.parameter, token.is_single
  elseif token.kind == "word" and tokens[index + 1] and tokens[index + 1].text == "(" then
    local argument = tokens[index + 2]
    comparison.function_name = token.text:lower()
    comparison.argument = argument and argument.kind == "string" and argument.text:sub(2, -2) or nil
    comparison.shift = texts_of_dates[comparison.function_name] and shift_after(tokens, closing_of(tokens, index + 1)) or nil
  elseif token.kind == "word" then
    comparison.word = token.text:lower()
    comparison.shift = texts_of_dates[comparison.word] and shift_after(tokens, index) or nil
  else return nil end
  return comparison
end

local aggregates = { count = true, sum = true, avg = true }
local orders = { ["<"] = true, ["<="] = true, [">"] = true, [">="] = true }
local ends_of_operands = { ["and"] = true, ["or"] = true, when = true, ["then"] = true, ["else"] = true }

--- The functions of dates, with the position of the date among their arguments.
local date_functions = { date = 1, time = 1, datetime = 1, julianday = 1, unixepoch = 1, strftime = 2 }

--- Returns the first literal among the arguments of a function of dates that SQLite does not understand, so that the result is NULL.
local function unknown_modifier(tokens, index)
  local is_modifier = require("perilune.expressions.comparison_mistakes").is_modifier
  local position, depth, date_position = 1, 0, date_functions[word_of(tokens[index])]
  for place = index + 2, closing_of(tokens, index + 1) - 1 do
    local token, text = tokens[place], tokens[place].text
    if text == "(" then depth = depth + 1 elseif text == ")" then depth = depth - 1 end
    if depth == 0 and text == "," then position = position + 1 end
    local following = tokens[place + 1].text
    local is_alone = (following == "," or following == ")") and depth == 0
    local before = tokens[place - 1].text
    if token.kind == "string" and is_alone and (before == "," or before == "(") then
      local value = text:sub(2, -2)
      local is_date = position == date_position and (value:lower() == "now" or not value:find("^%a+$"))
      if position >= date_position and not is_date and not is_modifier(value) then return text end
    elseif token.kind == "number" and is_alone and position > date_position then return text end
  end
end

--- Returns whether a token is text that is not a number.
local function is_text(token) return token ~= nil and token.kind == "string" and not tonumber((token.text:sub(2, -2))) end

--- Returns the first part of a text that a condition cannot have, in lower case: a clause such as `where` or `order by`, `&&`, `||` between
-- two comparisons, `interval`, `+` with a text, `chain` for `a < b < c`, `modifier` for one of dates that does not exist, or `aggregate`.
-- Returns also the text of a modifier.
local function flaw_of(tokens)
  local depth, has_comparison, has_bars, has_aggregate = 0, false, false, false
  local order_depth
  for index, token in ipairs(tokens) do
    local word, following = word_of(token), tokens[index + 1]
    local sign = token.kind == "sign" and token.text
    if sign == "(" then depth = depth + 1 elseif sign == ")" then depth = depth - 1 end
    if word == "select" then return index == 1 and word or has_aggregate and "aggregate" or nil end
    if word == "where" and index == 1 then return word end
    if depth == 0 and (word == "order" or word == "group") and word_of(following) == "by" then return word .. " by" end
    if depth == 0 and word == "limit" and following and (following.kind == "number" or following.kind == "parameter") then return word end
    if word == "interval" and following and (following.kind == "number" or following.kind == "string") then return word end
    if date_functions[word] and following and following.text == "(" then
      local modifier = unknown_modifier(tokens, index)
      if modifier then return "modifier", modifier end
    end
    if sign == "+" and (is_text(tokens[index - 1]) or is_text(following)) then return "+" end
    local is_shift = sign and (token.is_open and following and following.text == sign or tokens[index - 1] and tokens[index - 1].is_open
      and tokens[index - 1].text == sign)
    if sign and orders[sign] and not is_shift then
      if order_depth == depth then return "chain" end
      order_depth = depth
    end
    if ends_of_operands[word] or sign == "," or sign == "(" or sign == ")" then order_depth = nil end
    if aggregates[word] and following and following.text == "(" and not (tokens[index - 1] and tokens[index - 1].text == ".") then
      local after = tokens[closing_of(tokens, index + 1) + 1]
      if word_of(after) ~= "over" and word_of(after) ~= "filter" then has_aggregate = true end
    end
    local is_double = sign and token.is_open and following and following.kind == "sign" and following.text == sign
    if sign == "&&" or sign == "&" and is_double then return "&&" end
    if depth == 0 and (sign == "||" or sign == "|" and is_double) then has_bars = has_comparison end
    if depth == 0 and sign and signs[sign] then
      if has_bars then return "||" end
      has_comparison = true
    end
    if word == "and" or word == "or" then has_comparison, has_bars = false, false end
  end
  return has_aggregate and "aggregate" or nil
end

--- The operators whose right side, or first bound, is the beginning of a range or its exclusive end.
local starts = { [">="] = true, ["<"] = true, between = true }

--- Returns the name of the table that a statement reads, if it is the only one.
local function only_table(tokens)
  local found = nil
  for index, token in ipairs(tokens) do
    local word = word_of(token)
    if word == "join" or word == "with" or word == "from" and found then return nil end
    if word == "from" then
      local after = tokens[index + 2]
      found = tokens[index + 1]
      if not found or found.kind ~= "word" and found.kind ~= "name" then return nil end
      local alias = after and (word_of(after) == "as" and tokens[index + 4] or tokens[index + 3])
      if after and (after.text == "." or after.text == "," or after.text == "(") or alias and alias.text == "," then return nil end
    end
  end
  return found and (found.name or found.text)
end

local function read(text)
  local list, tokens = {}, tokens_of(text)
  number_parameters(tokens)
  list.flaw, list.modifier = flaw_of(tokens)
  list.only_table = only_table(tokens)
  local function add(left, op, index)
    if not left then return end
    local comparison = { op = left.is_json and "->" or op, column = left.column, call = left.call, first = left.first, shown = left.shown,
      is_start = starts[op] and tokens[index - 1].text:lower() ~= "and" }
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
-- `function_name`; `shift` is a number that is added to it. `is_single` is set if the parameter occurs once, and `is_start` if dates are
-- compared with the beginning of an instant. The field `flaw` of the list names a part that no condition can have, and `only_table` the
-- table that a statement reads if there is only one.
function text_comparisons.of(text)
  if not known[text] then
    if count >= most_known then known, count = {}, 0 end
    known[text], count = read(text), count + 1
  end
  return known[text]
end

return text_comparisons
