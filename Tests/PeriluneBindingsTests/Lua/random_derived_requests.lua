--- Requests with random derivations: joins, limits, groups, unions, windows, distinct rows and the rows of associations. Two
-- properties must hold for all of them:
--
-- - `a | b` has the rows of `a` and those of `b`, each at least once, or is refused.
-- - `update_all` and `delete_all` write exactly the rows that the request fetches, or are refused.

-- The random sequence is the same on every machine.
local random, pick = random_numbers(20270204)

-- Data ------------------------------------------------------------------------------------------------------------------------

local keys = {
  integer = "id INTEGER PRIMARY KEY", text = "id TEXT PRIMARY KEY", pair = "id INTEGER NOT NULL, part INTEGER NOT NULL DEFAULT 0",
}

local function make(key)
  db:execute(([[
    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE post (%s, n INTEGER, name TEXT, mark INTEGER NOT NULL DEFAULT 0, owner_id INTEGER%s);
    CREATE TABLE toy (id INTEGER PRIMARY KEY, post_id, k INTEGER);
    INSERT INTO owner VALUES (1, 'x'), (2, 'y')]]):format(keys[key], key == "pair" and ", PRIMARY KEY (id, part)" or ""))
  local Post, Toy, Owner = perilune.record "post", perilune.record "toy", perilune.record "owner"
  Post.toys = Post:has_many(Toy, { columns = "post_id", referenced = "id", name = "toys" })
  Post.owner = Post:belongs_to(Owner, { columns = "owner_id", referenced = "id" })
  Owner.posts = Owner:has_many(Post, { columns = "owner_id", referenced = "id" })
  Toy.post = Toy:belongs_to(Post, { columns = "post_id", referenced = "id" })
  Owner.toys = Owner:has_many(Toy, { through = Owner.posts, using = Post.toys })
  Toy.owner = Toy:belongs_to(Owner, { through = Toy.post, using = Post.owner })
  -- Because of these indexes and the descending keys, the order of found rows depends on the selected columns.
  db:execute "CREATE INDEX by_name ON post (name); CREATE INDEX by_owner ON post (owner_id, n); CREATE INDEX by_post ON toy (post_id)"
  for id = 9, 1, -1 do
    db:execute("INSERT INTO post (id, n, name, owner_id) VALUES (?, ?, ?, ?)", id, random(4) > 1 and random(3) or nil, pick{ "a", "b", "c" },
      random(4) > 1 and random(2) or nil)
  end
  for id = 1, 12 do db:execute("INSERT INTO toy VALUES (?, ?, ?)", id, db:fetch_value("SELECT id FROM post WHERE id = ?", random(9)), random(3)) end
  return { Post = Post, Toy = Toy, Owner = Owner }
end

-- Requests --------------------------------------------------------------------------------------------------------------------

local function condition(c)
  local kind = random(7)
  if kind == 1 then return c.n:eq(random(3)) end
  if kind == 2 then return c.n:is_null() end
  if kind == 3 then return c.name:eq(pick{ "a", "b", "c" }) end
  if kind == 4 then return c.id:is_in{ random(9), random(9), random(9) } end
  if kind == 5 then return c.id:gt(random(9)) & c.name:ne "a" end
  if kind == 6 then return c.n:lt(random(4)) | c.name:eq "b" end
  return c.owner_id:eq(random(2))
end

