"""`scripts/faults durable`: a service with a mixed load of durable work is killed again and again, at random moments and at the points that
PERILUNE_CRASH_AT names, while another program writes. At the end nothing is lost and nothing is done twice."""
import collections
import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
accounts = 10
patience = 120


class Failure(Exception):
    pass


def make(folder):
    path = pathlib.Path(folder) / "t.sqlite"
    shutil.copy(here / "work.lua", folder)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            PRAGMA journal_mode = WAL;
            CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
            CREATE TABLE transfer (id INTEGER PRIMARY KEY, source INTEGER, target INTEGER, amount INTEGER, state TEXT NOT NULL);
            CREATE TABLE audit (id INTEGER PRIMARY KEY, note TEXT);
            CREATE TABLE effect (id INTEGER PRIMARY KEY, what TEXT NOT NULL);
            """)
        connection.executemany("INSERT INTO account VALUES (?, 1000)", [(number,) for number in range(1, accounts + 1)])
        connection.commit()
    return path


class Service:
    def __init__(self, binary, folder, crash_at=None):
        environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
        if crash_at:
            environment["PERILUNE_CRASH_AT"] = str(crash_at)
        self.errors = open(pathlib.Path(folder) / "errors", "ab")
        self.process = subprocess.Popen(
            [binary, "automations", "run", "work.lua", "--database", "t.sqlite", "--poll", "50ms"], cwd=folder, env=environment,
            stdout=subprocess.DEVNULL, stderr=self.errors)

    def kill(self):
        self.stop(signal.SIGKILL)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(patience)
        self.errors.close()
        return status


class Writer:
    """The other program: it inserts transfers and audits, and remembers what was committed."""
    def __init__(self, path, random):
        self.connection, self.random = sqlite3.connect(path, timeout=patience), random
        self.transfers, self.audits = {}, []

    def write(self):
        source, target = self.random.sample(range(1, accounts + 1), 2)
        amount = self.random.randrange(1, 50)
        is_rolled_back = self.random.random() < 0.1
        transfer = self.connection.execute(
            "INSERT INTO transfer(source, target, amount, state) VALUES (?, ?, ?, 'new')", (source, target, amount)).lastrowid
        audit = self.connection.execute("INSERT INTO audit(note) VALUES ('x')").lastrowid if self.random.random() < 0.3 else None
        if is_rolled_back:
            return self.connection.rollback()
        self.connection.commit()
        self.transfers[transfer] = (source, target, amount)
        if audit:
            self.audits.append(audit)


def wait_until_done(path, service):
    """Waits until no run and no job is left that could go on. A storm of kills leaves many: it may take long, but not stand still."""
    last, changed_at = None, time.monotonic()
    with contextlib.closing(sqlite3.connect(path, timeout=patience)) as connection:
        while time.monotonic() - changed_at < patience:
            if service.process.poll() is not None:
                raise Failure(f"the service ended with status {service.process.returncode}")
            left = connection.execute("""
                SELECT (SELECT count(*) FROM transfer WHERE state = 'new')
                  + (SELECT count(*) FROM perilune_automation_run WHERE outcome IN ('queued', 'running', 'waiting') AND automation <> 'tick')
                  + (SELECT count(*) FROM perilune_job WHERE state IN ('ready', 'delayed', 'blocked', 'running'))
                  + (SELECT count(*) FROM audit WHERE 'audit ' || id NOT IN (SELECT what FROM effect))""").fetchone()[0]
            if left == 0:
                return
            done = left, *connection.execute("SELECT (SELECT count(*) FROM perilune_step), (SELECT count(*) FROM effect)").fetchone()
            if done != last:
                last, changed_at = done, time.monotonic()
            time.sleep(0.05)
    raise Failure(f"{left} things are left to be done, and nothing has happened for {patience} s")


def check(path, folder, writer):
    with contextlib.closing(sqlite3.connect(path, timeout=patience)) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchall()
        if found != [("ok",)]:
            raise Failure(f"damaged: {found[:3]}")
        twice = connection.execute("SELECT what, count(*) FROM effect GROUP BY what HAVING count(*) > 1").fetchall()
        if twice:
            raise Failure(f"done twice: {twice[:5]}")
        effects = {what for (what,) in connection.execute("SELECT what FROM effect")}
        expected = {f"{what} {number}" for number in writer.transfers for what in ("withdraw", "deposit", "receipt")}
        expected |= {f"audit {number}" for number in writer.audits}
        missing, surplus = expected - effects, {what for what in effects - expected if not what.startswith("tick ")}
        if missing or surplus:
            raise Failure(f"{len(missing)} effects are missing: {sorted(missing)[:5]}; {len(surplus)} should not be: {sorted(surplus)[:5]}")
        balances = collections.Counter({number: 1000 for number in range(1, accounts + 1)})
        for source, target, amount in writer.transfers.values():
            balances[source] -= amount
            balances[target] += amount
        if dict(connection.execute("SELECT id, balance FROM account")) != dict(balances):
            raise Failure("the balances are wrong")
        bad = connection.execute("""
            SELECT automation, outcome, error FROM perilune_automation_run
            WHERE outcome NOT IN ('succeeded', 'skipped') AND NOT (automation = 'tick' AND outcome IN ('queued', 'running', 'waiting'))""").fetchall()
        if bad:
            raise Failure(f"runs have ended otherwise: {bad[:3]}")
        dead = connection.execute("SELECT queue, error FROM perilune_job WHERE state <> 'done'").fetchall()
        if dead:
            raise Failure(f"jobs have ended otherwise: {dead[:3]}")
    keys, statements = collections.defaultdict(set), collections.Counter()
    for line in (pathlib.Path(folder) / "CALLS").read_text().splitlines():
        first, rest = line.split(" ", 1)
        if first == "statement":
            statements[int(rest)] += 1
        else:
            keys[int(first)].add(rest)
    changed = {number: found for number, found in keys.items() if len(found) > 1}
    if changed:
        raise Failure(f"calls with changed keys: {list(changed.items())[:3]}")
    if set(keys) != set(writer.transfers) or set(statements) != set(writer.transfers):
        raise Failure("calls are missing")
    return sum(1 for what in effects if what.startswith("tick "))


def run(binary, count, random):
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as services:
        def start(crash_at=None):
            service = Service(binary, folder, crash_at)
            services.callback(service.kill)
            return service

        path = make(folder)
        writer = Writer(path, random)
        # The triggers exist once the service has run.
        service = start()
        with contextlib.closing(sqlite3.connect(path, timeout=patience)) as connection:
            started = time.monotonic()
            while connection.execute("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'perilune_change_of%'").fetchone()[0] < 6:
                if time.monotonic() - started > patience:
                    raise Failure("the service does not start")
                time.sleep(0.02)
        points = 0
        for number in range(count):
            for _ in range(random.randrange(4)):
                writer.write()
            if number % 2:
                service.kill()
                service = start(random.randrange(15, 120))
                points += 1
                deadline = time.monotonic() + 5
                while service.process.poll() is None and time.monotonic() < deadline:
                    if random.random() < 0.3:
                        writer.write()
                    time.sleep(0.01)
            else:
                time.sleep(random.random() * 0.6)
            service.kill()
            service = start()
        wait_until_done(path, service)
        status = service.stop()
        if status != 0:
            raise Failure(f"the service ended with status {status}")
        ticks = check(path, folder, writer)
        return f"{count} kills, {points} of them at named points; {len(writer.transfers)} transfers, {len(writer.audits)} audits, {ticks} ticks"
