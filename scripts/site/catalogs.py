#!/usr/bin/env python3
"""Writes the catalogs that DocC compiles: the page of each module, and the titles of all articles, so that comments can link to any.

    catalogs.py OUTPUT MODULE CATALOG [MODULE CATALOG ...]
"""

import os
import shutil
import sys


def main():
    output, *rest = sys.argv[1:]
    modules = list(zip(rest[0::2], rest[1::2]))
    for module, own in modules:
        catalog = os.path.join(output, module + ".docc")
        os.makedirs(catalog)
        shutil.copy(os.path.join(own, module + ".md"), catalog)
        for other, folder in modules:
            for at, _, names in os.walk(folder):
                for name in names:
                    if name.endswith(".md") and name != other + ".md":
                        with open(os.path.join(at, name), encoding="utf-8") as article:
                            title = article.readline()
                        with open(os.path.join(catalog, name), "w", encoding="utf-8") as stub:
                            stub.write(title)


if __name__ == "__main__":
    main()
