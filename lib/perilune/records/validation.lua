--- Validation: finds the errors of a record before it is written.
--
--     function Member:validate()
--       if (self.name or "") == "" then self:invalid("name", "must not be empty") end
--     end

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"

local validation = {}

--- Record -> the list of its errors, during validation.
local collecting = setmetatable({}, { __mode = "k" })

local function raise_invalid(info, mistakes)
  local texts = {}
  for index, mistake in ipairs(mistakes) do
    texts[index] = (mistake.column and mistake.column .. " " or "") .. mistake.message
  end
  errors.raise("validation", info.table .. ": " .. table.concat(texts, "; "), { table = info.table, errors = mistakes })
end

--- required = true: columns that are NOT NULL and not filled in by the database must have a value.
local function read_required(info, value)
  if type(value) ~= "boolean" then
    errors.raise("argument", "perilune.record: option required: expected a boolean, got " .. errors.describe(value))
  end
  info.is_required = value
end

record_class.add_options{ required = read_required }

record_class.on_creation(function(info)
  if info.is_required then native_records.set_model(info.model, true) end
end)

local function add_missing(info, target, db, mistakes)
  local is_required = false
  for ancestor in record_class.ancestors(info) do is_required = is_required or ancestor.is_required end
  if not is_required then return end
  local details = column_details.of_class(info.class, db)
  for _, column in ipairs(details.description.columns) do
    local value = rawget(target, column.name)
    local is_needed = details.not_null[column.name] and not column.has_default and not details.chosen_keys[column.name]
    if is_needed and (value == nil or value == null) then
      mistakes[#mistakes + 1] = { column = column.name, message = "is required" }
    end
  end
end

--- Returns the errors of a record: a list of `{ column = ..., message = ... }`. The column is nil for errors that concern the whole record.
function validation.errors(info, target, db)
  local mistakes, validate = {}, record_class.method(info, "validate")
  add_missing(info, target, db, mistakes)
  if not validate then return mistakes end
  local former = collecting[target]
  collecting[target] = mistakes
  local is_done, result, message = pcall(validate, target, db)
  collecting[target] = former
  if not is_done then error(result, 0) end
  -- In other libraries, such a function returns whether the record is valid, or the errors. Here it must return nothing.
  if message ~= nil or result ~= nil and result ~= true then
    errors.raise("argument", ("validate of `%s` returned %s, which is ignored; use self:invalid(\"column\", \"message\") for each error"):format(info.table,
      errors.describe(result) .. (message ~= nil and " and " .. errors.describe(message) or "")))
  end
  return mistakes
end

--- Raises one error for all errors of a record, if there are any.
function validation.check(info, target, db)
  local mistakes = validation.errors(info, target, db)
  if #mistakes > 0 then raise_invalid(info, mistakes) end
end

--- Reports an error from `validate`; raises when called elsewhere.
-- @tparam ?string column omitted if the error concerns the whole record
-- @tparam string message the text that follows the name of the column: "must not be empty"
local function invalid(self, column, message)
  record_class.require_record("invalid", self)
  if message == nil then
    if type(column) == "string" and column_details.of_record(self).declared[column] then
      errors.raise("argument", ("invalid: the column `%s` needs a message; use self:invalid(%q, \"must not be empty\")"):format(column, column))
    end
    column, message = nil, column
  end
  if type(message) ~= "string" then
    errors.raise("argument", "invalid: expected a column and a message, got " .. errors.describe(message)
      .. (type(message) == "table" and "; use self:invalid(\"column\", \"message\")" or ""))
  end
  local details, computed = column_details.of_record(self), record_class.info_of(self).computed
  if column ~= nil and not details.declared[column] and not (computed and computed[column]) then errors.raise_unknown_column(column, details.schema.name, details.columns) end
  local mistake = { column = column, message = message }
  local mistakes = collecting[self]
  if not mistakes then raise_invalid(record_class.info_of(self), { mistake }) end
  mistakes[#mistakes + 1] = mistake
end

--- Returns the errors found by `validate` without writing: a list of `{ column = ..., message = ... }`, empty if the record is valid.
local function validation_errors(self, db, surplus)
  if surplus ~= nil then require("perilune.runtime.arity").refuse("validation_errors", 1, surplus) end
  return validation.errors(record_class.info_of(self), self, db or native_records.default_database())
end

record_class.add_instance_verbs{ invalid = invalid, validation_errors = validation_errors }

return validation
