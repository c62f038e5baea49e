"""Time and memory for each row, from 1,000 to 1,000,000 rows (and 10,000,000 with PERILUNE_BENCH_ROWS=10000000): what grows faster than
the work is a defect. Argument: the path of the program perilune.

Each measure runs in a process of its own, on a copy of a database with that many rows. What the same process takes with no rows is
subtracted. Processor time, the least of three runs (one for a million rows and more); memory is the peak of the process.
"""
import os
import shutil
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scale.lua")
MOST = int(os.environ.get("PERILUNE_BENCH_ROWS", "1000000"))
SIZES = [size for size in (10**3, 10**4, 10**5, 10**6, 10**7) if size <= MOST]
# If the cost per row is this many times the cost at a tenth of the rows, it counts as growing. Less is tolerated, because larger data outgrows caches.
FASTER = 1.6
# Below this, the fixed cost of a process hides the cost of rows.
STEADY = 10**4

MEASURES = [
    ("fetch_all", "fetch_all", []),
    ("rows, streaming", "rows", []),
    ("Class:fetch_all", "records", []),
    ("insert_all of tables", "insert_all", []),
    ("update_all", "update_all", []),
    ("including_all, ten of each", "including_all", []),
    ("on_change of each row", "observation", []),
    ("preview of an UPDATE", "change", ["--preview"]),
    ("plan of it, saved", "change", ["--preview", "--save", "plan.json"]),
    ("snapshot of a scenario", "snapshot", []),
]

# A scenario is limited to 512 MB, so it fails with larger results.
LARGEST = {"snapshot": 10**5}

SCENARIO = """
scenario("rows", function(t)
  t.db:execute([[
    CREATE TABLE sale (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, quantity INTEGER, note TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
      INSERT INTO sale SELECT i, 'Product ' || i, i * 0.25, i %% 1000, CASE i %% 3 WHEN 0 THEN 'a note about ' || i END FROM n]])
  expect(t.db:fetch_all("SELECT * FROM sale LIMIT %d")):snapshot("sale")
end)
"""


def arguments(folder, database, measure, rows, options):
    """What the program is called with: a script on a database, or a scenario that writes a snapshot of as many rows."""
    if measure != "snapshot":
        return ["run", *options, "--database", database, SCRIPT, measure, str(rows)]
    with open(os.path.join(folder, "rows_scenario.lua"), "w") as file:
        file.write(SCENARIO % (rows, rows))
    return ["test", "--jobs", "1", "--update-snapshots", "."]


def run(program, folder, database, measure, rows, options):
    """Processor time in seconds, peak memory in bytes."""
    output = tempfile.TemporaryFile()
    command = arguments(folder, database, measure, rows, options)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        os.execv(program, [program, *command])
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        output.seek(0)
        sys.stderr.write(output.read().decode())
        raise SystemExit(f"perilune {command[0]}: {measure} with {rows} rows failed (status {status})")
    output.close()
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def least(program, folder, source, measure, rows, options):
    results = []
    for _ in range(3 if rows < 10**6 else 1):
        shutil.rmtree(folder)
        os.mkdir(folder)
        database = os.path.join(folder, "copy.sqlite")
        shutil.copyfile(source, database)
        results.append(run(program, folder, database, measure, rows, options))
    return min(time for time, _ in results), min(memory for _, memory in results)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        work = os.path.join(folder, "work")
        os.mkdir(work)
        sources = {}
        for rows in [0, *SIZES]:
            sources[rows] = os.path.join(folder, f"{rows}.sqlite")
            run(program, folder, sources[rows], "prepare", rows, [])
        print("Scale: processor time and peak memory for each row, beyond the same process with no rows. ✗: a row costs "
              f"{FASTER} × as much as with a tenth of the rows.")
        print(" " * 28 + "".join(f"{f'{size:,} rows':>26}" for size in SIZES))
        grown = []
        for title, measure, options in MEASURES:
            none = least(program, work, sources[0], measure, 0, options)
            former, cells = None, []
            for rows in SIZES:
                if rows > LARGEST.get(measure, rows):
                    continue
                found = least(program, work, sources[rows], measure, rows, options)
                each = [max(0.0, value - base) / rows for value, base in zip(found, none)]
                is_grown = former is not None and rows > STEADY and any(
                    now > FASTER * before and now * rows > least_counted
                    for now, before, least_counted in zip(each, former, (0.05, 4 << 20)))
                if is_grown:
                    grown.append(title)
                cells.append(f"{each[0] * 1e6:9.3f} µs {each[1]:9.0f} B {'✗' if is_grown else ' '}")
                former = each
            print(f"  {title:<26}" + "".join(f"{cell:>26}" for cell in cells), flush=True)
        print(f"\n  grows faster than the work: {', '.join(dict.fromkeys(grown)) or 'nothing'}")


main()
