--- Automations that another process runs as well. That process keeps their rows in `perilune_schedule`. When it ends, this state takes the
-- rows over.

local native_loop = require "perilune.native.loop"
local perilune = require "perilune"
local automation_table = require "perilune.events.automation_table"

local automation_sharing = {}

--- The interval in seconds for checking whether the other process has ended.
local poll = 1.0

local epoch = perilune.date.from_unix(0)

--- The shared automations of this state, and the timer that checks them.
local shared, timer = {}, nil

--- Takes over the row of an automation if no other process keeps it.
-- @treturn boolean whether another process still keeps the row
local function take(self)
  if automation_table.other_owner(self.db, self.name) then return true end
  local _, is_shared = automation_table.register(self.db, self)
  if not is_shared and self.next_due then
    self.db:write(function(handle) automation_table.set_due(handle, self.name, nil, epoch + self.next_due) end)
  end
  return is_shared
end

--- Takes over the rows of processes that have ended.
function automation_sharing.look()
  for self in pairs(shared) do
    local is_ok, is_shared = pcall(take, self)
    if is_ok and not is_shared then automation_sharing.remove(self) end
  end
end

--- Begins to wait for the end of the process that keeps the row of an automation.
function automation_sharing.add(self)
  shared[self], self.is_shared = true, true
  if timer or perilune.context ~= "live" then return end
  local former = native_loop.enter_scope(0)
  local is_ok, id = pcall(native_loop.start_timer, poll, poll, automation_sharing.look, false)
  native_loop.enter_scope(former)
  timer = is_ok and id or nil
end

--- Stops waiting for an automation.
function automation_sharing.remove(self)
  shared[self], self.is_shared = nil, nil
  if next(shared) ~= nil or not timer then return end
  native_loop.stop(timer)
  timer = nil
end

return automation_sharing
