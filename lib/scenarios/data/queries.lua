--- Expectations about executed statements: `expect(t.queries(f)):at_most(4):no_repeats()`.

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local native_sql = require "perilune.native.sql"
local native_records = require "perilune.native.records"
local sql_names = require "perilune.runtime.names"
local state = require "scenarios.base.state"

local scenario_queries = {}

local metatable = { __name = "queries" }

--- Returns the first word of a statement in lowercase.
local function verb_of(sql)
  for _, token in ipairs(native_sql.tokens(sql)) do
    if token.kind ~= "blank" and token.kind ~= "comment" then return sql_names.fold(token.name or "") end
  end
  return ""
end

local framing = { begin = true, commit = true, ["end"] = true, rollback = true, savepoint = true, release = true }

--- Returns a line with a statement and its arguments.
-- @tparam ?boolean is_placeless whether to omit the position
local function line_of(query, is_placeless)
  local sql = query.sql:gsub("%s+", " ")
  local place = query.file and not is_placeless and ("%s:%s  "):format(query.file, query.line) or ""
  if query.arguments == nil or #query.arguments == 0 then return place .. sql end
  local arguments = {}
  for index, argument in ipairs(query.arguments) do arguments[index] = tostring(argument) end
  return place .. sql .. "  -- " .. table.concat(arguments, ", ")
end

--- Returns a line for each statement.
-- @tparam ?boolean is_placeless whether to omit positions: for snapshots, which should not change when lines move
function scenario_queries.text(queries, is_placeless)
  local lines = {}
  for index, query in ipairs(queries) do lines[index] = line_of(query, is_placeless) end
  return #lines > 0 and table.concat(lines, "\n") or "no queries"
end

function metatable.__tostring(queries)
  return scenario_queries.text(queries)
end

--- Raises for a named field, because the value is a list of queries.
function metatable.__index(_, name)
  if type(name) ~= "string" or name == "n" then return nil end
  errors.raise("unknown_member", ("a list of queries has no field `%s`; use #queries and queries[1].sql, or expect(queries):exactly(number)"):format(name), {
    name = name,
  })
end

--- Raises for a field of other libraries.
local of_query = { __name = "query", __index = function(_, name)
  local use = require("perilune.runtime.other_names").find("query", name)
  if use then errors.raise("unknown_member", ("a query has no field `%s`; %s"):format(name, use), { name = name }) end
end }

