--- Inserting, updating, saving and deleting records.

local internal = ...

return {}
