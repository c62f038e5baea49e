--- The work done by Perilune. Run by `perilune run --database PATH`; argument: the measure.
local timing = require "timing"
local work = require "work"

local measure = ...
local measures = {}

local wall = work.wall(db)

local function run(body, prepare)
  timing.measure(wall, work.repetitions, body, prepare)
end

function measures.fetch_all()
  run(function()
    return db:read(function(db) return db:fetch_all(work.select_all) end)
  end)
end

function measures.tuples()
  run(function()
    return db:read(function(db)
      local count, last = 0, nil
      for id, name, price, quantity, note in db:tuples(work.select_all) do count, last = count + 1, id end
      return count .. "/" .. last
    end)
  end)
end

function measures.rows()
  run(function()
    return db:read(function(db) return work.last_of(db:rows(work.select_all)) end)
  end)
end

function measures.record_rows()
  local Product = perilune.record("product")
  run(function()
    return db:read(function() return work.last_of(Product:all():rows()) end)
  end)
end

function measures.select_inside()
  run(function()
    return db:read(function(db) return work.select_each_by_text(work.select_count, db) end)
  end)
end

function measures.select_prepared()
  run(function()
    return db:read(function(db) return work.select_each(work.select_count, db:prepare(work.select_one)) end)
  end)
end

function measures.select_outside()
  run(function() return work.select_each_by_text(work.autocommit_select_count, db) end)
end

function measures.insert()
  run(function()
    return db:write(function(db) return work.insert_each(db:prepare(work.insert)) end)
  end, function()
    db:execute(work.create_sale)
  end)
end

function measures.stream()
  local watch = timing.memory_watch()
  timing.measure(wall, 1, function()
    return db:read(function(db)
      local count, last = 0, nil
      for row in db:rows(work.stream) do
        count, last = count + 1, row.id
        watch(count)
      end
      return count .. "/" .. last
    end)
  end)
end

--- The equivalents of record and request methods.
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

function measures.request_form()
  run(function()
    return db:read(function(db)
      return work.form_each(function(form, quantity) return db:fetch_all(work.select_form(form), quantity, 10) end)
    end)
  end)
end

--- Fetches invoices with their lines without associations. `read_date` converts a date to the value in a record.
local function including(read_date)
  run(function()
    return db:read(function(db)
      return work.including_each(function()
        local invoices, by_id = db:fetch_all("SELECT * FROM Invoice ORDER BY InvoiceId"), {}
        for _, invoice in ipairs(invoices) do
          invoice.InvoiceDate = read_date(invoice.InvoiceDate)
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

function measures.including() including(perilune.date) end

function measures.including_texts() including(function(text) return text end) end

measures[measure]()
