#!/usr/bin/env python3
"""Makes a smaller copy of the data of ICU that Foundation brings: what comparing text by language needs, and nothing else.

    scripts/icu/trim.py OUTPUT.o

The program is linked with OUTPUT.o in place of the 34 MB in Swift's lib_FoundationICU.a: standard output names the options of
`swift build` for that, one on a line. Left out are character sets, names of languages,
countries, currencies and time zones, transliteration, and breaks of lines and words: Perilune uses none of them.

The format: unicode-org.github.io/icu/userguide/icu_data (a common data file, "CmnD").
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

MEMBER = "icu_packaged_data.cpp.o"
# The name must differ from ICU's, because the linker takes the first library that it finds.
SYMBOL = "perilune_icu_data"
# Named as in ICU's build tool: all top-level resources that do not belong to a locale, and collation.
KEPT = re.compile(
    r"^[^/]+/(coll/.*|[^/]+\.(icu|nrm)|(root|pool|res_index|supplementalData|likelySubtags|numberingSystems|keyTypeData|"
    r"metadata|icuver|langInfo|icustd|plurals|dayPeriods|en|en_US|en_US_POSIX|en_001)\.res)$")


def archive():
    swift = os.path.realpath(shutil.which("swiftc"))
    return os.path.join(os.path.dirname(os.path.dirname(swift)), "lib/swift_static/linux/lib_FoundationICU.a")


def read_data(folder):
    """The name of the symbol and the bytes that it stands for."""
    path = os.path.join(folder, "data.o")
    with open(path, "wb") as file:
        subprocess.run(["ar", "p", archive(), MEMBER], stdout=file, check=True)
    symbol = re.search(r" [RD] (icudt\d+_dat)", subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".rodata", path, path + ".dat"], check=True)
    with open(path + ".dat", "rb") as file:
        return symbol.group(1), file.read()


def trim(data):
    start = struct.unpack_from("<H", data, 0)[0]
    if data[12:16] != b"CmnD":
        sys.exit("trim: the data of ICU has another format than this script knows")
    count = struct.unpack_from("<I", data, start)[0]
    entries = [struct.unpack_from("<II", data, start + 4 + 8 * index) for index in range(count)]
    ends = [offset for _, offset in entries[1:]] + [len(data) - start]
    items = []
    for (name, offset), end in zip(entries, ends):
        text = data[start + name:data.index(b"\0", start + name)]
        if KEPT.match(text.decode()):
            items.append((text, data[start + offset:start + end]))
    names, contents = b"", b""
    name_start = 4 + 8 * len(items)
    data_start = name_start + sum(len(name) + 1 for name, _ in items)
    padding = -(start + data_start) % 16
    table = struct.pack("<I", len(items))
    for name, content in items:
        table += struct.pack("<II", name_start + len(names), data_start + padding + len(contents))
        names += name + b"\0"
        contents += content + bytes(-len(content) % 16)
    return data[:start] + table + names + bytes(padding) + contents


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/icu/trim.py OUTPUT.o")
    with tempfile.TemporaryDirectory() as folder:
        symbol, data = read_data(folder)
        trimmed = trim(data)
        path = os.path.join(folder, "trimmed")
        with open(path, "wb") as file:
            file.write(trimmed)
        with open(path + ".S", "w") as file:
            file.write(
                f'.section .rodata\n.globl {SYMBOL}\n.type {SYMBOL}, @object\n.balign 16\n{SYMBOL}:\n.incbin "{path}"\n'
                f'.size {SYMBOL}, {len(trimmed)}\n.section .note.GNU-stack,"",@progbits\n')
        subprocess.run(["clang", "-c", path + ".S", "-o", sys.argv[1]], check=True)
    for option in (sys.argv[1], "--defsym", f"{symbol}={SYMBOL}"):
        print(f"-Xlinker\n{option}")
    print(f"trim: {len(data) / 1e6:.1f} MB of ICU's data made {len(trimmed) / 1e6:.1f} MB", file=sys.stderr)


main()
