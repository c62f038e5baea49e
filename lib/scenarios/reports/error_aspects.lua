--- The properties of errors that scenarios can expect: kind, message, table and column.

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local state = require "scenarios.base.state"
local display = lazily "scenarios.reports.display"
local failures = lazily "scenarios.reports.failures"
local texts = lazily "scenarios.reports.texts"
local sql_names = require "perilune.runtime.names"

local function message_of(err)
  return (failures.describe(err))
end

--- Returns a field of any error; nil if it does not exist.
local function field(err, name)
  if failures.is_error_object(err) or type(err) == "table" then return err[name] end
end

--- Returns the columns of an error. A validation error has its columns in its list `errors`.
local function columns_of(err)
  local columns = field(err, "columns") or field(err, "column")
  if columns ~= nil then return type(columns) == "table" and columns or { columns } end
  local list, mistakes = {}, field(err, "errors")
  for _, mistake in ipairs(field(err, "kind") == "validation" and type(mistakes) == "table" and mistakes or {}) do
    list[#list + 1] = field(mistake, "column")
  end
  return list
end

--- Returns whether an error is about a column, given as `number` or `invoices.number`.
local function is_about(err, column)
  local table_name, name = column:match("^(.-)%.([^.]*)$")
  local is_in_table = table_name == nil or sql_names.same(tostring(field(err, "table") or ""), table_name)
  for _, found in ipairs(columns_of(err)) do
    if is_in_table and sql_names.same(tostring(found), name or column) then return true end
  end
  return false
end

local function columns_text(err)
  local names = {}
  for index, name in ipairs(columns_of(err)) do
    names[index] = (field(err, "table") and field(err, "table") .. "." or "") .. tostring(name)
  end
  return #names > 0 and table.concat(names, ", ") or "no column"
end

local function check_kind(err, wanted)
  local kind = field(err, "kind")
  local got = kind and display.show(kind) or "one without a kind"
  return kind == wanted, ("expected an error of kind %s, got %s"):format(display.show(wanted), got)
end

--- Returns a Lua pattern that finds the text.
local function escaped(text)
  return (text:gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0"))
end

local function check_message(err, wanted)
  local message = message_of(err)
  local is_pattern, position = pcall(string.find, message, wanted)
  if not is_pattern then
    return false, ("%s is not a Lua pattern: %s; write %s to find this text")
      :format(display.show(wanted), texts.message(position), display.show(escaped(wanted)))
  end
  local line = ("expected a message that matches the pattern %s"):format(display.show(wanted))
  if position == nil and message:find(wanted, 1, true) then
    line = line .. ("; the message has this text, but %s is needed to find it"):format(display.show(escaped(wanted)))
  end
  if position == nil and field(err, "kind") == wanted then line = line .. ("; it is the kind of the error: use { kind = %q }"):format(wanted) end
  return position ~= nil, line
end

--- The checks of properties: functions (error, wanted) that return whether the error has the property, and the expected value as
-- text.
local aspects = { kind = check_kind, message = check_message }

function aspects.column(err, wanted)
  return is_about(err, wanted), ("expected an error of column %s, got one of %s"):format(wanted, columns_text(err))
end

function aspects.table(err, wanted)
  local name = field(err, "table")
  return name == wanted, ("expected an error of table %s, got one of %s"):format(wanted, name or "no table")
end

local kinds_of_aspects = {}
for name in pairs(aspects) do kinds_of_aspects[name] = "string" end

local error_aspects = {}

--- Raises for an unknown property. `expect_error` returns the error, so that other fields of it can be checked.
local function check_names(who, what)
  local is_done, err = pcall(checks.option_names, who, what, kinds_of_aspects, "aspect")
  if is_done then return end
  if who:find("^expect_error") and err.suggestion == nil and type(err.name) == "string" then
    local help = ("help  expect_error returns the error: check its other fields, as in err.%s, or err.cause.%s for an error of t.run")
    errors.add_fields(err, { details = { help:format(err.name, err.name) } })
  end
  error(err, 0)
end

--- Reads an expectation about an error into a table by property.
-- @tparam string who the caller, for messages
-- @param what a Lua pattern for the message, a table, or nil
function error_aspects.read(who, what)
  if what == nil then return {} end
  if type(what) == "string" then return { message = what } end
  if type(what) ~= "table" then
    state.mistake("%s: expected a Lua pattern, or a table (%s), got %s", who, table.concat(display.keys(aspects), ", "),
      errors.describe(what))
  end
  check_names(who, what)
  return checks.options(who, what, kinds_of_aspects)
end

--- Returns the script's error that caused an error of `t.run`; nil for other errors.
local function cause_of(err)
  return field(err, "kind") == "script" and field(err, "cause") or nil
end

--- Returns the differences between an error and an expectation as lines; an empty list if the error matches. In an error of `t.run`, the
-- properties of the script's error match, too.
function error_aspects.differences(err, wanted)
  local lines, cause = {}, cause_of(err)
  for _, name in ipairs(display.keys(wanted)) do
    local is_so, line = aspects[name](err, wanted[name])
    if not is_so and cause ~= nil then is_so, line = aspects[name](cause, wanted[name]) end
    if not is_so then lines[#lines + 1] = line end
  end
  return lines
end

return error_aspects
