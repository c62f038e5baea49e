--- Requests: queries as values that are composed, checked and reused.

local internal = ...

return {}
