"""The work done by Python's sqlite3. Arguments: the measure, the database's path."""
import sqlite3
import sys

import work
from timing import measure

db = sqlite3.connect(sys.argv[2], isolation_level=None)


def fetch_all():
    def run():
        cursor = db.cursor()
        cursor.row_factory = sqlite3.Row
        return [dict(row) for row in cursor.execute(work.SELECT_ALL)]

    measure(run)


def tuples():
    def run():
        count, last = 0, None
        for last, name, price, quantity, note in db.execute(work.SELECT_ALL):
            count += 1
        return f"{count}/{last}"

    measure(run)


def select_each(count):
    cursor = db.cursor()
    cursor.row_factory = sqlite3.Row
    return sum(dict(cursor.execute(work.SELECT_ONE, (key,)).fetchone())["quantity"] for key in work.keys(count))


def select_inside():
    def run():
        db.execute("BEGIN")
        total = select_each(work.SELECT_COUNT)
        db.execute("COMMIT")
        return total

    measure(run)


def select_outside():
    measure(lambda: select_each(work.AUTOCOMMIT_SELECT_COUNT))


def insert():
    def run():
        db.execute("BEGIN")
        for row in work.sales():
            db.execute(work.INSERT, row)
        db.execute("COMMIT")
        return work.INSERT_COUNT

    measure(run, prepare=lambda: db.executescript(work.CREATE_SALE))


globals()[sys.argv[1]]()