--- Marks a list from the runner as queries. Statements that begin or end transactions are left out.
function scenario_queries.mark(list)
  local queries = {}
  for _, query in ipairs(list) do
    if not framing[verb_of(query.sql)] then queries[#queries + 1] = setmetatable(query, of_query) end
  end
  return setmetatable(queries, metatable)
end

function scenario_queries.is(value)
  return type(value) == "table" and getmetatable(value) == metatable
end

local most_lines = 20

local function lines_of(queries)
  local lines = {}
  for index, query in ipairs(queries) do
    if index > most_lines then
      lines[index] = ("... %d more"):format(#queries - most_lines)
      break
    end
    lines[index] = line_of(query)
  end
  return lines
end

local literals = { string = true, blob = true, number = true, parameter = true }

--- Returns a statement without its literals, so that statements that differ only in values have the same shape.
local function shape_of(sql)
  local parts = {}
  for index, token in ipairs(native_sql.tokens(sql)) do
    local is_blank = token.kind == "blank" or token.kind == "comment"
    parts[index] = literals[token.kind] and "?" or is_blank and " " or token.text
  end
  return table.concat(parts):gsub("%s+", " "):gsub("%(%s*%?[%s,?]*%)", "(?)"):match("^ ?(.-) ?$")
end

local function plan_of(query)
  local is_explained, plan = pcall(state.host("explain"), query.sql)
  local details = {}
  for index, step in ipairs(is_explained and plan or {}) do details[index] = type(step) == "table" and step.detail or step end
  return details
end

--- The kinds of statements that have a query plan.
local planned = { select = true, with = true, update = true, delete = true, insert = true, replace = true }

local function explainable(queries)
  local list, seen = {}, {}
  for _, query in ipairs(queries) do
    if planned[verb_of(query.sql)] and not seen[query.sql] then
      seen[query.sql] = true
      list[#list + 1] = query
    end
  end
  return list
end

--- The matchers: functions (queries, argument) that return whether they match, and lines that describe the actual value.
local matchers = {}

local function check_count(name, count)
  if math.type(count) ~= "integer" or count < 0 then
    state.mistake("%s: expected a number of queries, got %s", name, errors.describe(count))
  end
end

local function queries_text(count)
  return count == 1 and "1 query" or count .. " queries"
end

--- Returns a function that returns the lines of a failure: one with the expected and the actual value, and lines with the details.
local function shown(expected, got, lines)
  return function() return { ("expected %s, got %s"):format(expected, got), table.unpack(lines()) } end
end

function matchers.at_most(queries, count)
  check_count("at_most", count)
  return #queries <= count, shown("at most " .. queries_text(count), #queries, function() return lines_of(queries) end)
end

function matchers.exactly(queries, count)
  check_count("exactly", count)
  return #queries == count, shown(queries_text(count), #queries, function() return lines_of(queries) end)
end

local function plans(queries)
  local lines = {}
  for _, query in ipairs(explainable(queries)) do
    lines[#lines + 1] = line_of(query)
    for _, detail in ipairs(plan_of(query)) do lines[#lines + 1] = "  plan  " .. detail end
  end
  return lines
end

local function has_word(text, word)
  return sql_names.fold(" " .. text .. " "):find("[^%w_]" .. sql_names.fold(word):gsub("%p", "%%%0") .. "[^%w_]") ~= nil
end

function matchers.uses_index(queries, name)
  if type(name) ~= "string" then state.mistake("uses_index: expected the name of an index, got %s", errors.describe(name)) end
  for _, query in ipairs(explainable(queries)) do
    for _, detail in ipairs(plan_of(query)) do
      if detail:find("INDEX", 1, true) and has_word(detail, name) then return true, function() return plans{ query } end end
    end
  end
  local got = #queries == 0 and "no query" or "these plans"
  return false, shown("a query that uses the index " .. name, got, function() return plans(queries) end)
end

--- Returns the name of the table that a step of a query plan scans completely, as written in the statement; nil for other steps.
local function scanned_by(detail)
  local scanned, how = detail:match("^%s*SCAN (.-) (VIRTUAL TABLE INDEX .*)$")
  -- If text follows the colon, the virtual table performs a search instead of a complete scan.
  if scanned then return how:find(":$") and scanned or nil end
  scanned = detail:match("^%s*SCAN (.*)$")
  return scanned and scanned:gsub(" LEFT%-JOIN$", ""):gsub(" USING [%u ]*INDEX.*$", "")
end

--- No statement scans all rows of a table, or of any table without an argument. Scanning a whole index counts too.
function matchers.no_full_scan(queries, name)
  local tables = { name }
  if name ~= nil then
    require("scenarios.data.database").require_table("no_full_scan", name)
  else
    -- Common tables, subqueries and functions are not included.
    tables = native_records.default_database():fetch_values("SELECT DISTINCT name FROM pragma_table_list WHERE type <> 'view'")
  end
  local scans, is_wanted = {}, {}
  for _, wanted in ipairs(tables) do is_wanted[sql_names.fold(wanted)] = true end
  for _, query in ipairs(explainable(queries)) do
    for _, detail in ipairs(plan_of(query)) do
      local scanned, is_found = scanned_by(detail), false
      for _, meant in ipairs(scanned and scenario_queries.meant_by(query.sql, scanned) or {}) do
        is_found = is_found or is_wanted[sql_names.fold(meant)]
      end
      if is_found then
        scans[#scans + 1] = line_of(query)
        scans[#scans + 1] = "  plan  " .. detail:gsub("^%s+", "")
      end
    end
  end
  return #scans == 0, function() return scans end
end

--- Returns the tables that a name in a plan may refer to: the table with this name, and tables with this alias.
function scenario_queries.meant_by(sql, scanned)
  local names = { scanned }
  local before_last, last
  for _, token in ipairs(native_sql.tokens(sql)) do
    local found = token.name or token.kind == "sign" and token.text
    if found then
      local is_alias = last and token.name and sql_names.same(found, scanned)
      -- `name AS alias`, or `name alias`.
      if is_alias then names[#names + 1] = sql_names.same(last, "as") and before_last or last end
      before_last, last = last, found
    end
  end
  return names
end

--- No statement runs more than once with different values: the N+1 guard.
function matchers.no_repeats(queries)
  local counts, order = {}, {}
  for _, query in ipairs(queries) do
    local shape = shape_of(query.sql)
    if not counts[shape] then order[#order + 1] = shape end
    counts[shape] = (counts[shape] or 0) + 1
  end
  local lines = {}
  for _, shape in ipairs(order) do
    if counts[shape] > 1 then lines[#lines + 1] = ("%d times  %s"):format(counts[shape], shape) end
  end
  return #lines == 0, function() return lines end
end

function matchers.no_writes(queries)
  local writes_found = {}
  for _, query in ipairs(queries) do
    if query.is_write then writes_found[#writes_found + 1] = query end
  end
  return #writes_found == 0, function() return lines_of(writes_found) end
end

arity.limit_all(matchers, "")
scenario_queries.matchers = matchers

return scenario_queries
