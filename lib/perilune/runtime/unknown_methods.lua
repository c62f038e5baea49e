--- Turns calls of unknown methods into errors that suggest the nearest name, instead of Lua's "attempt to call a nil value".
-- @tparam table methods the existing methods
-- @tparam ?string advice the name of a module with advice for names that other libraries use

return function(methods, advice)
  setmetatable(methods, { __index = function(_, name)
    if type(name) ~= "string" then return nil end
    local use = advice and require(advice)[name]
    if use then
      require("perilune.native.errors").raise("unknown_method", ("no method `%s`: %s"):format(name, use), { name = name, advice = use })
    end
    require("perilune.runtime.checks").raise_unknown_method(methods, name)
  end })
end
