--- Altering tables.

local internal = ...

return {}
