--- Record classes: tables whose columns come from the schema, with methods written in Lua.

local internal = ...

return {}
