--- Vectors: lists of numbers as blobs of 32-bit floats, the format of vector searches.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"
local make_blob = perilune.blob
local checks = require "perilune.runtime.checks"

--- The functions that scripts call.
local public = {}

local vectors = {}

--- The largest finite 32-bit float.
local largest = 0x1.fffffep+127

--- Returns why a number cannot be an element; nil if it can.
local function objection(i, number)
  if type(number) ~= "number" then return ("element %d: expected a number, got %s"):format(i, errors.describe(number)) end
  if number ~= number or number > largest or number < -largest then
    return ("element %d: %s does not fit into a 32-bit float"):format(i, tostring(number))
  end
end

--- Returns the blob for a list of numbers; blobs are returned unchanged.
-- @return nil and a message for any other value
function vectors.pack(vector)
  if vectors.is_blob(vector) then return vector end
  if type(vector) ~= "table" or #vector == 0 then
    return nil, "expected a list of numbers that is not empty, got " .. (type(vector) == "table" and "an empty one" or errors.describe(vector))
  end
  local parts = {}
  for i = 1, #vector do
    local message = objection(i, vector[i])
    if message then return nil, message end
    parts[i] = string.pack("<f", vector[i])
  end
  return make_blob(table.concat(parts))
end

--- Returns the 32-bit floats in a blob as a list. The blob may be a string, as in fetched rows.
-- @return nil and a message for any other value
function vectors.unpack(blob)
  if type(blob) == "string" then blob = make_blob(blob) end
  if not vectors.is_blob(blob) then
    return nil, "expected a blob of 32-bit floats, got " .. (native_values.is_blob(blob) and "one of " .. #blob .. " bytes" or errors.describe(blob))
  end
  local bytes, numbers = tostring(blob), {}
  for position = 1, #bytes, 4 do numbers[#numbers + 1] = (string.unpack("<f", bytes, position)) end
  return numbers
end

--- Returns the blob for an argument; raises if it is not a vector.
function vectors.blob(place, vector)
  local blob, message = vectors.pack(vector)
  return blob or checks.fail(place, message)
end

--- Returns whether a value is a blob of whole 32-bit floats.
function vectors.is_blob(value)
  return native_values.is_blob(value) and #value > 0 and #value % 4 == 0
end

--- Makes a blob from a list of numbers: 32-bit floats.
function public.vector(list)
  return vectors.blob("perilune.vector: argument 1", list)
end

--- Returns the numbers of a vector; raises if the argument is not one.
function public.vector_numbers(blob)
  local place = "perilune.vector_numbers"
  local numbers, message = vectors.unpack(blob)
  return numbers or checks.fail(place .. ": argument 1", message)
end

vectors.public = public
return vectors
