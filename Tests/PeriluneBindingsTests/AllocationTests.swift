import GRDB
import Perilune
import PeriluneLuaFileTools
import PeriluneBindings
import PeriluneLua
import Testing

/// One script for each entry point of the row path. Each run has a different `n`, so that SQLite prepares the statement again.
private let verbs: [(name: String, source: String)] = [
    ("execute", "db:execute('INSERT INTO t (a) VALUES (?) --' .. n, 'text' .. n)"),
    ("execute again", "db:execute('INSERT INTO t (a) VALUES (?)', 'text')"),
    ("execute names", "db:execute('UPDATE t SET a = :a WHERE id = @id --' .. n, { a = 'x' .. n, id = 1 })"),
    (
        "execute several",
        "db:execute('INSERT INTO t (a) VALUES (?); SELECT 1; DELETE FROM t WHERE id > :id; --' .. n, { 'x', id = 3 })"
    ),
    ("execute DDL", "db:execute('CREATE TABLE u (a); DROP TABLE u')"),
    (
        "changes",
        "local c = db:execute('UPDATE t SET a = 1 WHERE 0') local s = tostring(c) for k, v in pairs(c) do s = s .. k end"
    ),
    ("fetch_all", "db:fetch_all('SELECT id, a, b, NULL AS c, x FROM t WHERE a <> ? --' .. n, 'y' .. n)"),
    ("fetch_all again", "db:fetch_all('SELECT id, a, b FROM t')"),
    (
        "fetch_all of many",
        "db:fetch_all('WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT i AS \"i' .. n .. '\" FROM n')"
    ),
    (
        "fetch_one",
        "local r = db:fetch_one('SELECT id, a, b FROM t --' .. n) local s = tostring(r) .. #r .. (r == r:copy() and 'x' or 'y') for k in pairs(r) do s = s .. k end r:to_table() r:columns()"
    ),
    ("row_new", "perilune.row.new{ a = 1, b = perilune.null, c = 'x' .. n }"),
    ("fetch_value", "db:fetch_value('SELECT a FROM t --' .. n)"),
    ("fetch_values", "db:fetch_values('SELECT a || ? FROM t --' .. n, 'z' .. n)"),
    ("fetch_optional_values", "db:fetch_optional_values('SELECT NULL UNION ALL SELECT a FROM t --' .. n)"),
    ("fetch_set", "db:fetch_set('SELECT a FROM t --' .. n)"),
    ("fetch_all of INSERT", "db:fetch_all('INSERT INTO t (a) VALUES (?), (2) RETURNING id, a --' .. n, 'w' .. n)"),
    ("fetch_one of INSERT", "db:fetch_one('INSERT INTO t (a) VALUES (?), (2) RETURNING id, a --' .. n, 'w' .. n)"),
    ("fetch_value of DELETE", "db:fetch_value('DELETE FROM t WHERE id > 3 RETURNING a --' .. n)"),
    ("rows", "for row in db:rows('SELECT id, a, b FROM t WHERE a <> ? --' .. n, 'q' .. n) do local s = row.a end"),
    ("rows left", "for row in db:rows('SELECT id, a, b FROM t --' .. n) do break end"),
    ("rows dropped", "db:rows('SELECT id, a, b FROM t --' .. n)()"),
    ("rows of INSERT", "for row in db:rows('INSERT INTO t (a) VALUES (1), (2) RETURNING id --' .. n) do end"),
    ("tuples", "for id, a in db:tuples('SELECT NULL, a, b FROM t --' .. n) do local s = a end"),
    ("tuples in a block", "db:read(function(db) for id, a in db:tuples('SELECT id, a FROM t --' .. n) do local s = a end end)"),
    (
        "prepare",
        "local s = db:prepare('SELECT a FROM t WHERE id = ? --' .. n) s:fetch_value(1) s:fetch_all(2) s:columns() s:parameters() tostring(s)"
    ),
    (
        "prepare and execute",
        "db:write(function(db) local s = db:prepare('INSERT INTO t (a) VALUES (:a) --' .. n) for i = 1, 12 do s:execute{ a = i } end s:close() end)"
    ),
    ("read", "db:read(function(db) db:fetch_value('SELECT 1') return n, 'x' .. n end)"),
    ("write", "db:write(function(db) db:execute('INSERT INTO t (a) VALUES (1)') end)"),
    (
        "in_transaction",
        "db:in_transaction('deferred', function(db) db:execute('INSERT INTO t (a) VALUES (1)') return 'rollback', 'x' .. n end)"
    ),
    (
        "in_savepoint",
        "db:write(function(db) db:in_savepoint(function(db) db:execute('INSERT INTO t (a) VALUES (1)') return 'commit' end) end)"
    ),
    (
        "write_without_transaction",
        "db:write_without_transaction(function(db) db:in_transaction(function(db) db:execute('INSERT INTO t (a) VALUES (1)') return 'commit' end) end)"
    ),
    (
        "an error of SQLite",
        "local ok, e = pcall(db.execute, db, 'INSERT INTO t (id) VALUES (1) --' .. n) local s = tostring(e) .. tostring(type(e) ~= 'string' and e.expanded and e:expanded())"
    ),
    ("an error of preparing", "pcall(db.fetch_all, db, 'SELECT missing' .. n)"),
    (
        "an error of arguments",
        "pcall(db.fetch_all, db, 'SELECT :abc --' .. n, { abd = 1 }) pcall(db.fetch_all, db, 'SELECT ?') pcall(db.fetch_all, db, 'SELECT ?', print)"
    ),
    ("an error in a block", "pcall(db.write, db, function(db) db:execute('INSERT INTO t (a) VALUES (1)') error({ n = n }) end)"),
    (
        "a conversion",
        "db:fetch_value('SELECT ? || ?', perilune.blob('x' .. n), setmetatable({}, { __to_database = function() return 'y' .. n end }))"
    ),
    (
        "an SQL function",
        "db:add_function('f' .. n, 1, function(x) return x .. 'z' end) db:fetch_values('SELECT f' .. n .. '(a) FROM t')"
    ),
    (
        "a failing SQL function",
        "db:add_function('g', 1, function(x) error({ x = x }) end) pcall(db.fetch_values, db, 'SELECT g(a) FROM t --' .. n)"
    ),
    (
        "an aggregate",
        "db:add_aggregate('h', 1, { initial = function() return {} end, step = function(s, x) s[#s + 1] = x end, final = function(s) return #s .. 'x' end }) db:fetch_value('SELECT h(a) FROM t --' .. n)"
    ),
    (
        "a collation",
        "db:add_collation('c', function(a, b) return #a - #b end) db:fetch_values('SELECT a FROM t ORDER BY a COLLATE c --' .. n)"
    ),
    (
        "a trace",
        "local q = perilune.queue(nil, { trace = function(e) local s = e.sql .. n end }) q:execute('CREATE TABLE t (a)') q:close()"
    ),
    (
        "another database",
        "local q = perilune.queue() q:execute('CREATE TABLE t (a)') q:rows('SELECT 1')() db:backup_to(q) q:close()"
    ),
    (
        "migrations",
        "local m = perilune.migrator() m:register('a' .. n, function(db) db:execute('CREATE TABLE m (x)') end) m:register('b' .. n, { merges = { 'old' .. n } }, function(db, applied) db:execute('DROP TABLE m') end) m:register('c' .. n, 'DELETE FROM t WHERE id > 3; SELECT 1') m:migrate(db, { did_apply = function(name) return name .. n end }) m:applied(db) m:unknown(db)"
    ),
    (
        "a migration that fails",
        "local m = perilune.migrator() m:register('e' .. n, function(db) db:execute('INSERT INTO t (a) VALUES (1)') error('x' .. n) end) pcall(m.migrate, m, db) local k = perilune.migrator() k:register('f' .. n, 'INSERT INTO t (a) VALUES (1); SELECT missing') pcall(k.migrate, k, db)"
    ),
    (
        "a migration with broken foreign keys",
        "local m = perilune.migrator() m:register('g' .. n, 'CREATE TABLE m (x REFERENCES t); INSERT INTO m VALUES (99)') local ok, e = pcall(m.migrate, m, db) local s = tostring(e) .. tostring(type(e) ~= 'string' and e.violations and e.violations[1].rowid)"
    ),
    (
        "changes of migrations",
        "local q = perilune.queue() q:add_function('f', 0, function() return 1 end) local m = perilune.migrator() m:register('a', 'CREATE TABLE m AS SELECT f() AS x') m:migrate(q) q:execute('CREATE TABLE extra (x)') m:has_schema_changes(q) m.erase_on_schema_change = true q:close()"
    ),
    (
        "record:insert",
        "T = T or perilune.record('t') local r, s = T{ a = 'x' .. n, b = true }, T{ a = ('long'):rep(20) .. n } local ok, e = pcall(db.write, db, function() r:insert() s:insert() end) if not ok then assert(db:fetch_value('SELECT COUNT(*) FROM t') == 3) error(e, 0) end assert(not r:has_changes() and not s:has_changes() and s.id == r.id + 1)"
    ),
    (
        "Record:insert_all",
        "T = T or perilune.record('t') local list = {} for i = 1, 24 do list[i] = T{ a = 'x' .. i .. n, b = i > 3, x = i == 20 and 1.5 or nil } end list[23] = { a = ('long'):rep(20) .. n } local ok, e = pcall(T.insert_all, T, list) if not ok then assert(db:fetch_value('SELECT COUNT(*) FROM t') == 3) for i = 1, 22 do assert(rawget(list[i], 'id') == nil and list[i].a == 'x' .. i .. n and list[i]:has_changes()) end error(e, 0) end for i = 1, 24 do assert(e[i].id == e[1].id + i - 1 and not e[i]:has_changes()) end"
    ),
    (
        "record:update",
        "T = T or perilune.record('t') local r = T:find(1) r.a = 'u' .. n local ok, e = pcall(db.write, db, function() r:update() end) if not ok then assert(db:fetch_value('SELECT a FROM t WHERE id = 1') ~= r.a) error(e, 0) end assert(not r:has_changes() and T:find(1) == r)"
    ),
    (
        "record:update_changes",
        "T = T or perilune.record('t') local r, s = T:find(1), T:find(2) local ok, e = pcall(db.write, db, function() r:update_changes{ a = 'c' .. n, x = n + 0.5 } s:update_changes(function(s) s.a = ('long'):rep(20) .. n end) end) if not ok then assert(db:fetch_value('SELECT a FROM t WHERE id = 1') ~= 'c' .. n) error(e, 0) end assert(not r:has_changes() and not s:has_changes() and T:find(1) == r and T:find(2) == s)"
    ),
    (
        "Record:fetch_all",
        "T = T or perilune.record('t') local list = T:fetch_all() assert(#list == 3) local some = T:fetch_all('SELECT a, id, x + ' .. n .. ' AS more FROM t') assert(some[1].more == 0.5 + n or some[1].x == nil) for _, r in ipairs(list) do assert(not r:has_changes()) end"
    ),
    (
        "Record:find",
        "T = T or perilune.record('t') local r = T:find(2) assert(r.b == nil and not r:has_changes()) assert(not pcall(T.find, T, -n - 1)) local copy = r:copy() copy.a = 'other' .. n assert(copy:has_changes() and r == T:find(2))"
    ),
    (
        "record:save, delete and exists",
        "T = T or perilune.record('t') db:write(function() local r = T{ a = 's' .. n } r:save() r.a = 'again' .. n r:save() assert(r:exists()) assert(r:delete() and not r:exists()) end)"
    ),
    (
        "open_blob",
        "db:write(function(db) db:execute('UPDATE t SET a = ? WHERE id = 3', 'long text ' .. n) local b <close> = db:open_blob('t', 'a', 3, { write = true }) b:write('x') b:seek('set', 0) local s = b:read(2) .. tostring(b) for piece in b:pieces(4) do s = s .. piece end pcall(b.write, b, s) b:reopen(2) b:read() pcall(b.reopen, b, -n - 1) b:close() db:open_blob('t', 'a', 1) end)"
    ),
    (
        "a blob that outlives its block",
        "local b = db:read(function(db) return db:open_blob('t', 'a', 1) end) pcall(b.read, b) pcall(b.seek, b) tostring(b) b:close()"
    ),
    (
        "record_changes",
        "local c = db:record_changes(function(db) db:execute('UPDATE t SET a = ? WHERE id = 1', 'r' .. n) db:execute('INSERT INTO t (a) VALUES (?)', n) end) assert(#c:rows() == 2 and not c:is_empty()) local i = c:inverted() db:apply_changes(i) assert((c .. i):is_empty()) perilune.changeset(c:serialize()) pcall(perilune.changeset, 'x' .. n) pcall(db.apply_changes, db, i, { conflict = function(conflict) return conflict.kind == 'data' and 'omit' or 'abort' end })"
    ),
    (
        "record_changes beside an observer",
        "local o <close> = db:observe_transactions{ on_change = function(event) local s = event.operation .. n end } local c = db:record_changes(function(db) db:execute('UPDATE t SET a = ? WHERE id = 1', 'o' .. n) end) assert(#c:rows() == 1)"
    ),
    (
        "serialize and deserialize",
        "local q = perilune.deserialize(db:serialize()) assert(q:fetch_value('SELECT COUNT(*) FROM t') >= 3) q:close() pcall(perilune.deserialize, 'x' .. n)"
    ),
    (
        "checkpoint and transaction_date",
        "db:checkpoint('full') db:write(function(db) return tostring(db:transaction_date()) .. n end)"
    ),
    ("vectors", "local v = perilune.vector{ n, 0.5, 2 } assert(perilune.vector_numbers(v)[2] == 0.5)"),
    ("schema", "db:columns('t') db:indexes('t') db:foreign_keys('t') tostring(db:explain('SELECT * FROM t --' .. n))"),
]

