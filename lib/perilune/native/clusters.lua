---@meta perilune.native.clusters
--- Databases in clusters, implemented in Swift (ClusterOpener.swift).

---@class perilune.native.clusters
local clusters = {}

--- Connects to a database in a cluster.
---@param name string
---@param servers string[]
---@param timeout number seconds
---@param options? table the options of perilune.queue
---@return perilune.database
function clusters.open(name, servers, timeout, options) end

--- Returns whether a database is in a cluster.
---@param database perilune.database
---@return boolean
function clusters.is_cluster(database) end

--- Returns the nodes of the cluster.
---@param database perilune.database
---@return { id: integer, address: string, role: string, is_leader: boolean }[]
function clusters.nodes(database) end

return clusters
