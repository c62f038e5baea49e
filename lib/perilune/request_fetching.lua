--- Fetching what a request asks for.

local internal = ...

return {}
