-- A script does its work, changes nothing else, and sends one letter.
scenario("closing the month bills every open invoice once", { template = "small_shop", tags = { "billing" } }, function(t)
  t.clock:set("2026-03-31T18:00:00Z")
  t.given.invoices [[
    | id | customer_id | number | status | total_cents |
    | 1  | 1           | R-0001 | draft  | 2500        |
    | 2  | 1           | R-0002 | paid   | 990         |
  ]]
  t.effects.mail:stub("send", true)

  local result = t.run("scripts/close_month.lua", { month = "2026-03" })

  t.step("only the draft was sent, stamped with the clock", function()
    expect(result.changes):rows_any_order [[
      | op     | table    | key | status        | sent_at  |
      | update | invoices | 1   | draft -> sent | ~ -> now |
    ]]
  end)
  t.step("one letter left the house", function()
    local letters = t.effects.mail:calls("send")
    check(#letters == 1)
    expect(letters[1].to):equals("ada@example.org")
  end)
  t.step("running it again changes nothing", function()
    local again = t.run("scripts/close_month.lua", { month = "2026-03" })
    expect(again.changes):is_empty()
  end)
end)