--- The ways to derive a request. Each receives the request, the classes and the columns of its table.
local steps = {
  filter = function(self, _, c) return self:filter(condition(c)) end,
  order = function(self, _, c) return self:order(pick{ c.n, c.name, c.n:desc() }, c.id) end,
  limit = function(self) return self:limit(random(5) - 1, random(3) - 1) end,
  offset = function(self) return self:offset(random(4)) end,
  distinct = function(self) return self:distinct() end,
  joining = function(self, classes) return self:joining_required(pick{ classes.Post.toys, classes.Post.owner }) end,
  optional = function(self, classes) return self:joining_optional(pick{ classes.Post.toys, classes.Post.owner }) end,
  filtered = function(self, classes) return self:joining_required(classes.Post.toys:filter{ k = random(3) }) end,
  nested = function(self, classes) return self:joining_required(classes.Post.toys:joining_required(classes.Toy.owner)) end,
  join = function(self, classes, c) return self:join(classes.Toy, classes.Toy.c.post_id:eq(c.id)) end,
  left_join = function(self, classes, c) return self:left_join(classes.Toy, classes.Toy.c.post_id:eq(c.id) & classes.Toy.c.k:gt(1)) end,
  cross_join = function(self, classes) return self:cross_join(classes.Owner) end,
  group = function(self, _, c) return self:group(c.id) end,
  having = function(self) return self:having(perilune.count():gt(random(2))) end,
  window = function(self, _, c) return self:filter(perilune.fn.row_number():over{ order = c.id }:le(random(6))) end,
  annotated = function(self, _, c) return self:annotated_with((c.n + 1):as("more")) end,
  union = function(self, classes, c)
    local method = pick{ "union", "union_all", "intersect", "except" }
    return self[method](self, classes.Post:filter(condition(classes.Post.c)))
  end,
  none = function(self) return self:none() end,
  reversed = function(self) return self:reversed() end,
  either = function(self, classes, c) return self | self:filter(condition(c)) end,
}
local names = {}
for name in pairs(steps) do names[#names + 1] = name end
table.sort(names)

--- The requests that derivations begin with, and their columns.
local function random_root(classes, may_have_alias)
  local Post = classes.Post
  local kind = random(8)
  if kind == 1 then return classes.Owner:find(random(2)):posts(), Post.c end
  if kind == 2 and may_have_alias then
    local aliased = Post:aliased("other")
    return aliased, aliased.c
  end
  return Post:all(), Post.c
end

--- Returns a request and the names of its derivations; nil if one of them was refused.
local function derive(classes, root, c, count)
  local found, used = root, {}
  for _ = 1, count do
    local name = random(3) == 1 and "filter" or pick(names)
    local is_done, result = pcall(steps[name], found, classes, c)
    if is_done then
      found = result
      used[#used + 1] = name
      -- The rows of a union have no alias.
      if name == "union" then c = classes.Post.c end
    end
  end
  return found, table.concat(used, " "), c
end

local function set_of(rows)
  local set = {}
  for _, row in ipairs(rows) do set[row.id] = true end
  return set
end

local function text_of(set)
  local list = {}
  for id in pairs(set) do list[#list + 1] = tostring(id) end
  table.sort(list)
  return table.concat(list, " ")
end

--- Returns the result of a function, or nil if it was refused. Any other error is a failure.
local function accepted(f, ...)
  local is_done, result = pcall(f, ...)
  if is_done then return result end
  local kind = type(result) ~= "string" and result.kind
  if kind ~= "argument" and kind ~= "ambiguous" and kind ~= "not_joined" then error(result, 0) end
end

-- Either of two requests --------------------------------------------------------------------------------------------------------

local function check_either(key, count)
  local classes = make(key)
  local accepted_count = 0
  for number = 1, count do
    local root, c = random_root(classes, true)
    local other_root, other_c = root, c
    if random(6) == 1 then other_root, other_c = random_root(classes, true) end
    local before, shared = derive(classes, root, c, random(3) - 1)
    local is_shared = other_root == root
    local left, of_left = derive(classes, before, c, random(3) - 1)
    local right, of_right = derive(classes, is_shared and before or other_root, other_c, random(3) - 1)
    local of_both = accepted(function() return { left = set_of(left:fetch_all()), right = set_of(right:fetch_all()) } end)
    local either = of_both and accepted(function() return left | right end)
    if either then
      accepted_count = accepted_count + 1
      local expected = of_both.left
      for id in pairs(of_both.right) do expected[id] = true end
      local got = set_of(either:fetch_all())
      if text_of(got) ~= text_of(expected) then
        error(("pair %d: %s: (%s) | (%s)\n%s\nexpected: %s\ngot: %s"):format(number, shared, of_left, of_right, (either:sql()), text_of(expected),
          text_of(got)))
      end
    end
  end
  return accepted_count
end

local function test_either(key)
  local count = rounds(400)
  if check_either(key, count) < count // 5 then error("too few pairs were accepted") end
end

test("OR of two requests has the rows of either, with an integer key", function() test_either("integer") end)

test("OR of two requests has the rows of either, with a text key", function() test_either("text") end)

test("OR of two requests has the rows of either, with a key of two columns", function() test_either("pair") end)

-- Written rows ------------------------------------------------------------------------------------------------------------------

local function marked()
  return set_of(db:fetch_all "SELECT id FROM post WHERE mark = 1")
end

--- Returns the ids that a change writes: runs `change`, calls `look` and rolls back. Returns nil if the change was refused.
local function written(change, look)
  local result
  local is_done = accepted(function()
    db:in_transaction(function()
      change()
      result = look()
      return "rollback"
    end)
    return true
  end)
  return is_done and result
end

local function check_written(key, count)
  local classes = make(key)
  local written_count = 0
  local all = set_of(classes.Post:fetch_all())
  for number = 1, count do
    local root, c = random_root(classes, true)
    local found, used, columns = derive(classes, root, c, random(5))
    -- A limit on joined rows needs an order, or its result is undefined.
    if used:find "join" or used:find "optional" or used:find "nested" or used:find "filtered" then found = found:order(columns.id) end
    local fetched = accepted(function() return set_of(found:fetch_all()) end)
    local function check(verb, got)
      if not got then return end
      written_count = written_count + 1
      if text_of(got) == text_of(fetched) then return end
      error(("request %d: %s of %s\n%s\nfetched: %s\nwritten: %s"):format(number, verb, used, (found:sql()), text_of(fetched), text_of(got)))
    end
    if fetched then
      check("update_all", written(function() found:update_all{ mark = 1 } end, marked))
      check("update_all of each row", written(function() found:update_all{ mark = perilune.sql "1 + mark" } end, marked))
      check("delete_all", written(function() found:delete_all() end, function()
        local rest, gone = set_of(classes.Post:fetch_all()), {}
        for id in pairs(all) do gone[id] = not rest[id] or nil end
        return gone
      end))
      check("returning", written(function() end, function() return set_of(found:update_all({ mark = 1 }, { returning = true })) end))
    end
  end
  return written_count
end

local function test_written(key)
  local count = rounds(200)
  if check_written(key, count) < count then error("too few requests were written") end
end

test("a request writes the rows that it fetches, with an integer key", function() test_written("integer") end)

test("a request writes the rows that it fetches, with a text key", function() test_written("text") end)

test("a request writes the rows that it fetches, with a key of two columns", function() test_written("pair") end)
