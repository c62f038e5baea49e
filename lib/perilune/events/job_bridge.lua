--- Job queues for Swift.

local job_workers = require "perilune.events.job_workers"
local perilune = require "perilune"

local job_bridge = {}

--- The handlers with Swift functions; the positions are their numbers.
local handlers = {}

--- Calls a method of a queue.
function job_bridge.call(name, method, ...)
  local jobs = perilune.jobs(name)
  return jobs[method](jobs, ...)
end

--- Handles the jobs of a queue by a Swift function.
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

--- Starts the jobs that are ready. Returns whether no job is running afterwards.
function job_bridge.is_idle(number)
  return job_workers.is_idle(handlers[number])
end

return job_bridge
