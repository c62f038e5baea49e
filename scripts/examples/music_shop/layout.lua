--- Plain-text formats for numbers and tables.
local layout = {}

--- Formats a non-negative integer with separators: 3000 as "3,000".
function layout.count(number)
  local digits = tostring(number):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (digits:gsub("^,", ""))
end

--- Formats a non-negative number of cents as an amount: 123456 as "1,234.56".
function layout.money(cents)
  return ("%s.%02d"):format(layout.count(cents // 100), cents % 100)
end

--- Formats a duration as hours, minutes and seconds: 3723000 as "1:02:03".
function layout.duration(milliseconds)
  local seconds = milliseconds // 1000
  return ("%d:%02d:%02d"):format(seconds // 3600, seconds // 60 % 60, seconds % 60)
end

--- Formats a part of a whole as a percentage: 1 of 8 as "12.5%".
function layout.percent(part, whole)
  return ("%.1f%%"):format(whole == 0 and 0 or 100 * part / whole)
end

-- Counts characters, not bytes as `#text` and `("%-20s"):format(text)` do: "Łukasz" is six wide.
local function padded(text, width, to_the_right)
  local space = (" "):rep(width - utf8.len(text))
  return to_the_right and space .. text or text .. space
end

local function cell(column, row)
  local value = row[column.key]
  if value == nil then return "-" end
  return column.format and column.format(value) or tostring(value)
end

local function print_line(columns, widths, texts)
  local cells = {}
  for i, column in ipairs(columns) do cells[i] = padded(texts[i], widths[i], column.right) end
  print((table.concat(cells, "  "):gsub(" +$", "")))
end

--- Prints rows in aligned columns with titles.
-- @tparam {table,...} columns each with `title`, `key` (a field of the rows), and optionally `format`, a function from
--   the value to text, and `right`, true to align to the right
-- @tparam {table,...} rows the result of `db:fetch_all`; NULL is printed as "-"
function layout.print_table(columns, rows)
  local titles, rules, widths, lines = {}, {}, {}, {}
  for i, column in ipairs(columns) do
    titles[i], widths[i] = column.title, utf8.len(column.title)
  end
  for r, row in ipairs(rows) do
    lines[r] = {}
    for i, column in ipairs(columns) do
      lines[r][i] = cell(column, row)
      widths[i] = math.max(widths[i], utf8.len(lines[r][i]))
    end
  end
  for i, width in ipairs(widths) do rules[i] = ("-"):rep(width) end
  print_line(columns, widths, titles)
  print_line(columns, widths, rules)
  for _, texts in ipairs(lines) do print_line(columns, widths, texts) end
end

--- Prints a heading with a blank line above and below.
function layout.print_heading(text)
  print(("\n%s\n%s\n"):format(text, ("="):rep(utf8.len(text))))
end

return layout
