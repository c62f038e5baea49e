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


class Invoice(peewee.Model):
    InvoiceId = peewee.AutoField()
    CustomerId = peewee.IntegerField()
    InvoiceDate = peewee.TextField()
    BillingAddress = peewee.TextField(null=True)
    BillingCity = peewee.TextField(null=True)
    BillingState = peewee.TextField(null=True)
    BillingCountry = peewee.TextField(null=True)
    BillingPostalCode = peewee.TextField(null=True)
    Total = peewee.FloatField()

    class Meta:
        database = db


class InvoiceLine(peewee.Model):
    InvoiceLineId = peewee.AutoField()
    InvoiceId = peewee.ForeignKeyField(Invoice, column_name="InvoiceId", backref="lines")
    TrackId = peewee.IntegerField()
    UnitPrice = peewee.FloatField()
    Quantity = peewee.IntegerField()

    class Meta:
        database = db


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


# A call takes about 100 µs in peewee, so it makes fewer calls, and reports the share of the work that its samples represent.
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


def writing(body, count=int(work.INSERT_COUNT * SHARE), is_filled=False):
    state = {}

    def prepare():
        for statement in work.CREATE_SALE.split(";"):
            db.execute_sql(statement)
        state["sales"] = [
            Sale(id=id, name=name, price=price, quantity=quantity, note=note)
            for id, name, price, quantity, note in itertools.islice(work.sales(), count)]
        if is_filled:
            Sale.bulk_create(state["sales"], batch_size=1000)
            state["sales"] = list(Sale.select())

    def run():
        with db.atomic():
            body(state["sales"])
        return count

    print(f"value\tshare\t{count / work.INSERT_COUNT}")
    measure(run, prepare)


def record_insert():
    def body(sales):
        for sale in sales:
            sale.save(force_insert=True)

    writing(body)


def insert_all():
    writing(lambda sales: Sale.bulk_create(sales, batch_size=1000), work.INSERT_COUNT)


def update_changes():
    def body(sales):
        for sale in sales:
            sale.quantity += 1
            sale.save(only=[Sale.quantity])

    writing(body, is_filled=True)


find = select_inside


def filter_key():
    def run():
        keys = work.keys(int(work.SELECT_COUNT * SHARE))
        return sum(Product.select().where(Product.id == key).first().quantity for key in keys)

    print(f"value\tshare\t{SHARE}")
    measure(run)


def record_fetch_all():
    def run():
        products = list(Product.select())
        return f"{len(products)}/{sum(product.quantity for product in products)}"

    measure(run)


def request_built_anew():
    def run():
        count = 0
        for i in range(1, int(work.REQUEST_COUNT * SHARE) + 1):
            count += len(list(Product.select().where(Product.quantity == i % 1000).order_by(Product.id).limit(10)))
        return count

    print(f"value\tshare\t{SHARE}")
    measure(run)


def request_kept():
    request = Product.select().where(Product.quantity == work.ONE_QUANTITY).order_by(Product.id).limit(10)

    def run():
        # A clone, because an executed request keeps its rows.
        return sum(len(list(request.clone())) for _ in range(int(work.REQUEST_COUNT * SHARE)))

    print(f"value\tshare\t{SHARE}")
    measure(run)


def including():
    def run():
        count = 0
        for _ in range(work.INCLUDING_COUNT):
            invoices = Invoice.select().order_by(Invoice.InvoiceId)
            lines = InvoiceLine.select().order_by(InvoiceLine.InvoiceLineId)
            count += sum(len(invoice.lines) for invoice in peewee.prefetch(invoices, lines))
        return count

    measure(run)


globals()[sys.argv[1]]()
