"""The work done by SQLAlchemy's ORM. Arguments: the measure, the database's path."""
import itertools
import sys

try:
    from sqlalchemy import create_engine, select
    from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, selectinload
    from sqlalchemy.schema import ForeignKey
except ImportError:
    print("SQLAlchemy is missing: pip install sqlalchemy", file=sys.stderr)
    sys.exit(77)

import work
from timing import measure

engine = create_engine("sqlite:///" + ("" if sys.argv[2] == ":memory:" else sys.argv[2]))
session = Session(engine)


class Base(DeclarativeBase):
    pass


class Columns:
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    price: Mapped[float | None]
    quantity: Mapped[int | None]
    note: Mapped[str | None]


class Product(Columns, Base):
    __tablename__ = "product"


class Sale(Columns, Base):
    __tablename__ = "sale"


class Line(Base):
    __tablename__ = "InvoiceLine"
    InvoiceLineId: Mapped[int] = mapped_column(primary_key=True)
    InvoiceId: Mapped[int] = mapped_column(ForeignKey("Invoice.InvoiceId"))
    TrackId: Mapped[int]
    UnitPrice: Mapped[float]
    Quantity: Mapped[int]


class Invoice(Base):
    __tablename__ = "Invoice"
    InvoiceId: Mapped[int] = mapped_column(primary_key=True)
    CustomerId: Mapped[int]
    InvoiceDate: Mapped[str]
    BillingAddress: Mapped[str | None]
    BillingCity: Mapped[str | None]
    BillingState: Mapped[str | None]
    BillingCountry: Mapped[str | None]
    BillingPostalCode: Mapped[str | None]
    Total: Mapped[float]
    lines: Mapped[list[Line]] = relationship(order_by=Line.InvoiceLineId)


# A call takes about 100 µs, so it makes fewer calls, and reports the share of the work that its samples represent.
SHARE = 0.02


def records(count):
    return [Sale(id=id, name=name, price=price, quantity=quantity, note=note)
            for id, name, price, quantity, note in itertools.islice(work.sales(), count)]


def empty():
    session.expunge_all()
    for statement in work.CREATE_SALE.split(";"):
        session.connection().exec_driver_sql(statement)
    session.commit()


def writing(body, count=int(work.INSERT_COUNT * SHARE), is_filled=False):
    state = {}

    def prepare():
        empty()
        state["sales"] = records(count)
        if is_filled:
            session.add_all(state["sales"])
            session.commit()
            state["sales"] = list(session.scalars(select(Sale)))

    def run():
        body(state["sales"])
        session.commit()
        return count

    print(f"value\tshare\t{count / work.INSERT_COUNT}")
    measure(run, prepare)


def record_insert():
    def body(sales):
        for sale in sales:
            session.add(sale)
            session.flush()

    writing(body)


def insert_all():
    writing(session.add_all, work.INSERT_COUNT)


def update_changes():
    def body(sales):
        for sale in sales:
            sale.quantity += 1
            session.flush()

    writing(body, is_filled=True)


def find():
    def run():
        total = 0
        for key in work.keys(int(work.SELECT_COUNT * SHARE)):
            session.expunge_all()
            total += session.get(Product, key).quantity
        return total

    print(f"value\tshare\t{SHARE}")
    measure(run)


def filter_key():
    def run():
        total = 0
        for key in work.keys(int(work.SELECT_COUNT * SHARE)):
            session.expunge_all()
            total += session.scalars(select(Product).where(Product.id == key)).first().quantity
        return total

    print(f"value\tshare\t{SHARE}")
    measure(run)


def record_fetch_all():
    def run():
        products = list(session.scalars(select(Product)))
        outcome = f"{len(products)}/{sum(product.quantity for product in products)}"
        session.expunge_all()
        return outcome

    measure(run)


def request_built_anew():
    def run():
        count = 0
        for i in range(1, int(work.REQUEST_COUNT * SHARE) + 1):
            request = select(Product).where(Product.quantity == i % 1000).order_by(Product.id).limit(10)
            count += len(list(session.scalars(request)))
            session.expunge_all()
        return count

    print(f"value\tshare\t{SHARE}")
    measure(run)


def request_kept():
    request = select(Product).where(Product.quantity == work.ONE_QUANTITY).order_by(Product.id).limit(10)

    def run():
        count = 0
        for _ in range(int(work.REQUEST_COUNT * SHARE)):
            count += len(list(session.scalars(request)))
            session.expunge_all()
        return count

    print(f"value\tshare\t{SHARE}")
    measure(run)


def including():
    def run():
        count = 0
        for _ in range(work.INCLUDING_COUNT):
            request = select(Invoice).options(selectinload(Invoice.lines)).order_by(Invoice.InvoiceId)
            count += sum(len(invoice.lines) for invoice in session.scalars(request))
            session.expunge_all()
        return count

    measure(run)


globals()[sys.argv[1]]()
