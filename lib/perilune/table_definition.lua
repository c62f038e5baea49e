--- Building tables, indexes and views.

local internal = ...

return {}
