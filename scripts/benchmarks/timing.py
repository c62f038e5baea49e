"""Measures a piece of work and reports it in the lines that timing.lua describes."""
import gc
import time

REPETITIONS = 3


def measure(work, prepare=None):
    """Runs the work several times and reports each."""
    for _ in range(REPETITIONS):
        if prepare:
            prepare()
        gc.collect()
        wall, processor = time.perf_counter(), time.process_time()
        outcome = work()
        processor, wall = time.process_time() - processor, time.perf_counter() - wall
        print(f"sample\t{processor:.6f}\t{wall:.6f}\t{describe(outcome)}")


def describe(outcome):
    """A list of rows as its length and the sum of its quantities, anything else as it is."""
    if not isinstance(outcome, list):
        return str(outcome)
    if isinstance(outcome[0], dict):
        return f"{len(outcome)}/{sum(row['quantity'] for row in outcome)}"
    return f"{len(outcome)}/{sum(row[3] for row in outcome)}"
