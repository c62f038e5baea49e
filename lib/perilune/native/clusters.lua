---@meta perilune.native.clusters
--- Databases in clusters. Swift (ClusterOpener.swift) provides them.

---@class perilune.native.clusters
local clusters = {}

--- Connects to a database in a cluster.
---@param name string
---@param servers string[]
---@param timeout number seconds
---@param options? table as perilune.queue takes them
---@return perilune.database
function clusters.open(name, servers, timeout, options) end

--- Whether a database is in a cluster.
---@param database perilune.database
---@return boolean
function clusters.is_cluster(database) end

--- The nodes of the cluster.
---@param database perilune.database
---@return { id: integer, address: string, role: string, is_leader: boolean }[]
function clusters.nodes(database) end

return clusters
