--- Owner leases: determine whether the owner of a row still exists. An owner on this machine can be checked directly. An owner on another
-- machine must regularly renew its lease in a table.

local native_loop = require "perilune.native.loop"
local owners = require "perilune.native.owners"
local perilune = require "perilune"

local owner_leases = {}

--- In seconds: the interval for renewing a lease, and its duration.
local renewal, duration = 10, 60

local own = "/* perilune */ "

--- Databases in which this state renews its lease.
local kept = setmetatable({}, { __mode = "k" })

local function renew(db)
  pcall(db.write, db, function(handle)
    handle:execute(own .. "CREATE TABLE IF NOT EXISTS perilune_owner (owner TEXT NOT NULL PRIMARY KEY, seen_at TEXT NOT NULL)")
    handle:execute(own .. "INSERT INTO perilune_owner VALUES (?1, ?2) ON CONFLICT(owner) DO UPDATE SET seen_at = ?2",
      { owners.current(), tostring(perilune.now()) })
    handle:execute(own .. "DELETE FROM perilune_owner WHERE seen_at < ?", tostring(perilune.now() - 86400))
  end)
end

--- Starts to renew a lease for this state.
function owner_leases.keep(db)
  if kept[db] or perilune.context ~= "live" then return end
  kept[db] = true
  renew(db)
  local former = native_loop.enter_scope(0)
  pcall(native_loop.start_timer, renewal, renewal, function() renew(db) end, false)
  native_loop.enter_scope(former)
end

--- Returns whether the lease of an owner is valid; nil if it has none.
local function has_lease(db, owner)
  if not db:table_exists("perilune_owner") then return nil end
  local seen = db:fetch_value(own .. "SELECT seen_at FROM perilune_owner WHERE owner = ?", owner)
  if seen then return perilune.now() - perilune.date(seen) <= duration end
end

--- Returns whether an owner no longer exists. An owner on another machine is assumed to exist unless its lease has ended.
function owner_leases.is_dead(db, owner)
  local is_alive = owners.is_alive(owner)
  if is_alive == nil then is_alive = has_lease(db, owner) end
  return is_alive == false
end

--- Returns whether an owner is another state that certainly exists. On another machine, this requires a valid lease: the name of a stopped
-- container would otherwise keep its rows forever.
-- @tparam ?string owner
function owner_leases.is_other(db, owner)
  if owner == nil or owner == owners.current() then return false end
  local is_alive = owners.is_alive(owner)
  if is_alive == nil then is_alive = has_lease(db, owner) end
  return is_alive == true
end

return owner_leases
