--- The number of arguments of methods. A surplus argument is an error, because it would be ignored.
--
-- The first surplus argument is declared as a parameter, which is faster than variable arguments. A surplus nil is not an error.

local errors = require "perilune.native.errors"

local arity = {}

local function count_text(most)
  if most == 0 then return "no arguments" end
  return most == 1 and "one argument" or "at most " .. most .. " arguments"
end

--- Raises an error for a surplus argument.
-- @tparam string method
-- @tparam integer most the maximum number of arguments
-- @param surplus
-- @tparam ?string cure
function arity.refuse(method, most, surplus, cure)
  errors.raise("argument", method .. ": takes " .. count_text(most) .. ", got " .. errors.describe(surplus) .. " as argument "
    .. most + 1 .. (cure and "; " .. cure or ""))
end

local refuse = arity.refuse

local wrappers = {
  [0] = function(method, f, cure)
    return function(self, surplus)
      if surplus ~= nil then refuse(method, 0, surplus, cure) end
      return f(self)
    end
  end,
  function(method, f, cure)
    return function(self, a, surplus)
      if surplus ~= nil then refuse(method, 1, surplus, cure) end
      return f(self, a)
    end
  end,
  function(method, f, cure)
    return function(self, a, b, surplus)
      if surplus ~= nil then refuse(method, 2, surplus, cure) end
      return f(self, a, b)
    end
  end,
  function(method, f, cure)
    return function(self, a, b, c, surplus)
      if surplus ~= nil then refuse(method, 3, surplus, cure) end
      return f(self, a, b, c)
    end
  end,
  function(method, f, cure)
    return function(self, a, b, c, d, surplus)
      if surplus ~= nil then refuse(method, 4, surplus, cure) end
      return f(self, a, b, c, d)
    end
  end,
}

--- Makes methods reject surplus arguments.
-- @tparam table methods
-- @tparam string place the prefix of the method's name in messages
-- @tparam {[string]=integer} counts the maximum number of arguments by method, without `self`
-- @tparam ?{[string]=string} cures what to write instead
function arity.limit(methods, place, counts, cures)
  for name, most in pairs(counts) do
    methods[name] = wrappers[most](place .. name, methods[name], cures and cures[name])
  end
end

return arity
