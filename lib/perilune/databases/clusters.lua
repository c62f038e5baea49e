--- Databases in clusters of dqlite nodes.

local errors = require "perilune.native.errors"
local clusters = require "perilune.native.clusters"
local checks = require "perilune.runtime.checks"
local durations = require "perilune.runtime.durations"

--- The functions that scripts call.
local public = {}

--- In seconds: the default time limit for a statement, and the minimum.
local usual_timeout, shortest_timeout = 10, 0.05

local options_of_clusters = { servers = "table", timeout = "any", label = "string", trace = "any" }

--- Opens a database in a cluster. Creates it if it does not exist.
-- @tparam string name
-- @tparam table options `servers`: a list of addresses as host:port, of which one must answer; `timeout`: the time limit for a
--   statement, the beginning of a transaction or a commit, "10s" by default; `label` and `trace` as for perilune.queue
-- @raise `cluster_unreachable` if no node answers
function public.cluster(name, options)
  if type(name) ~= "string" then
    checks.fail("perilune.cluster: argument 1", "expected the name of a database, got " .. errors.describe(name))
  end
  options = checks.options("perilune.cluster", options, options_of_clusters)
  if options.servers == nil then checks.fail("perilune.cluster", "expected the option `servers`, a list of addresses as host:port") end
  local servers = checks.list("perilune.cluster: option `servers`", options.servers, "an address")
  local timeout = usual_timeout
  if options.timeout ~= nil then timeout = durations.read("perilune.cluster: option `timeout`", options.timeout, shortest_timeout) end
  return clusters.open(name, servers, timeout, { label = options.label, trace = options.trace })
end

--- Returns the nodes of the database's cluster, as tables with `id`, `address`, `role` ("voter", "standby", "spare") and `is_leader`.
function public:cluster_nodes() return clusters.nodes(self) end

return public
