--- Text tables: rows in a readable format.
--
--     | id | name         | note |
--     | 1  | Ada Lovelace | ~    |
--
-- A cell is a table { kind, text, raw }: "null" (~), "any" (*), "rest" (...), "name" (@name), "now", "blob" (x'00ff'), "text" (in
-- quotes), "empty", "bare" (anything else).

local errors = require "perilune.native.errors"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"

local scenario_text_table = {}

local function fail(what, message, ...)
  errors.raise("text_table", what .. ": " .. message:format(...))
end

local escapes = { n = "\n", r = "\r", t = "\t", ["0"] = "\0", ["\\"] = "\\", ['"'] = '"' }

--- Returns the content of a quoted string with the escapes `\n`, `\t`, `\"`, `\\` and `\x00`.
local function unquote(what, raw)
  return (raw:sub(2, -2):gsub("\\(x?)(%x?%x?)(.?)", function(hex, digits, character)
    if hex == "x" and #digits == 2 then return string.char(tonumber(digits, 16)) .. character end
    local rest = hex .. digits .. character
    local escaped = escapes[rest:sub(1, 1)]
    if not escaped then fail(what, "the cell %s has an invalid escape: \\%s", raw, rest:sub(1, 1)) end
    return escaped .. rest:sub(2)
  end))
end

local marks = { ["~"] = "null", ["*"] = "any", ["..."] = "rest", now = "now", [""] = "empty" }

--- Returns the cell for a text.
function scenario_text_table.cell(what, raw)
  local kind = marks[raw]
  if kind then return { kind = kind, text = raw, raw = raw } end
  if raw:find('^".*"$') and #raw > 1 then return { kind = "text", text = unquote(what, raw), raw = raw } end
  local name = raw:match("^@([%a_][%w_]*)$")
  if name then return { kind = "name", text = name, raw = raw } end
  local digits = raw:match("^[xX]'(%x*)'$")
  if digits and #digits % 2 == 0 then
    return { kind = "blob", text = digits:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end), raw = raw }
  end
  return { kind = "bare", text = raw, raw = raw }
end

--- Splits text at separators outside quotes.
function scenario_text_table.split(text, separator)
  local parts, from, position, in_quotes = {}, 1, 1, false
  while position <= #text do
    local character = text:sub(position, position)
    if in_quotes and character == "\\" then
      position = position + 1
    elseif character == '"' and (in_quotes or text:sub(from, position - 1):find("^%s*$")) then
      in_quotes = not in_quotes
    elseif not in_quotes and text:sub(position, position + #separator - 1) == separator then
      parts[#parts + 1] = text:sub(from, position - 1):match("^%s*(.-)%s*$")
      position = position + #separator - 1
      from = position + 1
    end
    position = position + 1
  end
  parts[#parts + 1] = text:sub(from):match("^%s*(.-)%s*$")
  return parts, in_quotes
end

--- Returns the texts of a line's cells.
local function split_line(what, line, number)
  local inside = line:match("^|(.*)|$")
  if not inside then
    local has_rest = line:find("^|.*%.%.%.$") and "; `...` is a cell, too: end the line with `|`" or ""
    fail(what, "line %d of the text table: expected | cell | cell |, got %s%s", number, line, has_rest)
  end
  local cells, is_open = scenario_text_table.split(inside, "|")
  if is_open then fail(what, "line %d of the text table: unterminated quote: %s", number, line) end
  return cells
end

local function check_heading(what, names)
  local seen = {}
  for index, name in ipairs(names) do
    if name == "" then fail(what, "heading %d of the text table is empty", index) end
    if seen[name] then fail(what, "the text table has the heading `%s` twice", name) end
    seen[name] = true
  end
end

--- Reads the cells of a row, which may end with `...`.
local function read_row(what, names, texts, number)
  local last_text = texts[#texts]
  -- A cell below a heading `...`.
  if names.has_rest and #texts == #names + 1 and (last_text == "" or last_text == "...") then texts[#texts] = nil end
  local ends_with_rest = texts[#texts] == "..."
  if #texts > #names or #texts < #names and not ends_with_rest then
    fail(what, "row %d of the text table has %d cell%s, and the heading %d%s", number, #texts, #texts == 1 and "" or "s", #names,
      #texts > #names and not names.has_rest and '; a cell that contains | needs quotes, as in "a|b"' or "")
  end
  local row, last = {}, ends_with_rest and #texts - 1 or #texts
  for index = 1, last do
    if texts[index] == "..." then fail(what, "row %d of the text table: `...` can only be the last cell", number) end
    row[index] = scenario_text_table.cell(what, texts[index])
  end
  return row
end

--- Returns advice for rows that were given as tables: the first row as a text table. For other tables, the advice names the matcher for
-- lists.
local function advice(what, rows)
  local first = type(rows[1]) == "table" and rows[1] or rows
  local names, texts = {}, {}
  for _, name in ipairs(display.keys(first)) do
    if type(name) == "string" and #names < 8 then
      names[#names + 1], texts[#texts + 1] = name, display.cell(first[name])
    end
  end
  if #names == 0 then return "; use expect(list):equals{ ... } for a list of values" end
  return ("; write the rows as text: %s(%s)"):format(what, display.quoted(("| %s |\n| %s |"):format(table.concat(names, " | "), table.concat(texts, " | "))))
end

--- Returns whether a line is the separator that editors add below headings: at least three dashes or colons in each cell. A shorter cell is
-- a value.
local function is_separator(line)
  local inside = line:match("^|([-:|%s]+)|$")
  if not inside then return false end
  for _, cell in ipairs(scenario_text_table.split(inside, "|")) do
    if #cell < 3 or not cell:find("^:?%-+:?$") then return false end
  end
  return true
end

--- Reads a text table.
-- @tparam string what the caller, for messages
-- @return { names, rows }: the headings, and for each row a list of cells, which is shorter if it ends with `...`
function scenario_text_table.read(what, text)
  if type(text) ~= "string" then
    state.mistake("%s: expected a text table, got %s%s", what, errors.describe(text),
      type(text) == "table" and advice(what, text) or "")
  end
  local names, rows, number = nil, {}, 0
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do
    line = line:match("^%s*(.-)%s*$")
    number = number + 1
    if line == "" or line:find("^%-%-") or names and #rows == 0 and is_separator(line) then
      -- An empty line, a comment, or a separator.
    elseif names then
      rows[#rows + 1] = read_row(what, names, split_line(what, line, number), #rows + 1)
    else
      names = split_line(what, line, number)
      if names[#names] == "..." then names[#names], names.has_rest = nil, true end
    end
  end
  if not names then fail(what, "the text table has no row of headings") end
  names.has_rest = nil
  check_heading(what, names)
  return { names = names, rows = rows }
end

return scenario_text_table
