-- Sends each open invoice with a letter.
--
--     perilune run scripts/close_month.lua --database shop.sqlite
--
-- `mail` is a module of the host. In scenarios and previews, no letters are sent.
local arguments = ...
local mail = require "mail"

local Invoice, Customer = perilune.record("invoices"), perilune.record("customers")
Invoice.customer = Invoice:belongs_to(Customer)

local count = 0
db:write(function()
  for _, invoice in ipairs(Invoice:filter{ status = "draft" }:including_required(Invoice.customer):fetch_all()) do
    mail.send{ to = invoice.customer.email, subject = "Your invoice " .. invoice.number .. " of " .. arguments.month }
    invoice:update_changes(function(i) i.status, i.sent_at = "sent", perilune.now() end)
    count = count + 1
  end
end)
print(("closed %d invoice%s"):format(count, count == 1 and "" or "s"))
