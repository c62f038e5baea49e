--- A folder of .lua and .sql files as a migrator.

local internal = ...

return {}
