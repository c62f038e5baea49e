--- Loads the modules that are needed with the first record class.

local records = require "perilune.native.records"
local record = require "perilune.records.class"

require "perilune.records.failures"
require "perilune.records.columns"
require "perilune.records.fetching"
require "perilune.records.writing"
require "perilune.records.behaviours"
require "perilune.records.types"
require "perilune.records.persistence"
records.set_callbacks(require "perilune.records.native_callbacks")
records.set_record_verbs(record.instance_verbs)

return record
