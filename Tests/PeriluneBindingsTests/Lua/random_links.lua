--- Random operations on the links of associations are compared with a naive evaluation.

local random, pick = random_numbers(20261126)
local kinds = { "main", "other" }

--- Creates the tables and classes. With `soft_delete`, deleted links stay in the table.
local function make(is_soft)
  db:execute[[
    CREATE TABLE book (id INTEGER PRIMARY KEY, link_count INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE label (id INTEGER PRIMARY KEY, is_hidden BOOLEAN NOT NULL DEFAULT 0);
    CREATE TABLE link (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book, label_id INTEGER REFERENCES label, kind TEXT, note TEXT, deleted_at DATETIME);
    INSERT INTO book (id) VALUES (1), (2); INSERT INTO label VALUES (1, 0), (2, 0), (3, 1), (4, 1), (5, 0)]]
  local Book, Label = perilune.record("book"), perilune.record("label")
  local Link = perilune.record("link", { soft_delete = is_soft or nil })
  Link.label, Link.book = Link:belongs_to(Label), Link:belongs_to(Book, { counter_cache = "link_count" })
  Book.links = Book:has_many(Link)
  Book.labels = Book:has_many(Label, { through = Book.links, using = Link.label })
  Book.main = Book:has_many(Label, { through = Book.links:filter{ kind = "main" }, using = Link.label })
  Book.hidden = Book.labels:filter{ is_hidden = true }
  Book.shown_main = Book.main:filter{ is_hidden = false }
  return Book, Label
end

--- The links of each association: their kind, and whether their labels are hidden; nil allows any.
local associations = { labels = {}, main = { kind = "main" }, hidden = { is_hidden = true }, shown_main = { kind = "main", is_hidden = false } }
local names = { "labels", "main", "hidden", "shown_main" }

local function is_hidden(label) return label == 3 or label == 4 end

local function fits(wanted, label) return wanted.is_hidden == nil or wanted.is_hidden == is_hidden(label) end

local function is_own(wanted, link, book)
  return link.book == book and not link.is_deleted and (wanted.kind == nil or link.kind == wanted.kind) and fits(wanted, link.label)
end

local function find(model, wanted, book, label)
  for _, link in ipairs(model.links) do
    if is_own(wanted, link, book) and link.label == label then return link end
  end
end

--- The methods on a list of links. Each returns whether it is allowed.
local naive = {}

function naive.add(model, wanted, book, label, note)
  if not fits(wanted, label) then return false end
  if find(model, wanted, book, label) then
    for _, link in ipairs(model.links) do
      if is_own(wanted, link, book) and link.label == label then link.note = note or link.note end
    end
    return true
  end
  local last
  for _, link in ipairs(model.links) do
    local is_alike = link.book == book and link.label == label and (wanted.kind == nil or link.kind == wanted.kind)
    if is_alike and link.is_deleted and (not last or link.is_deleted > last.is_deleted) then last = link end
  end
  if last then last.is_deleted, last.note = nil, note or last.note
  else
    model.next_id = model.next_id + 1
    table.insert(model.links, { id = model.next_id, book = book, label = label, kind = wanted.kind, note = note })
  end
  return true
end

local function remove(model, is_removed)
  local kept, count = {}, 0
  for _, link in ipairs(model.links) do
    if is_removed(link) then
      count = count + 1
      model.time = model.time + 1
      if model.is_soft then link.is_deleted = model.time end
    end
    if model.is_soft or not is_removed(link) then kept[#kept + 1] = link end
  end
  model.links = kept
  return count
end

function naive.remove(model, wanted, book, label)
  return remove(model, function(link) return is_own(wanted, link, book) and link.label == label end)
end

--- Adds a list, all or none.
function naive.add_list(model, wanted, book, list, note)
  for _, label in ipairs(list) do
    if not fits(wanted, label) then return false end
  end
  for _, label in ipairs(list) do naive.add(model, wanted, book, label, note) end
  return true
end

--- Removes a list, and returns the number of links.
function naive.remove_list(model, wanted, book, list)
  local count = 0
  for _, label in ipairs(list) do count = count + naive.remove(model, wanted, book, label) end
  return count
end

function naive.replace(model, wanted, book, list)
  local has = {}
  for _, label in ipairs(list) do
    has[label] = true
    if not fits(wanted, label) then return false end
  end
  remove(model, function(link) return is_own(wanted, link, book) and not has[link.label] end)
  for _, label in ipairs(list) do naive.add(model, wanted, book, label) end
  return true
end

local function check(model, Book)
  local expected, counts = {}, { [1] = 0, [2] = 0 }
  for _, link in ipairs(model.links) do
    expected[#expected + 1] = ("%d:%d:%s:%s:%s"):format(link.book, link.label, link.kind or "-", link.note or "-", link.is_deleted and "x" or "")
    if not link.is_deleted then counts[link.book] = counts[link.book] + 1 end
  end
  table.sort(expected)
  local found = db:fetch_values("SELECT book_id || ':' || label_id || ':' || ifnull(kind, '-') || ':' || ifnull(note, '-') || ':' || iif(deleted_at IS NULL, '', 'x') AS t FROM link ORDER BY t")
  equal(found, expected)
  equal(db:fetch_values("SELECT link_count FROM book ORDER BY id"), counts)
  for _, name in ipairs(names) do
    local labels, known = {}, {}
    for _, link in ipairs(model.links) do
      if is_own(associations[name], link, 1) and not known[link.label] then labels[#labels + 1], known[link.label] = link.label, true end
    end
    table.sort(labels)
    equal(Book[name](Book:find(1)):distinct():order("id"):pluck("id"), labels)
  end
end

local function random_list()
  local list = {}
  for index = 1, random(4) - 1 do list[index] = random(5) end
  return list
end

local function step(model, Book, Label)
  local name, book, label = pick(names), random(2), random(5)
  local wanted, rows = associations[name], Book[name](Book:find(book))
  local kind = random(8)
  if kind == 1 then
    -- A link that was created by a separate statement.
    local of = pick(kinds)
    model.next_id = model.next_id + 1
    db:execute("INSERT INTO link (book_id, label_id, kind) VALUES (?, ?, ?)", book, label, of)
    db:execute("UPDATE book SET link_count = link_count + 1 WHERE id = ?", book)
    table.insert(model.links, { id = model.next_id, book = book, label = label, kind = of })
  elseif kind <= 4 then
    local list, note = random(2) == 1 and random_list() or { label }, random(2) == 1 and "note " .. random(3) or nil
    local given = #list == 1 and random(2) == 1 and (random(2) == 1 and list[1] or Label:find(list[1])) or list
    local is_done = pcall(function() rows:add(given, note and { note = note }) end)
    equal(is_done, naive.add_list(model, wanted, book, list, note))
  elseif kind == 5 then equal(rows:remove(label), naive.remove(model, wanted, book, label))
  elseif kind == 6 then
    local list = random_list()
    equal(rows:remove(list), naive.remove_list(model, wanted, book, list))
  else
    local list = random_list()
    local is_done = pcall(function()
      if random(2) == 1 then return rows:replace(list) end
      local nested = {}
      for index, key in ipairs(list) do nested[index] = { id = key } end
      Book:save_nested({ id = book, [name] = nested }, { delete_missing = true })
    end)
    equal(is_done, naive.replace(model, wanted, book, list))
  end
end

local function play(is_soft, games)
  local Book, Label = make(is_soft)
  for _ = 1, games do
    db:execute "DELETE FROM link; UPDATE book SET link_count = 0"
    local model = { links = {}, is_soft = is_soft, next_id = 0, time = 0 }
    for turn = 1, 12 do
      step(model, Book, Label)
      -- Links that one step deletes have the same time, and links of later steps have later times.
      db:execute("UPDATE link SET deleted_at = ? WHERE deleted_at > '2010'", ("2000-01-%02d 00:00:00.000"):format(turn))
      check(model, Book)
    end
  end
end

test("random operations respect the links of their association", function() play(false, rounds(4)) end)

test("random operations respect softly deleted links of their association", function() play(true, rounds(4)) end)
