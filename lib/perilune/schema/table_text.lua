--- Parser and editor for the SQL text of a table in the schema: columns, constraints and comments.
--
-- Unchanged parts keep their spelling. A comment belongs to the preceding item on the same line, or else to the following item.

local native_sql = require "perilune.native.sql"
local checks = require "perilune.runtime.checks"
local sql_text = require "perilune.runtime.sql_text"
local sql_names = require "perilune.runtime.names"

local table_text = {}

-- Reading

--- A reader of the tokens of a text.
local Reader = {}
Reader.__index = Reader

local function make_reader(sql, what)
  return setmetatable({ tokens = native_sql.tokens(sql), position = 1, what = what }, Reader)
end

local function is_solid(token)
  return token.kind ~= "blank" and token.kind ~= "comment"
end

--- Returns the position of the next token that is neither blank nor a comment, or of the `distance`-th such token.
function Reader:solid(distance)
  local position = self.position
  for _ = 1, distance or 1 do
    while self.tokens[position] and not is_solid(self.tokens[position]) do position = position + 1 end
    position = position + 1
  end
  return position - 1
end

function Reader:peek(distance) return self.tokens[self:solid(distance)] end

--- Returns whether the next token, or the one at a distance, is this keyword.
function Reader:is_word(word, distance)
  local token = self:peek(distance)
  return token ~= nil and token.kind == "word" and sql_names.fold(token.text) == word
end

function Reader:is_sign(sign)
  local token = self:peek()
  return token ~= nil and token.kind == "sign" and token.text == sign
end

--- Raises an error: the text cannot be parsed at this position.
function Reader:refuse()
  local token = self:peek()
  checks.refuse(self.what, "the schema's text of the table cannot be read at `" .. (token and token.text or "its end")
    .. "`; change the table by SQL")
end

--- Returns the next token and moves past it.
function Reader:take()
  local position = self:solid()
  if not self.tokens[position] then self:refuse() end
  self.position = position + 1
  return self.tokens[position]
end

--- Reads the given keywords; raises if the text continues differently.
function Reader:words(...)
  for _, word in ipairs{ ... } do
    if not self:is_word(word) then self:refuse() end
    self:take()
  end
end

--- Skips a keyword if it is next. Returns whether it was.
function Reader:skip(word)
  if not self:is_word(word) then return false end
  self:take()
  return true
end

--- Skips a pair of parentheses and everything between them.
function Reader:parentheses()
  if not self:is_sign("(") then self:refuse() end
  local depth = 0
  repeat
    local token = self:take()
    if token.kind == "sign" and token.text == "(" then depth = depth + 1 end
    if token.kind == "sign" and token.text == ")" then depth = depth - 1 end
  until depth == 0
end

