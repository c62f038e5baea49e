--- The files that are generated from the reference.

local reference = require "reference"
local agents = require "reference.agents"
local articles = require "reference.articles"
local loading = require "reference.loading"

local files = {}

local folder = "Sources/Perilune/Perilune.docc/Reference/"

--- Returns the text of each file by its path in the project.
-- @tparam function read returns the text of a file by its path; nil if it does not exist
function files.all(read)
  local index = reference.read(function(name) return read("lib/reference/api/" .. name .. ".lua") end)
  local result = {
    ["lib/perilune/functions.lua"] = loading.text(index),
    [folder .. "LuaReference.md"] = articles.front(index),
  }
  for _, page in ipairs(index.pages) do result[folder .. page.article .. ".md"] = articles.page(page) end
  result["llms.txt"] = agents.text(index, function(path) return result[path] or read(path) end)
  return result
end

return files
