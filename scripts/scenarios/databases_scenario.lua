-- Databases as a whole: blobs in pieces, changes as values, snapshots and copies.
group("databases", { template = "shelf", tags = { "statements" }, clock = "2026-03-01 12:00:00" }, function()
  scenario("a blob is written and read in pieces", function(t)
    t.db:execute("CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB); INSERT INTO file (content) VALUES (zeroblob(1000000))")
    t.db:write(function(db)
      local blob <close> = db:open_blob("file", "content", 1, { write = true })
      blob:seek("end", -5)
      blob:write("whale")
      check(blob:seek() == blob:size())
    end)
    t.db:read(function(db)
      local count, last = 0, nil
      for piece in db:open_blob("file", "content", 1):pieces(1000) do count, last = count + 1, piece end
      check(count == 1000)
      check(last:sub(-6) == "\0whale")
    end)
  end)
end)
