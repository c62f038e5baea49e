"""The work done by peewee, a widely used ORM. Arguments: the measure, the database's path."""
import itertools
import sys

try:
    import peewee
except ImportError:
    print("peewee is missing: pip install peewee", file=sys.stderr)
    sys.exit(77)

import work
from timing import measure

db = peewee.SqliteDatabase(sys.argv[2])
db.connect()


class Product(peewee.Model):
    id = peewee.AutoField()
    name = peewee.TextField()
    price = peewee.FloatField(null=True)
    quantity = peewee.IntegerField(null=True)
    note = peewee.TextField(null=True)

    class Meta:
        database = db


class Sale(Product):
    pass


def fetch_all():
    measure(lambda: list(Product.select().dicts()))


def tuples():
    def run():
        count, last = 0, None
        for last, name, price, quantity, note in Product.select().tuples().iterator():
            count += 1
        return f"{count}/{last}"

    measure(run)


def select_each(count):
    return sum(Product.get_by_id(key).quantity for key in work.keys(count))


# peewee needs some 100 µs a call, so it makes fewer, and reports which share of the work its samples stand for.
SHARE = 0.02


def select_inside():
    def run():
        with db.atomic():
            return select_each(int(work.SELECT_COUNT * SHARE))

    print(f"value\tshare\t{SHARE}")
    measure(run)


def select_outside():
    print(f"value\tshare\t{SHARE}")
    measure(lambda: select_each(int(work.AUTOCOMMIT_SELECT_COUNT * SHARE)))


def insert():
    count = int(work.INSERT_COUNT * SHARE)

    def run():
        with db.atomic():
            for key, name, price, quantity, note in itertools.islice(work.sales(), count):
                Sale.insert(id=key, name=name, price=price, quantity=quantity, note=note).execute()
        return count

    def prepare():
        for statement in work.CREATE_SALE.split(";"):
            db.execute_sql(statement)

    print(f"value\tshare\t{SHARE}")
    measure(run, prepare)


globals()[sys.argv[1]]()
