"""A client of dqlite, as small as one can be: what Perilune's is measured against."""
import socket
import struct


class Failure(Exception):
    """What a node answers with: a code and a message."""


def pad(data):
    return data + b"\0" * (-len(data) % 8)


def text(value):
    return pad(value.encode() + b"\0")


class Client:
    def __init__(self, address):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), 3)
        self.socket.settimeout(30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(struct.pack("<Q", 1))

    def receive(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def call(self, kind, body):
        body = pad(body)
        self.socket.sendall(struct.pack("<IBBH", len(body) // 8, kind, 0, 0) + body)
        return self.answer()

    def answer(self):
        words, kind, _, _ = struct.unpack("<IBBH", self.receive(8))
        body = self.receive(words * 8)
        if kind == 0:
            raise Failure(struct.unpack_from("<Q", body)[0], body[8:].split(b"\0")[0].decode())
        return body

    def leader(self):
        return self.call(0, struct.pack("<Q", 0))[8:].split(b"\0")[0].decode()

    def open(self, name):
        self.call(1, struct.pack("<Q", 7))
        self.call(3, text(name) + struct.pack("<Q", 0) + text(""))
        return self

    @staticmethod
    def parameters(values):
        if not values:
            return b""
        types, data = bytes([len(values)]), b""
        for value in values:
            if isinstance(value, int):
                types, data = types + b"\x01", data + struct.pack("<q", value)
            elif isinstance(value, float):
                types, data = types + b"\x02", data + struct.pack("<d", value)
            else:
                types, data = types + b"\x03", data + text(value)
        return pad(types) + data

    def execute(self, sql, *values):
        return struct.unpack_from("<QQ", self.call(8, struct.pack("<Q", 0) + text(sql) + self.parameters(values)))

    def query(self, sql, *values):
        body, rows = self.call(9, struct.pack("<Q", 0) + text(sql) + self.parameters(values)), []
        while True:
            count, = struct.unpack_from("<Q", body)
            place = 8
            for _ in range(count):
                place += (body.index(b"\0", place) - place + 8) // 8 * 8
            while True:
                marker, = struct.unpack_from("<Q", body, place)
                if marker == 0xFFFFFFFFFFFFFFFF:
                    return rows
                if marker == 0xEEEEEEEEEEEEEEEE:
                    break
                types = [(body[place + i // 2] >> (4 * (i % 2))) & 15 for i in range(count)]
                place += (count + 15) // 16 * 8
                row = []
                for kind in types:
                    if kind == 3:
                        end = body.index(b"\0", place)
                        row.append(body[place:end].decode())
                        place += (end - place + 8) // 8 * 8
                    else:
                        row.append(struct.unpack_from("<d" if kind == 2 else "<q", body, place)[0])
                        place += 8
                rows.append(row)
            body = self.answer()


def connect(addresses, name):
    """A client of the node that leads, or None."""
    for address in addresses:
        try:
            leader = Client(address).leader()
            if leader:
                return Client(leader).open(name)
        except (OSError, EOFError, Failure):
            pass
    return None
