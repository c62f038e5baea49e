--- The work of with_records.lua done by SQL and prepared statements. Run by `perilune run --database PATH`; argument: the measure.
local timing = require "timing"
local work = require "work"

local measure = ...
local measures = {}

local function run(body, prepare)
  timing.measure(work.wall(db), work.repetitions, body, prepare)
end

function measures.insert()
  run(function()
    return db:write(function(db) return work.insert_each(db:prepare(work.insert)) end)
  end, function()
    db:execute(work.create_sale)
  end)
end

function measures.update_changes()
  run(function()
    return db:write(function(db)
      local statement = db:prepare("UPDATE sale SET quantity = ? WHERE id = ?")
      for id = 1, work.insert_count do statement:execute(id % 1000 + 1, id) end
      return work.insert_count
    end)
  end, function()
    db:execute(work.create_sale)
    db:write(function(db) return work.insert_each(db:prepare(work.insert)) end)
  end)
end

function measures.find()
  run(function()
    return db:read(function(db) return work.select_each_by_text(work.select_count, db) end)
  end)
end

function measures.record_fetch_all()
  run(function()
    return db:read(function(db) return db:fetch_all(work.select_all) end)
  end)
end

function measures.request()
  run(function()
    return db:read(function(db)
      return work.request_each(function(quantity) return db:fetch_all(work.select_ten, quantity, 10) end)
    end)
  end)
end

function measures.request_kept()
  run(function()
    return db:read(function(db)
      return work.request_each(function() return db:fetch_all(work.select_ten, work.one_quantity, 10) end)
    end)
  end)
end

function measures.including()
  run(function()
    return db:read(function(db)
      return work.including_each(function()
        local invoices, by_id = db:fetch_all("SELECT * FROM Invoice ORDER BY InvoiceId"), {}
        for _, invoice in ipairs(invoices) do
          invoice.lines = {}
          by_id[invoice.InvoiceId] = invoice.lines
        end
        for _, line in ipairs(db:fetch_all("SELECT * FROM InvoiceLine ORDER BY InvoiceLineId")) do
          local lines = by_id[line.InvoiceId]
          lines[#lines + 1] = line
        end
        return invoices
      end)
    end)
  end)
end

measures[measure]()