@Suite struct AllocationTests {
    @Test(arguments: verbs.indices)
    func `a failed allocation raises an error, leaves nothing open and keeps the Lua state usable`(
        _ index: Int
    ) throws {
        let queue = try DatabaseQueue()
        do {
            let state = try LuaState(libraries: .trusted)
            try ScriptSetup(database: queue, allowsFiles: true).installWithChangesets(in: state)
            try state.run(
                "db:execute([[CREATE TABLE t (id INTEGER PRIMARY KEY, a, b BOOLEAN, x REAL); INSERT INTO t VALUES (1, 'one', 1, 0.5), (2, 'two', NULL, 1.5), (3, 'three', 0, NULL)]])"
            )
            let function = try state.load("n = ...; \(verbs[index].source)", named: verbs[index].name)
            let check = try state.load(
                """
                assert(not db:is_inside_transaction())
                assert(db:fetch_value("SELECT COUNT(*) FROM t WHERE id IN (1, 2, 3)") == 3)
                assert(#db:fetch_all("SELECT * FROM t LIMIT 3") == 3)
                db:execute("DELETE FROM t WHERE id > 3")
                db:write(function(db) db:execute("UPDATE t SET x = 2 WHERE id = 3") end)
                """)
            var number = 0, failures = 0
            while number < 5000 {
                state.core.failAllocation(at: number)
                do {
                    try function.call([.integer(Int64(number))])
                } catch {
                    failures += 1
                }
                let wasReached = !state.core.isAllocationToFail
                state.core.failAllocation(at: nil)
                // A garbage collection after some runs finds lost objects.
                if number.isMultiple(of: 16) { state.collectGarbage() }
                do { try check.call([]) } catch { Issue.record("after allocation \(number): \(error)") }
                if !wasReached { break }
                number += 1
            }
            #expect(number < 5000)
            #expect(number > 0)
            #expect(failures > 0)
            state.close()
        }
        #expect(throws: Never.self) { try queue.close() }
    }
}
