--- Associations between records: what they are, and what can be derived from them.

local internal = ...

return {}
