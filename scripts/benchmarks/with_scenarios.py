"""1,000 trivial tests on a schema of 60 migrations, by Perilune, busted and pytest. Argument: the path of the program perilune.

Perilune copies its template for each scenario. The others do the same by hand, in the two usual ways: all migrations for each test, or
a copy of a migrated file. Each program runs once to warm up and is then measured by turns, Perilune five times and the others three
times; the least time counts. What Perilune takes to start and to find the scenarios is measured by a run that chooses none of them.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

TESTS, FILES, MIGRATIONS, TABLES, ROUNDS, OWN_ROUNDS = 1000, 20, 60, 30, 3, 5


def migrations():
    for index in range(MIGRATIONS):
        table = index // 2
        if index % 2 == 0:
            yield (
                f"CREATE TABLE thing{table} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount INTEGER NOT NULL DEFAULT 0, "
                f"created_at TEXT DEFAULT CURRENT_TIMESTAMP); CREATE INDEX thing{table}_name ON thing{table}(name);"
            )
        else:
            yield f"ALTER TABLE thing{table} ADD COLUMN note TEXT; INSERT INTO thing{table} (id, name) VALUES (1, 'one'), (2, 'two');"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def write_perilune(folder):
    for number, sql in enumerate(migrations()):
        write(f"{folder}/migrations/{number + 1:04d}_step.sql", sql)
    for file in range(FILES):
        text = "".join(
            f"""scenario("trivial {test}", function(t)
  t.db:execute("INSERT INTO thing{test % TABLES} (name) VALUES (?)", "x{test}")
  check(t.db:fetch_value("SELECT COUNT(*) FROM thing{test % TABLES}") == 3)
end)
"""
            for test in range(TESTS // FILES)
        )
        write(f"{folder}/scenarios/part{file:02d}_scenario.lua", text)


LUA_PROLOGUE = """local luasql = require "luasql.sqlite3"
local environment = luasql.sqlite3()
local migrations = { %s }
-- LuaSQL runs one statement at a time.
local function migrate(db)
  assert(db:execute("BEGIN"))
  for _, sql in ipairs(migrations) do assert(db:execute(sql)) end
  assert(db:execute("COMMIT"))
  return db
end
local function copy(path)
  local template, file = assert(io.open(path .. "/template.sqlite", "rb")), assert(io.open(path .. "/copy.sqlite", "wb"))
  file:write(template:read("*a"))
  template:close()
  file:close()
  return assert(environment:connect(path .. "/copy.sqlite"))
end
local db
"""


def statements():
    return [part.strip() for sql in migrations() for part in sql.split(";") if part.strip()]


def write_busted(folder, way):
    begin = {
        "migrating": "db = migrate(assert(environment:connect(':memory:')))",
        "copying": f"db = copy('{folder}')",
    }[way]
    prologue = LUA_PROLOGUE % ", ".join(f"[==[{sql}]==]" for sql in statements())
    for file in range(FILES):
        text = prologue + "describe('trivial', function()\n"
        text += f"  before_each(function() {begin} end)\n  after_each(function() db:close() end)\n"
        for test in range(TESTS // FILES):
            text += f"""  it("trivial {test}", function()
    assert(db:execute("INSERT INTO thing{test % TABLES} (name) VALUES ('x{test}')"))
    local cursor = assert(db:execute("SELECT COUNT(*) FROM thing{test % TABLES}"))
    assert.are.equal(3, tonumber((cursor:fetch())))
    cursor:close()
  end)
