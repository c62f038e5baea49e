--- Drafts: records whose key the database may still have to choose.

local internal = ...

return {}
