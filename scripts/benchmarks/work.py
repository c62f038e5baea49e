"""What every contestant written in Python has to do; the same as work.lua."""
SELECT_ALL = "SELECT id, name, price, quantity, note FROM product"
SELECT_ONE = "SELECT id, name, price, quantity, note FROM product WHERE id = ?"
INSERT = "INSERT INTO sale (id, name, price, quantity, note) VALUES (?, ?, ?, ?, ?)"
CREATE_SALE = """
    DROP TABLE IF EXISTS sale;
    CREATE TABLE sale (id INTEGER PRIMARY KEY, name TEXT, price REAL, quantity INTEGER, note TEXT)"""
INSERT_COUNT = 100_000
SELECT_COUNT = 200_000
AUTOCOMMIT_SELECT_COUNT = 50_000
REQUEST_COUNT = 20_000
INCLUDING_COUNT = 20
ONE_QUANTITY = 77

NAMES = [f"Product {i}" for i in range(1000)]
NOTES = [f"a note about the product {i}" if i % 3 else None for i in range(1000)]


def keys(count):
    """`count` keys scattered over 10,000 rows."""
    key = 1
    for _ in range(count):
        key = key * 7919 % 10007 + 1
        yield key


def sales():
    """The rows to insert."""
    for key in range(1, INSERT_COUNT + 1):
        kind = key % 1000
        yield key, NAMES[kind], key * 0.25, kind, NOTES[kind]
