--- Cells of text tables: the values that they store and match.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"
local display = lazily "scenarios.reports.display"
local perilune = require "perilune"

local scenario_cells = {}

--- Returns a copy of the values of names, for tentative matches. A name such as `@ada` has the value that it matched first.
function scenario_cells.copy_names(names)
  local copy = {}
  for name, value in pairs(names) do copy[name] = value end
  return copy
end

-- Matching

local function instant(value)
  if value == nil or type(value) == "boolean" then return nil end
  local is_date, date = pcall(native_values.read_date, value)
  return is_date and date or nil
end

--- Returns whether text can be read as a date with an optional time.
function scenario_cells.is_instant(text)
  return instant(text) ~= nil
end

local function is_date(value)
  return type(value) == "userdata" and instant(value) ~= nil
end

--- Returns whether a value is the clock's time: an instant, its seconds, or its day or second as text.
local function is_now(value)
  local now = perilune.now()
  if math.type(value) then
    return value == now.unix or value == math.floor(now.unix)
  end
  if type(value) == "string" then
    if #value <= 10 then return value == now:format("%Y-%m-%d") or value == now:format("%H:%M:%S") end
  end
  local date = instant(value)
  if not date then return false end
  return date == now or tostring(date):gsub("%.%d*$", "") == tostring(now):gsub("%.%d*$", "")
end

local function matches_number(text, value)
  if text == "true" or text == "false" then return value == (text == "true" and 1 or 0) end
  return tonumber(text) == value or text == display.cell(value)
end

local function looks_like_date(text)
  return text:find("^%d%d%d%d%-%d%d%-%d%d") ~= nil
end

--- Returns whether text and a value are the same instant in any format.
local function same_date(text, value)
  local left, right = instant(text), instant(value)
  return left ~= nil and right ~= nil and left == right
end

local function matches_table(text, value)
  local is_json, decoded = pcall(perilune.json.decode, text)
  return is_json and #require("scenarios.reports.differences").of(value, decoded) == 0 or tostring(value) == text
end

local bare = {
  string = function(text, value) return text == value or looks_like_date(text) and same_date(text, value) end,
  number = matches_number,
  boolean = function(text, value) return text == tostring(value) or text == (value and "1" or "0") end,
  table = matches_table,
  userdata = function(text, value) return tostring(value) == text or is_date(value) and same_date(text, value) end,
}

local matching = {
  null = function(_, value) return value == nil end,
  any = function(_, value) return value ~= nil end,
  now = function(_, value) return value ~= nil and is_now(value) end,
  text = function(cell, value, _, is_blob)
    return not is_blob and (value == cell.text or type(value) == "userdata" and tostring(value) == cell.text)
  end,
  blob = function(cell, value, _, is_blob, is_stored) return value == cell.text and (is_blob or not is_stored) end,
  bare = function(cell, value)
    local match = bare[type(value)]
    return match ~= nil and match(cell.text, value)
  end,
  empty = function() return true end,
}

function matching.name(cell, value, names)
  if names[cell.text] == nil then
    names[cell.text] = value == nil and null or value
    return true
  end
  local bound = names[cell.text]
  if bound == null then bound = nil end
  return bound == value
end

--- Returns whether a value matches a cell. If the cell is a name without a value, the name gets this value.
-- @tparam table names the values of names
-- @tparam ?boolean is_stored whether the value comes from the database, so that strings are text and not BLOBs
function scenario_cells.matches(cell, value, names, is_stored)
  if value == null then value = nil end
  local is_blob = native_values.is_blob(value)
  return matching[cell.kind](cell, is_blob and tostring(value) or value, names, is_blob, is_stored)
end

--- Words for NULL in other languages, in lowercase.
local is_null_elsewhere = { null = true, ["nil"] = true, none = true }

--- Returns the text of a cell, with the value of its name if it has one.
function scenario_cells.text(cell, names)
  if cell.kind == "name" and names[cell.text] ~= nil then return cell.raw .. " (" .. display.cell(names[cell.text]) .. ")" end
  if cell.kind == "now" then return "now (" .. display.cell(perilune.now()) .. ")" end
  if cell.kind == "bare" and is_null_elsewhere[cell.text:lower()] then return cell.raw .. " (a text; ~ is NULL)" end
  if cell.kind == "bare" and cell.text:find("^now%s*[+-]") then return cell.raw .. " (a text, since cells do not calculate; write the date)" end
  return cell.raw
end

-- Storing

local function fail(place, expected, cell, help)
  errors.raise("text_table", ("%s: expected %s, got %s%s"):format(place, expected, cell.raw, help or ""))
end

local storing = {}

function storing.integer(cell, place)
  local number = tonumber(cell.text)
  local integer = number and math.tointeger(number)
  return integer or number or fail(place, "an integer", cell, "; put text in quotes")
end

function storing.real(cell, place)
  return tonumber(cell.text) or fail(place, "a number", cell, "; put text in quotes")
end

local booleans = { ["true"] = true, ["false"] = false, ["1"] = true, ["0"] = false }

function storing.boolean(cell, place)
  local value = booleans[cell.text]
  if value == nil then fail(place, "true or false", cell) end
  return value
end

function storing.date(cell, place)
  -- As a date, a number with four digits would be a Julian day about 6,700 years ago.
  local is_year = cell.text:find("^%d%d%d%d$")
  return not is_year and instant(cell.text) or fail(place, "a date (2026-03-31 or 2026-03-31 18:00:00)", cell)
end

storing.day = storing.date

function storing.text(cell)
  return cell.text
end

function storing.any(cell)
  return tonumber(cell.text) or cell.text
end

--- Returns the function that converts the text of a cell without quotes to the value for a column.
local function storing_of(column)
  return storing[column.content] or storing[column.affinity] or storing.any
end

local function now_for(column)
  local now = perilune.now()
  return column.affinity == "integer" and math.floor(now.unix) or now
end

--- Returns the value of a cell for a column.
-- @tparam table column the column in the schema
-- @tparam string place for messages: "given.invoices: row 1: column `qty`"
-- @return the value; nil if the database chooses it, because the cell is empty or a name without a value
function scenario_cells.value(cell, column, names, place)
  if cell.kind == "null" then return null end
  if cell.kind == "now" then return now_for(column) end
  if cell.kind == "name" then return names[cell.text] end
  if cell.kind == "blob" then return perilune.blob(cell.text) end
  if cell.kind == "text" then return cell.text end
  if cell.kind == "any" then fail(place, "a value", cell, "; a row needs values") end
  if cell.kind == "bare" and cell.text == "NULL" then fail(place, "a value", cell, '; ~ is NULL, and "NULL" in quotes is the text') end
  if cell.kind == "bare" then return storing_of(column)(cell, place) end
end

return scenario_cells
