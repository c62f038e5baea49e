"""Measures Perilune on three nodes of dqlite, beside a client in Python. Argument: the program perilune."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from cluster_client import connect

ROUNDS = 3
PORTS = range(9551, 9554)
ADDRESSES = [f"127.0.0.1:{port}" for port in PORTS]
TARGETS = {"point select": 0.5, "insert in a transaction": 0.5, "10,000 rows": 0.1}


def start(folder):
    nodes = []
    for index, address in enumerate(ADDRESSES):
        data = os.path.join(folder, f"n{index}")
        os.mkdir(data)
        command = ["dqlite-demo", "-a", f"127.0.0.1:{8551 + index}", "-d", address, "-D", data]
        command += ["-j", ADDRESSES[0]] if index else []
        nodes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        while connect([address], "bench") is None and index == 0:
            if nodes[0].poll() is not None:
                sys.exit(f"the node on {address} has ended: is its port in use?")
            time.sleep(0.1)
        time.sleep(1)
    return nodes


def measure(results, name, count, work):
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        results.setdefault(name, []).append((time.perf_counter() - begin) / count)


def with_python(client):
    insert, results = "INSERT INTO sale (name, price, quantity) VALUES (?, ?, ?)", {}

    def in_transaction(count):
        client.execute("BEGIN IMMEDIATE")
        for i in range(count):
            client.execute(insert, f"k{i}", i / 2, i)
        client.execute("COMMIT")

    measure(results, "point select", 2000, lambda: [client.query("SELECT * FROM sale WHERE id = ?", i % 500 + 1) for i in range(2000)])
    measure(results, "insert in a transaction", 5000, lambda: in_transaction(5000))
    measure(results, "insert by itself", 200, lambda: [client.execute(insert, f"k{i}", i / 2, i) for i in range(200)])
    measure(results, "10,000 rows", 10000, lambda: in_transaction(10000))
    measure(results, "stream of 200,000 rows", 200000, lambda: client.query("SELECT id, name, price, quantity FROM stream"))
    return results


def main():
    if shutil.which("dqlite-demo") is None:
        sys.exit("the nodes are missing: scripts/setup --cluster installs them")
    folder = tempfile.mkdtemp()
    nodes = start(folder)
    try:
        client = connect(ADDRESSES, "bench")
        client.execute("CREATE TABLE sale (id INTEGER PRIMARY KEY, name TEXT, price REAL, quantity INTEGER)")
        client.execute("CREATE TABLE stream (id INTEGER PRIMARY KEY, name TEXT, price REAL, quantity INTEGER)")
        client.execute("INSERT INTO sale (name) WITH RECURSIVE q(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM q WHERE n < 500) SELECT n FROM q")
        client.execute(
            "INSERT INTO stream (name, price, quantity) WITH RECURSIVE q(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM q WHERE n < 200000) "
            "SELECT 'k' || n, n / 2.0, n FROM q")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "with_cluster.lua")
        url = "dqlite://" + ",".join(ADDRESSES) + "/bench?timeout=60s"
        python, perilune, megabytes = {}, {}, 0
        for _ in range(2):
            for name, times in with_python(client).items():
                python.setdefault(name, []).extend(times)
            command = [sys.argv[1], "run", "--database", url, script, str(ROUNDS)]
            for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
                name, value = line.split("\t")
                if name == "megabytes":
                    megabytes = max(megabytes, float(value))
                else:
                    perilune.setdefault(name, []).append(float(value))
        print("Three nodes and the client on one machine: microseconds for each statement or row, the least of six. ✗: over the target.\n")
        print(f"{'':26}{'Perilune':>10}{'Python':>10}{'ratio':>8}{'target':>8}")
        for name, times in python.items():
            mine, other, target = min(perilune[name]) * 1e6, min(times) * 1e6, TARGETS.get(name)
            mark = "" if target is None or mine / other <= target else " ✗"
            print(f"{name:26}{mine:10.1f}{other:10.1f}{mine / other:8.2f}{target or '':>8}{mark}")
        print(f"\nthe most memory that Perilune had: {megabytes} MB")
    finally:
        for node in nodes:
            node.kill()
            node.wait()
        shutil.rmtree(folder, ignore_errors=True)


main()
