--- Fetching requests with what is associated: joined rows and prefetched lists.

local internal = ...

return {}
