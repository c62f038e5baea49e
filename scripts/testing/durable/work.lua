-- A mixed load of durable work for `scripts/faults durable`: transfers between accounts, inserted by other programs, with steps, a
-- call, a sleep and jobs; and a schedule. Each effect in the database is one row of `effect`; each call is one line of the file
-- CALLS.

local Transfer = perilune.record("transfer")
local receipts = perilune.jobs("receipt", { attempts = 50, backoff = { "10ms", "50ms" }, concurrency = 2 })
local statements = perilune.jobs("statement", { attempts = 50, backoff = { "10ms", "50ms" } })

local function effect(handle, what) handle:execute("INSERT INTO effect(what) VALUES (?)", what) end

local function note_call(line)
  local file <close> = assert(io.open("CALLS", "a"))
  file:write(line, "\n")
end

perilune.automation{
  name = "transfer", durable = true, keep = 100000, max = 4, retry = { times = 20, wait = "10ms", factor = 1 },
  on = { change = Transfer:filter{ state = "new" } },
  run = function(run)
    local id = tonumber(run.key)
    local transfer = Transfer:find(id)
    run:step("withdraw", function(db)
      db:execute("UPDATE account SET balance = balance - ? WHERE id = ?", transfer.amount, transfer.source)
      effect(db, "withdraw " .. id)
    end)
    run:call("notify", { key = "notify " .. id .. " " .. perilune.uuid(), retry = { times = 50, wait = "5ms", factor = 1 } }, function(key)
      note_call(id .. " " .. key)
      perilune.sleep("2ms")
      if perilune.random() < 0.2 then error("the line is busy", 0) end
    end)
    run:sleep("5ms")
    run:step("deposit", function(db)
      db:execute("UPDATE account SET balance = balance + ? WHERE id = ?", transfer.amount, transfer.target)
      db:execute("UPDATE transfer SET state = 'done' WHERE id = ?", id)
      effect(db, "deposit " .. id)
      receipts:enqueue({ transfer = id }, { key = "transfer " .. id })
      statements:enqueue({ transfer = id }, { order_by = transfer.source })
    end)
  end,
}

receipts:handle(function(job, db)
  effect(db, "receipt " .. job.transfer)
end, { transaction = true })

statements:handle(function(job)
  note_call("statement " .. job.transfer)
  if perilune.random() < 0.1 then error("the printer is out of paper", 0) end
end)

perilune.automation{
  name = "tick", durable = true, keep = 100000, on = { every = "1s", catch_up = "all" },
  run = function(run)
    run:step("tick", function(db) effect(db, "tick " .. run.trigger.due) end)
  end,
}

perilune.automation{
  name = "audit", durable = true, keep = 100000, on = { change = "audit" },
  run = function(run)
    run:step("audit", function(db) effect(db, "audit " .. run.key) end)
  end,
}
