--- The source of loaded files, which failures quote.

local tokens = lazily "scenarios.base.tokens"

local scenario_source = {}

--- By the name of the file in errors: { text, lines, tokens }, the latter two on demand.
local sources = {}

--- Returns the name of a file in Lua's error positions: the end of a long path.
local function short_name(path)
  return #path <= 59 and path or "..." .. path:sub(-56)
end

local full_names = {}

--- Stores the text of a file.
function scenario_source.add(path, text)
  sources[path] = { text = text }
  full_names[short_name(path)] = path
end

--- Returns the path of a file, given its name in error positions.
function scenario_source.path(file)
  return full_names[file] or file
end

--- Returns the text of a file; nil if it was not loaded here.
function scenario_source.text(path)
  return sources[path] and sources[path].text
end

local function lines_of(path)
  local source = sources[path]
  if not source then return {} end
  if not source.lines then
    source.lines = {}
    for line in (source.text .. "\n"):gmatch("(.-)\r?\n") do source.lines[#source.lines + 1] = line end
  end
  return source.lines
end

--- Returns a line of a file without surrounding white space; nil if it is unknown.
function scenario_source.line(path, line)
  local text = lines_of(path)[line]
  return text and text:match("^%s*(.-)%s*$")
end

--- Returns whether the tokens after a bracket call a method with that name in the same chain: `expect(x):at_most(4):name(`.
local function chain_has(list, close, name)
  local index = close + 1
  while list[index] and list[index].text == ":" do
    if list[index + 1] and list[index + 1].text == name then return true end
    local argument = list[index + 2]
    if not argument then return false end
    index = index + 3
    if argument.text == "(" or argument.text == "{" then
      local argument_end = tokens.inside(list, index - 1)
      if not argument_end then return false end
      index = argument_end + 1
    end
  end
  return false
end

--- Returns the source text of an expectation, such as `expect(result.changes)` or `expect.no(x)`.
-- @tparam integer line a line of the matcher call
-- @tparam string matcher its name
-- @return the text; nil if the line contains two such expectations
function scenario_source.expectation(path, line, matcher)
  local source = sources[path]
  if not source then return nil end
  source.tokens = source.tokens or tokens.of(source.text) or {}
  local list, found, found_line = source.tokens, nil, nil
  for index, token in ipairs(list) do
    if token.line > line then break end
    if token.text == "expect" and token.kind == "name" then
      local open = index + 1
      if list[open] and list[open].text == "." then open = open + 2 end
      local close = list[open] and list[open].text == "(" and tokens.inside(list, open)
      if close and chain_has(list, close, matcher) then
        local text = source.text:sub(token.from, list[close].to)
        found = (token.line ~= found_line or found == text) and text or nil
        found_line = token.line
      end
    end
  end
  return found and found:gsub("%s+", " ") or nil
end

return scenario_source
