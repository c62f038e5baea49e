--- The output of `perilune help NAME`.

local reference = require "reference"
local topics = require "reference.topics"

local help = {}

local function add(lines, text)
  lines[#lines + 1] = text
end

--- Wraps the words of a text at a width.
local function wrap(text, width, prefix, first)
  local lines, line = {}, first or prefix
  local is_empty = true
  for word in text:gmatch("%S+") do
    if not is_empty and utf8.len(line .. " " .. word, 1, -1, true) > width then
      lines[#lines + 1], line, is_empty = line, prefix, true
    end
    line, is_empty = line .. (is_empty and "" or " ") .. word, false
  end
  lines[#lines + 1] = line
  return lines
end

local width = 79

local function add_wrapped(lines, text, prefix, first)
  text = text:gsub("<doc:(%w+)>", "%1")
  for _, line in ipairs(wrap(text, width, prefix or "", first)) do add(lines, line) end
end

--- Formats names and their descriptions in two columns.
local function add_entries(lines, entries)
  local longest = 0
  for _, entry in ipairs(entries) do longest = math.max(longest, math.min(#entry[1], 24)) end
  for _, entry in ipairs(entries) do
    local name = "  " .. entry[1] .. (" "):rep(longest - #entry[1]) .. "  "
    add_wrapped(lines, entry[2], (" "):rep(longest + 4), name)
  end
end

local function add_function(lines, item)
  add(lines, reference.signature(item))
  add(lines, "")
  add_wrapped(lines, table.concat(item.text, " "), "  ", "  ")
  local entries = {}
  for _, param in ipairs(item.params) do
    entries[#entries + 1] = { param.name, param.type .. (param.is_optional and ", optional" or "")
      .. (param.doc ~= "" and "; " .. param.doc or "") }
  end
  for _, result in ipairs(item.returns) do
    local doc = ((result.name or "") .. " " .. result.doc):gsub("^ +", ""):gsub(" +$", "")
    entries[#entries + 1] = { "returns", result.type .. (doc ~= "" and "; " .. doc or "") }
  end
  for _, entry in ipairs(item.raises or {}) do
    entries[#entries + 1] = { "raises", entry.kind .. (entry.when ~= "" and ": " .. entry.when or "") }
  end
  local shared = {}
  for _, entry in ipairs(item.class and item.class.raises or {}) do shared[#shared + 1] = entry.kind end
  if #shared > 0 then
    entries[#entries + 1] = { "raises", ("%s, as each method of `%s`"):format(table.concat(shared, ", "), reference.shown(item.class)) }
  end
  local waits, access = reference.waits(item), reference.access(item) or "any"
  if waits then entries[#entries + 1] = { "waits", waits } end
  if access ~= "any" then entries[#entries + 1] = { "call it", access } end
  if #entries > 0 then
    add(lines, "")
    add_entries(lines, entries)
  end
  for _, example in ipairs(item.examples) do
    add(lines, "")
    for _, line in ipairs(example) do add(lines, "    " .. line) end
  end
end

--- Returns the first sentence of a description.
local function summary(text)
  local whole = table.concat(text, " ")
  -- A period inside code does not end a sentence.
  for last in whole:gmatch("()%.%s") do
    if select(2, whole:sub(1, last):gsub("`", "")) % 2 == 0 then return whole:sub(1, last) end
  end
  return whole
end

local function add_list(lines, items)
  local entries = {}
  for _, item in ipairs(items) do entries[#entries + 1] = { reference.signature(item), summary(item.text) } end
  for _, entry in ipairs(entries) do
    add(lines, "  " .. entry[1])
    add_wrapped(lines, entry[2], "      ", "      ")
  end
end

local function add_class(lines, class)
  add(lines, reference.shown(class) .. (class.name ~= reference.shown(class) and "  (" .. class.name .. ")" or ""))
  if class.text and #class.text > 0 then
    add(lines, "")
    add_wrapped(lines, table.concat(class.text, " "), "  ", "  ")
  end
  if #class.fields > 0 then
    add(lines, "")
    local entries = {}
    for _, field in ipairs(class.fields) do
      entries[#entries + 1] = { field.name, field.type .. (field.is_optional and ", optional" or "") .. (field.doc ~= "" and "; " .. field.doc or "") }
    end
    add_entries(lines, entries)
  end
  if #class.members > 0 then
    add(lines, "")
    add_list(lines, class.members)
  end
  if class.parent then
    add(lines, "")
    add(lines, "  and all that " .. class.parent .. " has")
  end
end

--- Describes a type: its definition, or its values with their meanings.
local function add_alias(lines, alias)
  add(lines, alias.name)
  add(lines, "")
  add_wrapped(lines, table.concat(alias.text, " "), "  ", "  ")
  add(lines, "")
  local entries = {}
  for _, value in ipairs(alias.values) do entries[#entries + 1] = { value.value, value.doc } end
  if #entries == 0 then entries[1] = { "type", alias.type } end
  add_entries(lines, entries)
end

local function add_value(lines, value)
  add(lines, value.value .. "  (" .. value.alias.name .. ")")
  add(lines, "")
  add_wrapped(lines, value.doc, "  ", "  ")
end

--- Returns the rest of a page besides functions: its classes without a page of their own, and types with described values.
local function add_types(lines, page, has_functions)
  for _, part in ipairs(page.parts) do
    local adder = part.kind == "class" and not has_functions and add_class or part.kind == "alias" and #part.values > 0 and add_alias
    if adder then
      add(lines, "")
      adder(lines, part.class or part)
    end
  end
end

local function add_page(lines, page)
  add(lines, page.title)
  add(lines, "")
  add_wrapped(lines, table.concat(page.text, " "), "  ", "  ")
  local items = {}
  for _, part in ipairs(page.parts) do
    if part.kind == "function" then items[#items + 1] = part.item end
  end
  if #items > 0 then add(lines, "") end
  add_list(lines, items)
  add_types(lines, page, #items > 0)
end

--- Returns everything with a name: name -> list of { kind, value }, in the order of the pages.
local function names_of(index)
  local names = {}
  local function put(name, kind, value)
    name = name:lower()
    names[name] = names[name] or {}
    for _, known in ipairs(names[name]) do
      if known.value == value then return end
    end
    table.insert(names[name], { kind = kind, value = value })
  end
  for _, item in ipairs(index.functions) do
    put(item.name, "function", item)
    put(item.member, "function", item)
    -- People type `db.fetch_all`, too. A method that begins with all records is called on the class.
    put((item.name:gsub(":", ".")), "function", item)
    local member = item.name:match("^request[:.](.+)$")
    if member then
      put("class:" .. member, "function", item)
      put("class." .. member, "function", item)
    end
    -- Matchers are called on the result of `expect(value)`.
    local matcher = item.name:match("^expectation[:.](.+)$")
    if matcher then
      put("expect:" .. matcher, "function", item)
      put("expect." .. matcher, "function", item)
    end
  end
  for _, class in ipairs(index.class_list) do
    put(reference.shown(class), "class", class)
    if reference.shown(class) == "expectation" then put("expect", "class", class) end
    put(class.name, "class", class)
    for _, field in ipairs(class.fields) do
      if field.name:find("^[%a_]") then
        put(field.name, "field", field)
        put(reference.shown(class) .. "." .. field.name, "field", field)
        put(class.name .. "." .. field.name, "field", field)
      end
    end
    for _, item in ipairs(class.members) do
      put(class.name .. "." .. item.member, "function", item)
      put(class.name .. ":" .. item.member, "function", item)
    end
  end
  for _, page in ipairs(index.pages) do
    put(page.name, "page", page)
    put(page.title, "page", page)
    for _, part in ipairs(page.parts) do
      if part.kind == "alias" then
        put(part.name, "alias", part)
        for _, value in ipairs(part.values) do put(value.value, "value", value) end
      end
    end
  end
  return names
end

local function add_field(lines, field)
  local class = field.class
  add(lines, reference.shown(class) .. "." .. field.name)
  add(lines, "")
  add_wrapped(lines, field.type .. (field.is_optional and ", optional" or "") .. (field.doc ~= "" and "; " .. field.doc or ""), "  ", "  ")
end

--- Describes a topic: its text, then the functions that belong to it.
local function add_topic(lines, topic, names)
  add(lines, topic.title)
  for _, paragraph in ipairs(topic.text) do
    add(lines, "")
    add_wrapped(lines, paragraph, "  ", "  ")
  end
  if topic.example then
    add(lines, "")
    for line in topic.example:gmatch("[^\n]+") do add(lines, "    " .. line) end
  end
  if topic.alias then
    add(lines, "")
    local entries = {}
    for _, value in ipairs(names[topic.alias][1].value.values) do entries[#entries + 1] = { value.value, value.doc } end
    add_entries(lines, entries)
  end
  if #topic.see > 0 then add(lines, "") end
  for _, name in ipairs(topic.see) do
    local found = names[name:lower()]
    if not found then error(("topic %s: the reference has no `%s`"):format(topic.title, name), 0) end
    local entry = found[1]
    -- A method may have the name of a global function.
    for _, other in ipairs(found) do
      if other.kind == "function" and reference.signature(other.value):sub(1, #name + 1) == name .. "(" then entry = other end
    end
    local item = entry.value
    if entry.kind == "function" then
      add_list(lines, { item })
    else
      add(lines, "  " .. name)
      add_wrapped(lines, summary(item.text or { item.doc }), "      ", "      ")
    end
  end
  for _, hint in ipairs(topic.commands or {}) do
    add(lines, "")
    add_wrapped(lines, hint, "  ", "  ")
  end
end

local adders = { ["function"] = add_function, class = add_class, page = add_page, field = add_field, alias = add_alias, value = add_value }
local order = { page = 1, class = 2, alias = 3, ["function"] = 4, field = 5, value = 6 }

--- Returns the text of the page with a name; nil if no page has it.
function help.page(index, name)
  for _, page in ipairs(index.pages) do
    if page.name == name then
      local lines = {}
      add_page(lines, page)
      return table.concat(lines, "\n") .. "\n"
    end
  end
end

--- Returns the topic with a name.
local function topic_named(name)
  for _, topic in ipairs(topics) do
    for _, known in ipairs(topic.names) do
      if known == name:lower() then return topic end
    end
  end
end

--- Returns all names with a text, sorted.
local function all_names(names)
  local is_known, list = {}, {}
  for _, topic in ipairs(topics) do
    for _, name in ipairs(topic.names) do is_known[name] = true end
  end
  for name in pairs(names) do is_known[name] = true end
  for name in pairs(is_known) do list[#list + 1] = name end
  table.sort(list)
  return list
end

--- Returns the field of `t` that explains a name which depends on the schema, such as `t.make.customer:many`.
local function field_named(name)
  if name == "many" then return "t.make" end
  for _, field in ipairs{ "t.make", "t.given", "t.fixtures", "t.effects" } do
    if name:find("^" .. field:gsub("%.", "%%.") .. "[.:]") then return field end
  end
end

--- Returns the functions, classes and fields with a name, which may have `perilune.` before it or lack it.
-- The types of fields such as `t.given` have no names of their own.
local function entries_named(names, name)
  local member = name:match("^perilune[.:](.+)$") or ""
  return names[name] or names["perilune." .. name] or names[member] or names[field_named(name) or ""] or names["t." .. member]
end

--- The sections of `other_names` for the words before the separator of a name, and for a name without one.
local sections = {
  db = { "database" }, t = { "table", "scenario_t" }, class = { "class", "request" }, record_class = { "class", "request" },
}
local plain_sections = { "perilune", "class", "request", "database", "record" }

--- Returns what to use in place of a name from another library, such as `perilune.open`; nil if none is known.
-- @tparam table other_names the module `perilune.runtime.other_names`
function help.replacement(other_names, name)
  local owner, member = name:lower():match("^(.-)[.:]([%w_]+)$")
  owner = owner and owner:gsub("^perilune%.", "")
  -- The patterns of `other_names.find` would match misspelled names, too.
  for _, section in ipairs(owner and (sections[owner] or { owner }) or plain_sections) do
    for list, use in pairs(other_names.sections[section] or {}) do
      if (" " .. list .. " "):find(" " .. (member or name:lower()) .. " ", 1, true) then return use end
    end
  end
end

--- Returns the text for a name. For an unknown name, returns nil and all names.
function help.text(index, name)
  local names = names_of(index)
  local topic = topic_named(name)
  local found = entries_named(names, name:lower())
  if not found and not topic then return nil, all_names(names) end
  found = table.move(found or {}, 1, #(found or {}), 1, {})
  -- A page contains its class of the same name, and more.
  table.sort(found, function(left, right)
    if left.kind ~= right.kind then return order[left.kind] < order[right.kind] end
    local left_place, right_place = left.value.place or left.value.name or "", right.value.place or right.value.name or ""
    return left_place < right_place
  end)
  local lines = {}
  if topic then add_topic(lines, topic, names) end
  for _, entry in ipairs(found) do
    if #lines > 0 then
      add(lines, "")
      add(lines, "")
    end
    adders[entry.kind](lines, entry.value)
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Returns the output of `perilune help topics`: all pages, and the topics.
function help.topics(index)
  local lines = wrap("Pages of the Lua reference; `perilune help NAME` shows one, or a function, a class, a field:", width, "")
  add(lines, "")
  local entries = {}
  for _, page in ipairs(index.pages) do entries[#entries + 1] = { page.name, page.text[1] } end
  add_entries(lines, entries)
  add(lines, "")
  add(lines, "Other topics:")
  add(lines, "")
  local names = {}
  for position, topic in ipairs(topics) do names[position] = topic.names[1] end
  add_wrapped(lines, table.concat(names, ", "), "  ", "  ")
  return table.concat(lines, "\n") .. "\n"
end

return help
