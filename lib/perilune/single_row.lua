--- Tables of one row: application settings and the like.

local internal = ...

return {}
