--- Generates the editor types, the documentation pages and llms.txt from lib/reference. Run by scripts/reference.
--
-- With the argument `--check` it writes nothing, and fails if a file is out of date.

package.path = "lib/?.lua;lib/?/init.lua;" .. package.path

local files = require("reference.files")

local is_check = (...) == "--check"
local stale = {}
for path, text in pairs(files.all(function(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end)) do
  local file = io.open(path)
  local former = file and file:read("a")
  if file then file:close() end
  if former ~= text then
    stale[#stale + 1] = path
    if not is_check then
      local made = assert(io.open(path, "w"))
      made:write(text)
      made:close()
    end
  end
end
table.sort(stale)
for _, path in ipairs(stale) do print(path) end
if is_check and #stale > 0 then error("the reference is out of date; run scripts/reference", 0) end
