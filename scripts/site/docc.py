"""Reads what DocC compiled: the symbols of the Swift modules, with their places on the site and their text as Markdown."""

import collections
import json
import os
import re

# Symbols of these kinds have their own page; all others are sections on the page of their type.
TYPES = {"class", "struct", "enum", "protocol", "typealias"}


def slug(text):
    """Returns the anchor of a heading. Sphinx (`myst_heading_slug_func`) and all links use this function."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "operator"


def kebab(name):
    """Returns the file name of a page: `lua-records` for `LuaRecords`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def escaped(text):
    return re.sub(r"([\\`*_{}\[\]<>#|~$&])", r"\\\1", text)


class Symbol:
    """A module, a type or a member, as DocC describes it."""

    def __init__(self, data):
        self.data = data
        self.identifier = data["identifier"]["url"]
        self.path = self.identifier.split("/documentation/", 1)[1].split("/")
        self.title = data["metadata"]["title"]
        self.kind = data["metadata"].get("symbolKind", "")
        self.page, self.anchor = None, None

    @property
    def is_type(self):
        return self.kind in TYPES

    @property
    def name(self):
        """The name within its type: `run(file:)`, or `Kind` for `LuaError.Kind`."""
        return self.title if self.is_type else re.sub(r"-[a-z0-9.]+$", "", self.path[-1])

    @property
    def groups(self):
        """The topics of its page: pairs of a title and the symbols."""
        return [(section.get("title"), section["identifiers"]) for section in self.data.get("topicSections", [])]

    def section(self, kind):
        return [section for section in self.data.get("primaryContentSections", []) if section["kind"] == kind]


class Symbols:
    """The symbols of all modules, by DocC's identifiers and by their paths."""

    def __init__(self, archives):
        self.by_identifier, self.by_path = {}, collections.defaultdict(list)
        self.modules = []
        for archive in archives:
            folder = os.path.join(archive, "data/documentation")
            names = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
            loaded = []
            for name in names:
                with open(name, encoding="utf-8") as file:
                    data = json.load(file)
                if data["kind"] == "symbol" and data["metadata"].get("role") != "collectionGroup":
                    loaded.append(Symbol(data))
            self.modules.append(next(symbol for symbol in loaded if symbol.kind == "module"))
            self._place(loaded)

    def _place(self, symbols):
        """Gives each type a page and each member an anchor on the page of its type."""
        for symbol in symbols:
            self.by_identifier[symbol.identifier] = symbol
            names = [re.sub(r"-[a-z0-9.]+$", "", name) for name in symbol.path]
            for path in ("/".join(names), "/".join(names[1:])):
                self.by_path[path].append(symbol)
            folder = "swift/" + symbol.path[0].lower()
            if symbol.kind == "module":
                symbol.page = folder + "/index"
            elif symbol.is_type:
                symbol.page = folder + "/" + kebab(symbol.title.replace(".", "-"))
        for symbol in symbols:
            if symbol.page:
                slugs = {slug(symbol.title)}
                for title, members in self.sections(symbol):
                    self._anchor(title, slugs)
                    for member in members:
                        member.page, member.anchor = symbol.page, self._anchor(member.name, slugs)

    @staticmethod
    def _anchor(text, slugs):
        """Returns a new anchor, numbered as MyST numbers equal headings."""
        anchor, count = slug(text), 0
        while anchor in slugs:
            count += 1
            anchor = f"{slug(text)}-{count}"
        slugs.add(anchor)
        return anchor

    def sections(self, symbol):
        """The members of a type or module that are sections on its page, by topic."""
        found = []
        for title, identifiers in symbol.groups:
            members = [self.by_identifier[key] for key in identifiers if key in self.by_identifier]
            members = [member for member in members if not member.is_type]
            if members:
                found.append((title, members))
        return found

    def subtypes(self, symbol):
        """The types within a type."""
        keys = [key for _, identifiers in symbol.groups for key in identifiers]
        return [self.by_identifier[key] for key in keys if key in self.by_identifier and self.by_identifier[key].is_type]

    def find(self, path, module):
        """Returns the symbol of a link such as `ScriptHost/run(file:)`, preferably from one module."""
        found = self.by_path.get(path, [])
        own = [symbol for symbol in found if symbol.path[0] == module]
        return own[0] if own else found[0] if len(found) == 1 else None
