--- Requests put together by UNION and the like.

local function classes()
  db:execute[[
    CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT, note TEXT); INSERT INTO a VALUES (1, 'x', '1'), (2, 'y', '2');
    CREATE TABLE b (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO b VALUES (1, 'z'), (2, 'x')]]
  return perilune.record("a"), perilune.record("b")
end

test("what is selected of two tables is ordered, filtered, limited and counted by its names", function()
  local A, B = classes()
  local names = A:select("name"):union(B:select("name"))
  equal(names:order("name"):fetch_values(), { "x", "y", "z" })
  equal(names:order("name"):filter("name <> 'x'"):limit(1):fetch_values(), { "y" })
  equal(names:fetch_count(), 3)
  equal(A:select("name"):union_all(B:select("name")):fetch_count(), 4)
  equal(A:select("name"):except(B:select("name")):fetch_values(), { "y" })
  equal(A:select("name"):intersect(B:select("name")):fetch_values(), { "x" })
end)

test("whole rows of one table put together stay records", function()
  local A = classes()
  local rows = A:filter{ id = 1 }:union(A:filter{ id = 2 }):order(A.c.name:desc()):fetch_all()
  equal(rows[1].note, "2")
  equal(A:is(rows[1]), true)
end)
