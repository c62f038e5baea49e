local perilune = perilune

test("the function of perilune.once runs once, in one transaction with its record", function()
  db:execute("CREATE TABLE t (a)")
  local function seed(handle)
    handle:execute("INSERT INTO t VALUES (1)")
    return { count = 1 }
  end
  equal({ perilune.once("seed", seed) }, { { count = 1 }, true })
  equal({ perilune.once("seed", seed) }, { { count = 1 }, false })
  equal({ perilune.once("other", function() end) }, { nil, true })
  equal({ perilune.once("other", function() end) }, { nil, false })
  equal(db:fetch_value("SELECT count(*) FROM t"), 1)
end)

test("a failing function of perilune.once is rolled back and runs again next time", function()
  db:execute("CREATE TABLE t (a)")
  local is_broken = true
  local function seed(handle)
    handle:execute("INSERT INTO t VALUES (1)")
    if is_broken then error("no", 0) end
  end
  equal(pcall(perilune.once, "seed", seed), false)
  equal(db:fetch_value("SELECT count(*) FROM t"), 0)
  is_broken = false
  equal({ perilune.once("seed", seed) }, { nil, true })
  equal(db:fetch_value("SELECT count(*) FROM t"), 1)
end)

test("perilune.once inside a transaction is part of the transaction", function()
  db:execute("CREATE TABLE t (a)")
  local function seed(handle) handle:execute("INSERT INTO t VALUES (1)") end
  pcall(db.write, db, function()
    perilune.once("seed", seed)
    error("no", 0)
  end)
  equal(db:fetch_value("SELECT count(*) FROM t"), 0)
  db:write(function() perilune.once("seed", seed) end)
  equal({ perilune.once("seed", seed) }, { nil, false })
  equal(db:fetch_value("SELECT count(*) FROM t"), 1)
end)

test("perilune.once refuses invalid arguments", function()
  matches(fails("argument", perilune.once, 1, print), "perilune.once: expected a key as a string, got the integer 1")
  matches(fails("argument", perilune.once, ("k"):rep(501), print), "at most 500 bytes, got 501")
  matches(fails("argument", perilune.once, "k"), "perilune.once: expected a function, got nil")
  matches(fails("argument", perilune.once, "k", function() return print end), "expected a result that JSON can express")
  equal({ perilune.once("k", function() return 1 end) }, { 1, true })
end)
