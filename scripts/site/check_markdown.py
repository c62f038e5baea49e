#!/usr/bin/env python3
"""Checks the Markdown of the repository: that links lead to files and headings, and that code blocks fit the page.

Links of DocC, such as <doc:Limits>, are checked when the pages are written.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTH, LINES = 76, 20


def files():
    for at, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.join(at, name)


def parts(path):
    """Returns the lines outside of code blocks and the code blocks, with line numbers and languages."""
    prose, blocks, block = [], [], None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            fence = re.match(r"( *)```(\w*)", line)
            if fence and block is None:
                block = (number, len(fence[1]), fence[2], [])
            elif fence:
                blocks.append(block)
                block = None
            elif block is not None:
                block[3].append(line[block[1]:])
            else:
                prose.append((number, line))
    return prose, blocks


def anchors(path):
    """The anchors that GitHub gives to the headings of a file."""
    found = set()
    for _, line in parts(path)[0]:
        heading = re.match(r"#+ (.+)", line)
        if heading:
            text = re.sub(r"[^\w\- ]", "", heading[1].strip().lower()).replace(" ", "-")
            found.add(text)
    return found


def problems(path):
    prose, blocks = parts(path)
    for number, line in prose:
        line = re.sub(r"`[^`]*`", "", line)
        for target in re.findall(r"\]\(([^)\s]+)\)", line) + re.findall(r"(?:src|href)=\"([^\"]+)\"", line):
            if re.match(r"https?:|mailto:|doc:", target):
                continue
            name, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            resource = os.path.join(os.path.dirname(path), "Resources", name)
            in_catalog = [found for found in (resource, re.sub(r"(\.docc)/.*", r"\1/Resources/" + name, path)) if os.path.isfile(found)]
            if not os.path.exists(file) and not in_catalog:
                yield number, f"{target}: no such file"
            elif anchor and file.endswith(".md") and anchor not in anchors(file):
                yield number, f"{target}: no such heading"
    # Complete files are longer, and programs print what they print.
    is_complete = os.path.basename(path).startswith(("Tutorial", "README"))
    for start, _, language, lines in blocks:
        if len(lines) > LINES and not is_complete:
            yield start, f"expected a code block of at most {LINES} lines, got {len(lines)}"
        for offset, line in enumerate(lines, 1):
            if len(line) > WIDTH and language not in ("", "console"):
                yield start + offset, f"expected code of at most {WIDTH} columns, got {len(line)}"


def main():
    found = [f"{os.path.relpath(path, ROOT)}:{number}: {text}" for path in files() for number, text in problems(path)]
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