--- Returns the text between a position and the current one.
function Reader:text(from)
  local parts = {}
  for position = from, self.position - 1 do parts[#parts + 1] = self.tokens[position].text end
  return table.concat(parts)
end

--- Reads blanks and comments.
function Reader:trivia()
  local from = self.position
  self.position = self:solid()
  return self:text(from)
end

--- Reads blanks and comments, and adds the comments to those after the table's options.
function Reader:take_comments(text)
  local trivia = self:trivia()
  if trivia:find("%S") then text.comments = text.comments .. trivia end
end

--- Reads blanks and comments up to the end of the line; reads nothing if the line has no comment.
function Reader:rest_of_line()
  local from, last = self.position, nil
  local position = from
  while self.tokens[position] and not is_solid(self.tokens[position]) do
    local token = self.tokens[position]
    if token.kind == "blank" and token.text:find("\n", 1, true) then break end
    if token.kind == "comment" then
      last = position
      if token.text:find("\n", 1, true) then break end
    end
    position = position + 1
  end
  if not last then return "" end
  self.position = last + 1
  return self:text(from)
end

function Reader:on_conflict()
  if self:is_word("on") and self:is_word("conflict", 2) then
    self:words("on", "conflict")
    self:take()
  end
end

--- Reads a list of names in parentheses. Returns the first name of each element, in lower case.
function Reader:name_list()
  local first = self:solid()
  self:parentheses()
  local names, depth, is_first = {}, 0, false
  for position = first, self.position - 1 do
    local token = self.tokens[position]
    if is_solid(token) then
      if is_first then names[#names + 1] = sql_names.fold(table_text.name_of(token) or "") end
      is_first = false
      if token.text == "(" then depth = depth + 1 end
      if token.text == ")" then depth = depth - 1 end
      if depth == 1 and (token.text == "," or token.text == "(") then is_first = true end
    end
  end
  return names
end

--- Returns the name that a token represents; nil if it cannot be a name.
function table_text.name_of(token)
  if token.kind == "string" then return (token.text:sub(2, -2):gsub("''", "'")) end
  return token.name
end

--- Reads a reference. Returns the name of the referenced table.
local function take_reference(reader)
  reader:words("references")
  local other = table_text.name_of(reader:take())
  if reader:is_sign("(") then reader:parentheses() end
  while true do
    if reader:skip("match") then
      reader:take()
    elseif reader:is_word("on") and not reader:is_word("conflict", 2) then
      reader:words("on")
      reader:take()
      if reader:skip("set") or reader:skip("no") then reader:take() else reader:take() end
    elseif reader:is_word("deferrable") or reader:is_word("not") and reader:is_word("deferrable", 2) then
      reader:skip("not")
      reader:take()
      if reader:skip("initially") then reader:take() end
    else
      return other
    end
  end
end

--- The kinds of column clauses.
table_text.kinds = { "primary_key", "not_null", "null", "unique", "check", "default", "collate", "references", "generated_as" }

--- Functions that read a clause of a column, by the first word of the clause.
local clauses = {}

function clauses.primary(reader)
  reader:words("primary", "key")
  if not reader:skip("asc") then reader:skip("desc") end
  reader:on_conflict()
  reader:skip("autoincrement")
  return "primary_key"
end

clauses["not"] = function(reader)
  reader:words("not", "null")
  reader:on_conflict()
  return "not_null"
end

function clauses.null(reader)
  reader:words("null")
  reader:on_conflict()
  return "null"
end

function clauses.unique(reader)
  reader:words("unique")
  reader:on_conflict()
  return "unique"
end

function clauses.check(reader)
  reader:words("check")
  reader:parentheses()
  return "check"
end

function clauses.default(reader)
  reader:words("default")
  if reader:is_sign("(") then
    reader:parentheses()
  else
    if reader:is_sign("+") or reader:is_sign("-") then reader:take() end
    reader:take()
  end
  return "default"
end

function clauses.collate(reader)
  reader:words("collate")
  reader:take()
  return "collate"
end

function clauses.references(reader)
  return "references", take_reference(reader)
end

clauses["as"] = function(reader)
  reader:words("as")
  reader:parentheses()
  if not reader:skip("virtual") then reader:skip("stored") end
  return "generated_as"
end

function clauses.generated(reader)
  reader:words("generated", "always")
  return clauses["as"](reader)
end

--- Returns the function that reads the next clause; nil if no clause follows. The word `generated` may also be part of the column's type.
local function clause_reader(reader)
  local token = reader:peek()
  if not token or token.kind ~= "word" then return nil end
  local word = sql_names.fold(token.text)
  if word == "generated" and not reader:is_word("always", 2) then return nil end
  return clauses[word]
end

--- Reads the optional name of a constraint.
local function take_constraint_name(reader)
  if not reader:skip("constraint") then return nil end
  return table_text.name_of(reader:take())
end

local function take_type(reader)
  local before, from = reader:trivia(), reader.position
  local count = 0
  while true do
    local token = reader:peek()
    local is_name = token and (token.kind == "word" or token.kind == "name" or token.kind == "string")
    if not is_name or reader:is_word("constraint") or clause_reader(reader) then break end
    reader:take()
    count = count + 1
  end
  if count > 0 and reader:is_sign("(") then reader:parentheses() end
  local declared = reader:text(from)
  if count == 0 then reader.position = from end
  return count > 0 and declared or false, before
end

--- Reads a column, from its name to its end.
local function read_column(reader)
  local from = reader.position
  local name = table_text.name_of(reader:take()) or reader:refuse()
  local column = { kind = "column", name = name, name_text = reader:text(from), clauses = {} }
  local before
  column.declared, before = take_type(reader)
  column.before_type = column.declared and before or " "
  if column.declared then before = reader:trivia() end
  while true do
    local start = reader.position
    local constraint_name = take_constraint_name(reader)
    local read = clause_reader(reader)
    if not read and constraint_name then reader:refuse() end
    if not read then break end
    local named = constraint_name and reader:text(start) .. reader:trivia() or ""
    local from_clause = reader:solid()
    local kind, other = read(reader)
    column.clauses[#column.clauses + 1] = {
      kind = kind, name = constraint_name, before = before, named = named, text = reader:text(from_clause), other = other,
    }
    before = reader:trivia()
  end
  column.trailing = before
  return column
end

local constraint_readers = {}

function constraint_readers.primary(reader)
  reader:words("primary", "key")
  local columns = reader:name_list()
  reader:on_conflict()
  return "primary_key", columns
end

function constraint_readers.unique(reader)
  reader:words("unique")
  local columns = reader:name_list()
  reader:on_conflict()
  return "unique", columns
end

function constraint_readers.check(reader)
  reader:words("check")
  reader:parentheses()
  reader:on_conflict()
  return "check"
end

function constraint_readers.foreign(reader)
  reader:words("foreign", "key")
  local columns = reader:name_list()
  return "foreign_key", columns, take_reference(reader)
end

local function constraint_reader(reader)
  local token = reader:peek()
  return token and token.kind == "word" and constraint_readers[sql_names.fold(token.text)] or nil
end

--- Reads a constraint of the table.
local function read_constraint(reader)
  local from = reader.position
  local name = take_constraint_name(reader)
  local read = constraint_reader(reader) or reader:refuse()
  local from_body = reader:solid()
  local type, columns, other = read(reader)
  return {
    kind = "constraint", type = type, name = name, columns = columns, other = other, text = reader:text(from),
    body = reader:text(from_body), trailing = "",
  }
end

--- Reads the columns and constraints between the parentheses.
local function read_items(reader, text)
  repeat
    local leading = reader:trivia()
    local is_constraint = reader:is_word("constraint") or constraint_reader(reader) ~= nil
    local item = is_constraint and read_constraint(reader) or read_column(reader)
    item.leading = leading
    if is_constraint then item.trailing = reader:rest_of_line() end
    table.insert(is_constraint and text.constraints or text.columns, item)
    local is_last = false
    if is_constraint and (reader:is_word("constraint") or constraint_reader(reader)) then
      -- SQLite does not require commas between constraints.
    elseif reader:is_sign(")") then
      is_last = true
    else
      if is_constraint then item.trailing = item.trailing .. reader:trivia() end
      if not reader:is_sign(",") then reader:refuse() end
      reader:take()
      item.trailing = item.trailing .. reader:rest_of_line()
    end
  until is_last
end

--- Adds the rest of the line, with its comment, to the last item. Returns the text after it, up to the closing parenthesis.
local function split_closing(text, reader)
  local last = text.constraints[#text.constraints] or text.columns[#text.columns]
  local trivia = make_reader(last.trailing .. reader:trivia(), text.what)
  last.trailing = trivia:rest_of_line()
  return trivia:trivia()
end

local Text = {}
Text.__index = Text

--- Reads the text of a table from `sqlite_schema`.
-- @tparam string what the start of messages
function table_text.read(sql, what)
  local reader = make_reader(sql, what)
  local text = setmetatable({ what = what, columns = {}, constraints = {}, comments = "" }, Text)
  reader:words("create", "table")
  text.name = table_text.name_of(reader:take()) or reader:refuse()
  text.opening = reader:trivia()
  if not reader:is_sign("(") then reader:refuse() end
  reader:take()
  read_items(reader, text)
  text.closing = split_closing(text, reader)
  reader:take()
  reader:take_comments(text)
  while reader:peek() do
    if reader:is_word("strict") then text.strict = true end
    if reader:is_word("without") then text.without_rowid = true end
    reader:take()
    reader:take_comments(text)
  end
  return text
end

--- Reads the SQL of a single column.
function table_text.read_column(sql, what)
  local reader = make_reader(sql, what)
  reader:trivia()
  local column = read_column(reader)
  if reader:peek() then reader:refuse() end
  column.leading, column.trailing = "", ""
  return column
end

--- Reads the SQL of a single table constraint.
function table_text.read_constraint(sql, what)
  local reader = make_reader(sql, what)
  reader:trivia()
  local constraint = read_constraint(reader)
  if reader:peek() then reader:refuse() end
  constraint.leading = ""
  return constraint
end

-- Finding

--- Returns the column with a name, and its position.
function Text:column(name)
  for position, column in ipairs(self.columns) do
    if sql_names.same(column.name, name) then return column, position end
  end
end

--- Returns the first clause of a kind.
function table_text.clause(column, kind)
  for _, clause in ipairs(column.clauses) do
    if clause.kind == kind then return clause end
  end
end

--- Returns the columns of the primary key, nil if none exists.
function Text:primary_key()
  for _, constraint in ipairs(self.constraints) do
    if constraint.type == "primary_key" then
      local names = {}
      for index, name in ipairs(constraint.columns) do names[index] = (self:column(name) or { name = name }).name end
      return names
    end
  end
  for _, column in ipairs(self.columns) do
    if table_text.clause(column, "primary_key") then return { column.name } end
  end
end

--- Returns the column that is the row id: an INTEGER PRIMARY KEY of a table with row ids. Nil if none exists.
function Text:row_id_column()
  local key = self:primary_key()
  if self.without_rowid or not key or #key > 1 then return nil end
  local column = self:column(key[1])
  if not column or sql_names.fold(column.declared or "") ~= "integer" then return nil end
  local clause = table_text.clause(column, "primary_key")
  for _, token in ipairs(clause and native_sql.tokens(clause.text) or {}) do
    if sql_names.fold(token.text) == "desc" then return nil end
  end
  return column
end

--- Returns whether the table is AUTOINCREMENT.
function Text:is_auto_incremented()
  for _, column in ipairs(self.columns) do
    local key = table_text.clause(column, "primary_key")
    if key and table_text.essence(key.text):find("nautoincrement", 1, true) then return true end
  end
  for _, constraint in ipairs(self.constraints) do
    if constraint.type == "primary_key" and table_text.essence(constraint.text):find("nautoincrement", 1, true) then return true end
  end
  return false
end

--- Returns a canonical form for comparing texts: the tokens, with words in lower case and names without quotes.
function table_text.essence(sql)
  local parts = {}
  for _, token in ipairs(native_sql.tokens(sql)) do
    if is_solid(token) then
      parts[#parts + 1] = token.name and "n" .. sql_names.fold(token.name) or token.kind .. token.text
    end
  end
  return table.concat(parts, "\0")
end

--- Returns whether a text names a column: with a word not followed by a parenthesis, or with a quoted name.
function table_text.mentions(sql, name)
  local reader = make_reader(sql, "")
  while reader:peek() do
    local token = reader:take()
    if token.name and sql_names.same(token.name, name) and not (token.kind == "word" and reader:is_sign("(")) then return true end
  end
  return false
end

-- Changing

--- Returns the blanks before an added item.
function Text:indentation()
  local last = self.columns[#self.columns]
  local sample = last and #self.columns > 1 and last.leading or self.columns[1].leading
  local line = sample:match("\n[ \t]*$")
  return line or (sample:find("\n", 1, true) and "\n  " or " ")
end

local function has_comment(trivia)
  return trivia:find("%S") ~= nil
end

function Text:rename_column(name, new_name)
  local column = self:column(name)
  column.name, column.name_text = new_name, sql_text.name(new_name)
  for _, constraint in ipairs(self.constraints) do
    for index, own in ipairs(constraint.columns or {}) do
      if sql_names.same(own, name) then constraint.columns[index] = sql_names.fold(new_name) end
    end
  end
end

--- Returns the names of the named constraints, in order.
function Text:constraint_names()
  local names = {}
  for _, constraint in ipairs(self.constraints) do names[#names + 1] = constraint.name end
  for _, column in ipairs(self.columns) do
    for _, clause in ipairs(column.clauses) do names[#names + 1] = clause.name end
  end
  table.sort(names)
  return names
end

--- Reorders the columns. Blanks keep their places; comments move with their columns.
function Text:arrange(columns)
  local leading = {}
  for index, column in ipairs(self.columns) do leading[index] = column.leading end
  self.columns = columns
  for index, column in ipairs(columns) do
    if not has_comment(column.leading) and leading[index] and not has_comment(leading[index]) then column.leading = leading[index] end
  end
end

function Text:add_column(column)
  column.leading = self:indentation()
  self.columns[#self.columns + 1] = column
end

function Text:remove_column(position)
  local removed = table.remove(self.columns, position)
  local next = self.columns[position]
  if position == 1 and next and not has_comment(next.leading) and not has_comment(removed.leading) then next.leading = removed.leading end
end

function Text:add_constraint(constraint)
  constraint.leading = self:indentation()
  self.constraints[#self.constraints + 1] = constraint
end

--- Removes the constraints of the table for which a function returns true. Returns their number.
function Text:remove_constraints(is_unwanted)
  local kept = {}
  for _, constraint in ipairs(self.constraints) do
    if not is_unwanted(constraint) then kept[#kept + 1] = constraint end
  end
  local count = #self.constraints - #kept
  self.constraints = kept
  return count
end

--- Returns the comments in a text, each preceded by a blank.
local function comments_in(sql)
  local comments = {}
  for _, token in ipairs(native_sql.tokens(sql)) do
    if token.kind == "comment" then comments[#comments + 1] = " " .. token.text end
  end
  return table.concat(comments)
end

--- Removes the clauses of a kind from a column; with a function, only those for which it returns true. Keeps the comments before the
-- clauses. Returns the number of removed clauses.
function table_text.remove_clauses(column, kind, is_unwanted)
  local kept, comments, count = {}, "", 0
  for _, clause in ipairs(column.clauses) do
    if clause.kind == kind and (not is_unwanted or is_unwanted(clause)) then
      count = count + 1
      if has_comment(clause.before) then comments = comments .. clause.before end
    else
      clause.before, comments = comments .. clause.before, ""
      kept[#kept + 1] = clause
    end
  end
  column.clauses, column.trailing = kept, comments .. column.trailing
  return count
end

function table_text.add_clause(column, kind, sql)
  column.clauses[#column.clauses + 1] = { kind = kind, before = " ", named = "", text = sql }
end

--- Changes the type of a column, nil for none. Keeps the comments in the previous type.
function table_text.set_type(column, declared)
  local comments = comments_in(column.declared or "")
  column.declared, column.before_type = declared or false, column.before_type or " "
  if comments == "" then return end
  local next = column.clauses[1]
  if next then next.before = comments .. next.before else column.trailing = comments .. column.trailing end
end

--- Replaces the first clause of a kind and removes the others, or appends the clause. Keeps comments in the replaced clause.
function table_text.set_clause(column, kind, sql)
  local present = table_text.clause(column, kind)
  if present then
    table_text.remove_clauses(column, kind, function(clause) return clause ~= present end)
    local comments = comments_in(present.text)
    if comments ~= "" then present.before = comments .. present.before end
    present.text = sql
  else
    table_text.add_clause(column, kind, sql)
  end
end

-- Writing

--- Joins pieces, with line breaks after line comments.
local function join(pieces)
  local parts, is_open = {}, false
  for _, piece in ipairs(pieces) do
    if piece ~= "" then
      if is_open and not piece:find("^[ \t]*\n") then parts[#parts + 1] = "\n" end
      parts[#parts + 1] = piece
      local tokens = piece:find("--", 1, true) and native_sql.tokens(piece) or {}
      local last = tokens[#tokens]
      is_open = last ~= nil and last.kind == "comment" and last.text:sub(1, 2) == "--"
    end
  end
  return table.concat(parts)
end

local function column_pieces(column)
  local pieces = { column.name_text }
  if column.declared then table.move({ column.before_type, column.declared }, 1, 2, 2, pieces) end
  for _, clause in ipairs(column.clauses) do
    pieces[#pieces + 1] = clause.before
    pieces[#pieces + 1] = clause.named .. clause.text
  end
  return pieces
end

--- Returns the SQL of a column, without its surroundings.
function table_text.column_sql(column) return join(column_pieces(column)) end

--- Returns the statement that creates the table under another name.
-- @tparam string quoted the quoted name, with the quoted name of its schema
function Text:sql(quoted)
  local pieces = { "CREATE TABLE " .. quoted .. self.opening .. "(" }
  local items = table.move(self.constraints, 1, #self.constraints, #self.columns + 1, table.move(self.columns, 1, #self.columns, 1, {}))
  for index, item in ipairs(items) do
    pieces[#pieces + 1] = item.leading
    local own = item.kind == "column" and column_pieces(item) or { item.text }
    table.move(own, 1, #own, #pieces + 1, pieces)
    if index < #items then pieces[#pieces + 1] = "," end
    pieces[#pieces + 1] = item.trailing
  end
  pieces[#pieces + 1] = self.closing
  local options = {}
  if self.strict then options[#options + 1] = "STRICT" end
  if self.without_rowid then options[#options + 1] = "WITHOUT ROWID" end
  -- SQLite drops comments after a table without options.
  local tail = options[1] and { ")", " " .. table.concat(options, ", "), self.comments } or { self.comments, ")" }
  return join(table.move(tail, 1, #tail, #pieces + 1, pieces))
end

--- Returns the quoted name of an object, prefixed with the name of its schema.
function table_text.qualified(schema, name) return sql_text.name(schema) .. "." .. sql_text.name(name) end

--- Takes the SQL of an index, view or trigger from `sqlite_schema`, and returns it with the object's name prefixed by its schema.
function table_text.qualify(sql, schema)
  local reader = make_reader(sql, "db:alter_table")
  reader:words("create")
  reader:skip("unique")
  reader:take()
  local from = reader:solid()
  reader.position = from
  return reader:text(1) .. sql_text.name(schema) .. "." .. sql:sub(#reader:text(1) + 1)
end

return table_text
