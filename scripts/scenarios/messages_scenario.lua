-- Messages about wrong arguments name functions of the scenario language in full.

local reference = dofile("lib/reference/init.lua")

local function read(page)
  local file <close> = assert(io.open("lib/reference/api/" .. page .. ".lua"))
  return file:read("a")
end

--- How an object of the reference is written in a scenario.
local objects = { t = "t", clock = "t.clock", effects = "t.effects.mail", expectation = "expectation" }

--- Functions that take any value.
local takes_any = { ["t.note"] = true, ["expect.no"] = true, ["expect.soft"] = true, ["expectation:equals"] = true, ["expectation:is"] = true, ["expectation:is_nil"] = true }

--- Returns the text of a call, and the name that its messages begin with; nil for functions that are called outside of scenarios.
local function call_of(name)
  local object, method = name:match("^(%w+)(.+)$")
  if takes_any[name] then return nil end
  if object == "expect" or name == "expect_error" then return name .. "(value, value)", name end
  if not objects[object] then return nil end
  return objects[object] .. method .. "(value, value)", objects[object] .. method
end

scenario("messages about wrong arguments begin with the function", function(t)
  local checked, others, expectation = 0, {}, expect(5)
  for _, item in ipairs(reference.read(read).functions) do
    local text, name = call_of(item.name)
    for _, value in ipairs(item.page.is_scenario and text and { 5, true } or {}) do
      local is_done, err = pcall(load("local t, expectation, value = ... local result = " .. text), t, expectation, value)
      if not is_done and type(err) == "userdata" and err.kind == "argument" then
        checked = checked + 1
        if err.message:sub(1, #name + 1) ~= name .. ":" then others[#others + 1] = name .. " says: " .. err.message end
      end
    end
  end
  -- An expectation without a matcher is a failure.
  expectation:equals(5)
  expect(others):is_empty()
  check(checked > 50)
end)
