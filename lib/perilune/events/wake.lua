--- Wakes the workers of a database in this process, after the transaction that has added work.

local bells = require "perilune.native.bells"
local native_loop = require "perilune.native.loop"
local owners = require "perilune.native.owners"

local wake = {}

--- The databases for which a ring is scheduled.
local is_ringing = setmetatable({}, { __mode = "k" })

--- Returns the name of a database's bell, which all connections of this process to its file share.
local function bell_of(db)
  local path = db:path()
  return (path == "" or path:find("^:memory:")) and bells.memory(owners.current()) or path
end

--- Calls a function whenever work may have been added.
-- @treturn integer the number of a source
function wake.listen(db, f, keeps_alive)
  return bells.listen(bell_of(db), f, keeps_alive)
end

--- Rings once the state is idle, when the current transaction has ended.
function wake.later(db)
  if is_ringing[db] then return end
  local bell = bell_of(db)
  is_ringing[db] = pcall(native_loop.start, function()
    is_ringing[db] = nil
    bells.ring(bell)
  end, nil, false, 0)
end

return wake
