--- The documentation pages (DocC): one for each file in `api`, and the page with links to them.

local reference = require "reference"

local articles = {}

local function add(lines, text)
  lines[#lines + 1] = text
end

--- Formats text for a table cell.
local function cell(text)
  return (text:gsub("|", "\\|"))
end

--- Formats a type as code, so that nothing in it is Markdown.
local function code(text)
  return "`" .. text .. "`"
end

local function paragraphs(lines, text)
  for _, line in ipairs(text) do add(lines, line) end
  if #text > 0 then add(lines, "") end
end

local function add_examples(lines, examples)
  for _, example in ipairs(examples) do
    add(lines, "```lua")
    for _, line in ipairs(example) do add(lines, line) end
    add(lines, "```")
    add(lines, "")
  end
end

local function add_fields(lines, fields)
  if #fields == 0 then return end
  add(lines, "| field | type | |")
  add(lines, "|---|---|---|")
  for _, field in ipairs(fields) do
    add(lines, ("| %s | %s | %s |"):format(code(field.name .. (field.is_optional and "?" or "")), code(cell(field.type)), cell(field.doc)))
  end
  add(lines, "")
end

local function add_arguments(lines, item)
  for _, param in ipairs(item.params) do
    add(lines, ("- %s: %s%s%s"):format(code(param.name), code(param.type), param.is_optional and ", optional" or "",
      param.doc ~= "" and "; " .. param.doc or ""))
  end
  for _, result in ipairs(item.returns) do
    local doc = ((result.name or "") .. " " .. result.doc):gsub("^ +", ""):gsub(" +$", "")
    add(lines, ("- Returns %s%s"):format(code(result.type), doc ~= "" and "; " .. doc or ""))
  end
end

--- Formats errors as `kind` if condition.
local function raised(list)
  local parts = {}
  for _, entry in ipairs(list) do
    parts[#parts + 1] = code(entry.kind) .. (entry.when ~= "" and " if " .. entry.when or "")
  end
  return table.concat(parts, "; ")
end

--- Adds the errors, the wait and the context of a function unless its class has the same.
local function add_contract(lines, item)
  if item.raises and #item.raises > 0 then add(lines, "- Raises " .. raised(item.raises)) end
  if item.waits then add(lines, "- Waits: " .. item.waits) end
  if item.access and item.access ~= (item.class and item.class.access or "any") then
    add(lines, "- May be called: " .. (item.access == "any" and "anywhere" or item.access))
  end
  add(lines, "")
end

--- Adds the errors, the wait and the context of all methods of a class.
local function add_class_contract(lines, class)
  local count = #lines
  if class.raises and #class.raises > 0 then add(lines, "- Each method may raise " .. raised(class.raises)) end
  if class.waits then add(lines, "- Each method waits: " .. class.waits) end
  if class.access and class.access ~= "any" then add(lines, "- The methods may be called: " .. class.access) end
  if #lines > count then add(lines, "") end
end

local function add_function(lines, item)
  add(lines, "### " .. (reference.signature(item):gsub("%.%.%.", "\\.\\.\\.")))
  add(lines, "")
  paragraphs(lines, item.text)
  add_examples(lines, item.examples)
  add_arguments(lines, item)
  add_contract(lines, item)
end

--- Returns the classes of a page in order, each with the page's functions of this class; functions of `perilune` come first.
local function sections(page)
  local list, by_class = {}, {}
  local function section(class)
    local key = class or "none"
    if not by_class[key] then
      by_class[key] = { class = class, items = {}, fields = {}, is_described = false }
      list[#list + 1] = by_class[key]
    end
    return by_class[key]
  end
  for _, part in ipairs(page.parts) do
    if part.kind == "class" then
      local own = section(part.class)
      own.is_described = own.is_described or #part.block.text > 0
      table.move(part.block.fields, 1, #part.block.fields, #own.fields + 1, own.fields)
    elseif part.kind == "function" then
      table.insert(section(part.item.class).items, part.item)
    end
  end
  return list
end

local function add_section(lines, own)
  if #own.items == 0 and #own.fields == 0 and not own.is_described then return end
  if own.class then
    add(lines, "## " .. reference.shown(own.class))
    add(lines, "")
    if own.is_described then paragraphs(lines, own.class.text) end
    if #own.items > 0 then add_class_contract(lines, own.class) end
    if own.class.parent then
      add(lines, ("Has all members of `%s`."):format(own.class.parent))
      add(lines, "")
    end
    add_fields(lines, own.fields)
  else
    add(lines, "## Functions")
    add(lines, "")
  end
  for _, item in ipairs(own.items) do add_function(lines, item) end
end

local function add_aliases(lines, page)
  local has_any = false
  for _, part in ipairs(page.parts) do
    if part.kind == "alias" and #part.values == 0 then
      if not has_any then
        add(lines, "## Types")
        add(lines, "")
        add(lines, "| name | type | |")
        add(lines, "|---|---|---|")
        has_any = true
      end
      add(lines, ("| %s | %s | %s |"):format(code(part.name), code(cell(part.type)), cell(table.concat(part.text, " "))))
    end
  end
  if has_any then add(lines, "") end
end

--- Returns a section for each alias with described values.
local function add_values(lines, page)
  for _, part in ipairs(page.parts) do
    if part.kind == "alias" and #part.values > 0 then
      add(lines, "## " .. part.name)
      add(lines, "")
      for _, line in ipairs(part.text) do add(lines, line) end
      add(lines, "")
      add(lines, "| value | |")
      add(lines, "|---|---|")
      for _, value in ipairs(part.values) do add(lines, ("| %s | %s |"):format(code(value.value), cell(value.doc))) end
      add(lines, "")
    end
  end
end

--- Returns the text of the article of a page.
function articles.page(page)
  local lines = { "# " .. page.title, "" }
  paragraphs(lines, page.text)
  add(lines, "<!-- Made from lib/reference by scripts/reference: not to be edited. -->")
  add(lines, "")
  for _, own in ipairs(sections(page)) do add_section(lines, own) end
  add_aliases(lines, page)
  add_values(lines, page)
  return (table.concat(lines, "\n"):gsub("\n+$", "\n"))
end

--- Returns the text of the article with links to all pages.
function articles.front(index)
  local lines = {
    "# Lua reference", "",
    "Everything that scripts and scenarios can call, field by field.", "",
    "<!-- Made from lib/reference by scripts/reference: not to be edited. -->", "",
    "## Overview", "",
    "`perilune help NAME` prints the same in a terminal: `perilune help db:fetch_all`, `perilune help filter`, `perilune help requests`.",
    "`perilune test --types FOLDER` writes types for editors, and for the tables of a project.", "",
    "Arguments are Lua values; those marked as optional may be omitted. A function raises an error object, whose field",
    "`kind` is the word shown. Errors that each method of a class may raise are listed once, with the class. A function without such errors raises none.", "",
    "A function waits only if its description has a line \"Waits\". Other tasks run in the meantime, so it cannot be called inside a",
    "block of `db:read`, `db:write` and the like. Without a line \"May be called\", a function may be called anywhere.", "",
    "Methods of classes and of values are called with a colon: `Book:find(1)`, `date:format()`. Functions of modules are called with a dot:",
    "`perilune.now()`, `perilune.json.encode(value)`. An optional database is always the first argument.", "",
    "## The database of the examples", "",
    "The examples use this database, unless they make one of their own. `--> ` shows what they print.", "",
  }
  for block in reference.database:gsub("\n$", "\0"):gsub("\n\n", "\0"):gmatch("%Z+") do
    add(lines, "```lua")
    add(lines, block)
    add(lines, "```")
    add(lines, "")
  end
  add(lines, "## Topics")
  for _, group in ipairs{ { title = "Scripts", is_scenario = false }, { title = "Scenarios", is_scenario = true } } do
    add(lines, "")
    add(lines, "### " .. group.title)
    add(lines, "")
    for _, page in ipairs(index.pages) do
      if page.is_scenario == group.is_scenario then add(lines, ("- <doc:%s>"):format(page.article)) end
    end
  end
  add(lines, "")
  return table.concat(lines, "\n")
end

return articles
