#!/usr/bin/env python3
"""Writes the Markdown of the site for Sphinx.

    pages.py OUTPUT MODULE CATALOG ARCHIVE [MODULE CATALOG ARCHIVE ...]
"""

import sys

from articles import Articles, Problem
from docc import Symbols
from swift_pages import SwiftPages


def main():
    output, *rest = sys.argv[1:]
    modules = list(zip(rest[0::3], rest[1::3], rest[2::3]))
    symbols = Symbols([archive for _, _, archive in modules])
    try:
        articles = Articles([(module, catalog) for module, catalog, _ in modules], symbols)
        articles.write(output)
        SwiftPages(symbols, articles).write(output)
    except Problem as problem:
        sys.exit(f"docs: {problem}")


if __name__ == "__main__":
    main()
