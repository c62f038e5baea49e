--- The work done by Perilune's records and requests. Run by `perilune run --database PATH`; argument: the measure.
-- with_perilune.lua does the same work in SQL.
local timing = require "timing"
local work = require "work"

local measure = ...
local measures = {}

local function run(body, prepare)
  timing.measure(work.wall(db), work.repetitions, body, prepare)
end

local function sales(Sale)
  local records = {}
  for id, name, price, quantity, note in work.sales() do
    records[id] = Sale{ id = id, name = name, price = price, quantity = quantity, note = note }
  end
  return records
end

--- Runs `body(records)` in a transaction, with records created before for a table that is empty or contains them.
local function with_sales(is_filled, body)
  local Sale, records = perilune.record("sale"), nil
  run(function()
    return db:write(function() return body(records, Sale) end)
  end, function()
    records = nil
    db:execute(work.create_sale)
    records = sales(Sale)
    if is_filled then Sale:insert_all(records) end
    if is_filled then records = Sale:fetch_all() end
  end)
end

function measures.record_insert()
  with_sales(false, function(records)
    for i = 1, #records do records[i]:insert() end
    return #records
  end)
end

--- Runs `write(Sale, fields)` for each row in a transaction.
local function with_fields(write)
  local Sale = perilune.record("sale")
  run(function()
    return db:write(function()
      for id, name, price, quantity, note in work.sales() do
        write(Sale, { id = id, name = name, price = price, quantity = quantity, note = note })
      end
      return work.insert_count
    end)
  end, function()
    db:execute(work.create_sale)
  end)
end

function measures.make_and_insert()
  with_fields(function(Sale, fields) Sale(fields):insert() end)
end

function measures.class_insert()
  with_fields(function(Sale, fields) Sale:insert(fields) end)
end

function measures.insert_all()
  with_sales(false, function(records, Sale)
    Sale:insert_all(records)
    return #records
  end)
end

--- Typical usage: plain tables without keys, from an existing list, inserted into a file; the generated keys are returned.
function measures.insert_all_tables()
  local Sale, rows = perilune.record("sale"), nil
  run(function()
    local made = db:write(function() return Sale:insert_all(rows) end)
    assert(made[#rows].id == #rows)
    return #rows
  end, function()
    rows = {}
    db:execute(work.create_sale)
    for id, name, price, quantity, note in work.sales() do
      rows[id] = { name = name, price = price, quantity = quantity, note = note }
    end
  end)
end

function measures.update_changes()
  with_sales(true, function(records)
    local change = {}
    for i = 1, #records do
      change.quantity = records[i].quantity + 1
      records[i]:update_changes(change)
    end
    return #records
  end)
end

function measures.find()
  local Product = perilune.record("product")
  local getter = {}
  function getter:fetch_one(id) return Product:find(id) end
  run(function()
    return db:read(function() return work.select_each(work.select_count, getter) end)
  end)
end

local function key_filter()
  local Product = perilune.record("product")
  local getter = {}
  function getter:fetch_one(id) return Product:filter_key(id):fetch_one() end
  return getter
end

function measures.filter_key()
  local getter = key_filter()
  run(function()
    return db:read(function() return work.select_each(work.select_count, getter) end)
  end)
end

function measures.filter_key_outside()
  local getter = key_filter()
  run(function() return work.select_each(work.autocommit_select_count, getter) end)
end

function measures.record_fetch_all()
  local Product = perilune.record("product")
  run(function()
    return db:read(function() return Product:fetch_all() end)
  end)
end

--- Iterates outside of blocks; with_perilune.lua does it in a block.
function measures.rows_outside() run(function() return work.last_of(db:rows(work.select_all)) end) end

function measures.tuples_outside()
  run(function()
    local count, last = 0, nil
    for id, name, price, quantity, note in db:tuples(work.select_all) do count, last = count + 1, id end
    return count .. "/" .. last
  end)
end

function measures.record_rows_outside()
  local Product = perilune.record("product")
  run(function() return work.last_of(Product:all():rows()) end)
end

function measures.request_built_anew()
  local Product = perilune.record("product")
  run(function()
    return db:read(function()
      return work.request_each(function(quantity)
        return Product:filter{ quantity = quantity }:order("id"):limit(10):fetch_all()
      end)
    end)
  end)
end

function measures.request_kept()
  local Product = perilune.record("product")
  local request = Product:filter{ quantity = work.one_quantity }:order("id"):limit(10)
  run(function()
    return db:read(function()
      return work.request_each(function() return request:fetch_all() end)
    end)
  end)
end

function measures.request_form()
  local Product = perilune.record("product")
  local c = Product.c
  run(function()
    return db:read(function()
      return work.form_each(function(form, quantity)
        return Product:filter{ quantity = quantity }:select(c.id, c.price:as("price_" .. form)):order("id"):limit(10):fetch_all()
      end)
    end)
  end)
end

function measures.including()
  local Invoice, Line = perilune.record("Invoice"), perilune.record("InvoiceLine")
  Invoice.lines = Invoice:has_many(Line)
  run(function()
    return db:read(function()
      return work.including_each(function()
        return Invoice:including_all(Invoice.lines:order("InvoiceLineId")):order("InvoiceId"):fetch_all()
      end)
    end)
  end)
end

measures.including_texts = measures.including

measures[measure]()
