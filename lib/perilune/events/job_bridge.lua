--- The interface to job queues for Swift.

local job_workers = require "perilune.events.job_workers"
local perilune = require "perilune"

local job_bridge = {}

--- The handlers of Swift functions, by number.
local handlers = {}

--- Calls a method of a queue.
function job_bridge.call(name, method, ...)
  local jobs = perilune.jobs(name)
  return jobs[method](jobs, ...)
end

--- Starts working on a queue with a Swift function.
-- @tparam function f receives a table for each job
-- @tparam function report receives a table for the outcome of each attempt
-- @treturn integer the number of the handler
function job_bridge.handle(name, options, f, report)
  local handler = perilune.jobs(name, options):handle(function(job)
    f{ id = job.id, key = job.key, attempt = job.attempt, enqueued_at = job.enqueued_at, payload = job.payload }
  end)
  job_workers.on_outcome(handler, report)
  handlers[#handlers + 1] = handler
  return #handlers
end

function job_bridge.stop(number)
  handlers[number]:cancel()
  return true
end

function job_bridge.wait_until_idle(number)
  handlers[number]:wait_until_idle()
  return true
end

return job_bridge
