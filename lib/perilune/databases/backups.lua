--- Backups: copies a database over another one, in steps.

local copies = require "perilune.native.copies"
local checks = require "perilune.runtime.checks"

--- The functions that scripts call.
local public = {}

local place = "db:backup_to"

--- The default number of pages to copy at a time, and the maximum, since SQLite counts them with 32 bits.
local usual_pages, most_pages = 1000, 2 ^ 31 - 1

local function read_pages(value)
  if math.type(value) == "integer" and value >= 1 and value <= most_pages then return value end
end

--- Copies the whole database over another one.
-- @tparam perilune.database target
-- @tparam ?table options `pages`: the number of pages to copy at a time; `pause`: the time between two steps, during which other
--   connections may use the databases; `progress`: called after each step with the number of copied pages and the total number of pages
function public:backup_to(target, options)
  if type(target) == "string" then
    checks.fail(place, ("argument 1: expected a database, got the string %q; use db:backup_to(perilune.queue(%q))"):format(target, target))
  end
  options = checks.options(place, options, {
    pages = { read_pages, "an integer of at least 1" }, pause = "any", progress = "function",
  })
  local pause = options.pause ~= nil and require("perilune.runtime.durations").read(place .. ": option `pause`", options.pause, 0) or 0
  copies.backup(self, target, options.pages or usual_pages, pause, options.progress)
end

return public
