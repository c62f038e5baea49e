--- Wakes workers in this process after a transaction has added work to their database.

local bells = require "perilune.native.bells"
local native_loop = require "perilune.native.loop"
local owners = require "perilune.native.owners"

local wake = {}

--- The databases whose bell will ring once this state is idle.
local is_ringing = setmetatable({}, { __mode = "k" })

--- Returns the name of a database's bell, which all connections to the database in this process share.
local function bell_of(db)
  local path = db:path()
  return (path == "" or path:find("^:memory:")) and bells.memory(owners.current()) or path
end

--- Calls a function each time work may have been added.
-- @treturn integer the number of the event source
function wake.listen(db, f, keeps_alive)
  return bells.listen(bell_of(db), f, keeps_alive)
end

--- Rings the bell once this state is idle, after the current transaction has ended.
function wake.later(db)
  if is_ringing[db] then return end
  local bell = bell_of(db)
  is_ringing[db] = pcall(native_loop.start, function()
    is_ringing[db] = nil
    bells.ring(bell)
  end, nil, false, 0)
end

return wake
