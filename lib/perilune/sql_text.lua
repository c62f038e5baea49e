--- SQL text: names quoted, literals written out.

local internal = ...

return {}
