--- Columns and conditions as values: the methods and operators of expressions.

local internal = ...

return {}
