#!/usr/bin/env python3
"""Checks the built pages: that each link leads to a page and a place on it, and that nothing is loaded from a server.

    check_pages.py FOLDER
"""

import html.parser
import os
import posixpath
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("img", "script") and attributes.get("src"):
            self.loaded.append(attributes["src"])
        if tag == "link" and attributes.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(attributes["href"])


def read(folder):
    pages = {}
    for at, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(at, name)
                with open(path, encoding="utf-8") as file:
                    pages[os.path.relpath(path, folder)] = Page(file.read())
    return pages


def problems(folder, pages):
    for name, page in sorted(pages.items()):
        for url in page.loaded + page.links:
            is_remote = re.match(r"[a-z]+:|//", url)
            if is_remote:
                if url in page.loaded and not url.startswith("data:"):
                    yield f"{name}: {url}: expected a file of the site"
                continue
            path, _, anchor = url.partition("#")
            path = urllib.parse.unquote(path.partition("?")[0])
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if not os.path.isfile(os.path.join(folder, target)):
                yield f"{name}: {url}: no such file"
            elif anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].anchors:
                yield f"{name}: {url}: no such place"


def main():
    folder = sys.argv[1]
    found = list(problems(folder, read(folder)))
    for line in found:
        print("docs:", line, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
