--- The number of arguments of methods. A surplus argument is an error, because it would be ignored.
--
-- One argument behind the last is a parameter of its own: this costs less than a variable number of them, and a nil there asks for
-- nothing.

local errors = require "perilune.native.errors"

local arity = {}

local function count_text(most)
  if most == 0 then return "no arguments" end
  return most == 1 and "one argument" or "at most " .. most .. " arguments"
end

--- Raises an error for a surplus argument.
-- @tparam string method
-- @tparam integer most how many arguments it takes
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

--- Makes methods refuse surplus arguments.
-- @tparam table methods
-- @tparam string place what messages put before the name of the method
-- @tparam {[string]=integer} counts how many arguments each takes, without `self`
-- @tparam ?{[string]=string} cures what to write instead
function arity.limit(methods, place, counts, cures)
  for name, most in pairs(counts) do
    methods[name] = wrappers[most](place .. name, methods[name], cures and cures[name])
  end
end

return arity