"""
        write(f"{folder}/spec/part{file:02d}_spec.lua", text + "end)\n")


def write_pytest(folder, way):
    body = {
        "migrating": "    db = sqlite3.connect(':memory:')\n    migrate(db)\n",
        "copying": "    db = sqlite3.connect(':memory:')\n    template.backup(db)\n",
    }[way]
    write(
        f"{folder}/conftest.py",
        "import sqlite3\nimport pytest\n\nMIGRATIONS = " + repr(list(migrations())) + "\n\n\ndef migrate(db):\n"
        "    for sql in MIGRATIONS:\n        db.executescript('BEGIN;' + sql + 'COMMIT;')\n\n\n"
        "@pytest.fixture(scope='session')\ndef template():\n    db = sqlite3.connect(':memory:')\n    migrate(db)\n    return db\n\n\n"
        f"@pytest.fixture\ndef db(template):\n{body}    yield db\n    db.close()\n",
    )
    for file in range(FILES):
        text = "".join(
            f"""def test_trivial_{test}(db):
    db.execute("INSERT INTO thing{test % TABLES} (name) VALUES (?)", ("x{test}",))
    assert db.execute("SELECT COUNT(*) FROM thing{test % TABLES}").fetchone()[0] == 3


"""
            for test in range(TESTS // FILES)
        )
        write(f"{folder}/test_part{file:02d}.py", text)


def make_template(folder):
    import sqlite3

    db = sqlite3.connect(f"{folder}/template.sqlite")
    for sql in migrations():
        db.executescript("BEGIN;" + sql + "COMMIT;")
    db.close()


START = "perilune, none of them"


def seconds(command, folder, status=0):
    start = time.monotonic()
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    elapsed = time.monotonic() - start
    if result.returncode != status:
        raise SystemExit(f"{' '.join(command)}: exit status {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return elapsed


def contestants(perilune, root):
    write_perilune(f"{root}/perilune")
    yield "perilune, 1 worker", [perilune, "test", "--jobs", "1"], f"{root}/perilune"
    yield "perilune, 2 workers", [perilune, "test", "--jobs", "2"], f"{root}/perilune"
    yield START, [perilune, "test", "--jobs", "2", "--filter", "no scenario is called so"], f"{root}/perilune"
    busted = shutil.which("busted")
    pytest = [sys.executable, "-m", "pytest"]
    has_pytest = subprocess.run(pytest + ["--version"], capture_output=True).returncode == 0
    for name, is_there, package in (("busted", busted, "lua-busted and lua-sql-sqlite3"), ("pytest", has_pytest, "python3-pytest")):
        if not is_there:
            print(f"{name} is missing: apt-get install {package}")
    for way in ("migrating", "copying"):
        if busted:
            folder = f"{root}/busted-{way}"
            write_busted(folder, way)
            make_template(folder)
            yield f"busted and LuaSQL, {way}", [busted, "spec"], folder
        if has_pytest:
            folder = f"{root}/pytest-{way}"
            write_pytest(folder, way)
            yield f"pytest and sqlite3, {way}", pytest + ["-q", "-p", "no:cacheprovider"], folder


def main():
    perilune = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as root:
        found = list(contestants(perilune, root))
        # A run that selects no tests exits with its own status.
        measure = lambda name, command, folder: seconds(command, folder, 4 if name == START else 0)
        best = {contestant[0]: measure(*contestant) for contestant in found}
        for turn in range(max(ROUNDS, OWN_ROUNDS)):
            for contestant in found:
                name = contestant[0]
                if turn < (OWN_ROUNDS if name.startswith("perilune") else ROUNDS):
                    best[name] = min(best[name], measure(*contestant))
    one, two, start = best["perilune, 1 worker"], best["perilune, 2 workers"], best.pop(START)
    print(f"{TESTS} trivial tests on a schema of {MIGRATIONS} migrations: elapsed time for each, start of the program included\n")
    for name, elapsed in best.items():
        print(f"  {name:32} {elapsed / TESTS * 1000:7.2f} ms   {elapsed / one:6.2f} ×")
    marks = ["✗" if one / TESTS > 0.003 else "", "✗" if one / two < 1.7 else ""]
    print(f"\n  of it {start / TESTS * 1000:.2f} ms are the start and the search for scenarios; without it two workers are "
          f"{(one - start) / (two - start):.2f} × faster")
    print(f"\n  at most 3 ms on one worker {marks[0]}; two workers are {one / two:.2f} × faster, at least 1.7 × is the target {marks[1]}")


main()
