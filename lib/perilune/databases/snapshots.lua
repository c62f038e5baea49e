--- write_then_read: reads the result of a write from a snapshot, while later writes are running.

local databases = require "perilune.native.databases"
local checks = require "perilune.runtime.checks"

--- The functions that scripts call.
local public = {}

local place = "db:write_then_read"

local function take(handle, ...)
  return handle:snapshot(), ...
end

--- Writes, and takes a snapshot before any other code in this process writes.
local function write_and_take(handle, write)
  return take(handle, databases.guarded(handle, write))
end

local function finish(snapshot, is_read, ...)
  snapshot:close()
  if not is_read then error((...), 0) end
  return ...
end

local function read_snapshot(read, snapshot, ...)
  return finish(snapshot, pcall(snapshot.read, snapshot, read, ...))
end

--- Calls a function in a writing transaction, then another function with a handle that reads the result. In a pool, other code may write
-- while the second function reads.
-- @tparam function write receives a handle
-- @tparam function read receives a handle, and the results of `write`
-- @return the results of `read`
function public:write_then_read(write, read)
  checks.block(place .. ": argument 1", write)
  checks.block(place .. ": argument 2", read)
  -- A database with one connection has no snapshots, so it is read immediately after the write.
  if not databases.has_snapshots(self) then return self:read(read, self:write(write)) end
  return read_snapshot(read, self:write_without_transaction(write_and_take, write))
end

return public
