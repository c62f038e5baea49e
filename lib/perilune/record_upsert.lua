--- Upsert, and conflicts that are told what to do.

local internal = ...

return {}
