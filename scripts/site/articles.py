"""Turns the articles of the DocC catalogs into Markdown for Sphinx (MyST)."""

import collections
import os
import posixpath
import re
import shutil

from docc import escaped, kebab, slug

ASIDES = {"note", "tip", "important", "warning"}
FENCE = re.compile(r"^( *)(```+)(.*)$")
# Links to symbols, code spans, links to pages with their own text, and links to pages with the title of the page.
INLINE = re.compile(r"``(?P<symbol>[^`\s]+)``|(?P<code>`+[^`]+`+)|\]\((?:doc:(?P<target>[^)]+)|(?P<file>[\w./]+\.md))\)|<doc:(?P<page>[^>]+)>")


class Problem(Exception):
    """A fault in an article, with its place."""


class Article:
    """An article of a catalog: its lines, its title, its first paragraph and its groups of links."""

    def __init__(self, path, module, page):
        self.path, self.module, self.page = path, module, page
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.name = os.path.basename(path).removesuffix(".md")
        heading, _, self.text = text.partition("\n")
        self.title = heading.removeprefix("# ").replace("``", "")
        self.abstract = self.text.strip().split("\n\n")[0].replace("\n", " ")
        self.body, _, topics = self.text.partition("\n## Topics\n")
        self.groups = []
        for part in topics.split("\n### ")[1:]:
            title, _, links = part.partition("\n")
            self.groups.append((title.strip(), re.findall(r"^- <doc:(\w+)>", links, re.M)))
        self.groups = [(title, names) for title, names in self.groups if names]

    @property
    def is_module(self):
        return self.name == self.module

    def anchors(self):
        """The anchors of its headings, numbered as MyST numbers equal ones."""
        found, is_code = {}, False
        for line in self.text.split("\n"):
            if FENCE.match(line):
                is_code = not is_code
            heading = None if is_code else re.match(r"#+ (.+)", line)
            if heading:
                text = re.sub(r"\\(.)", r"\1", heading[1])
                found.setdefault(slug(text), text)
        return found


class Articles:
    """All articles of all catalogs, and the symbols to which they link."""

    def __init__(self, catalogs, symbols):
        self.symbols = symbols
        self.by_name, self.modules, self.images = {}, {}, {}
        self._mentions = collections.defaultdict(list)
        for module, catalog in catalogs:
            for at, _, names in sorted(os.walk(catalog)):
                for name in sorted(names):
                    path = os.path.join(at, name)
                    if not name.endswith(".md"):
                        self.images[name] = self.images[os.path.splitext(name)[0]] = path
                        continue
                    folder = {"Reference": "reference/", "Scenarios": "scenarios/"}.get(os.path.basename(at), "")
                    article = Article(path, module, folder + kebab(name.removesuffix(".md")))
                    if article.is_module:
                        self.modules[module] = article
                    else:
                        self.by_name[article.name] = article
        for article in self.by_name.values():
            for path in re.findall(r"``([^`\s]+)``", article.text):
                symbol = self._symbol(path, article)
                if article not in self._mentions[symbol.identifier]:
                    self._mentions[symbol.identifier].append(article)

    def named(self, name):
        return self.by_name.get(name)

    def mentions(self, symbol):
        return self._mentions.get(symbol.identifier, [])

    def _symbol(self, path, article):
        symbol = self.symbols.find(path, article.module)
        if not symbol:
            raise Problem(f"{article.path}: ``{path}`` is not a public symbol")
        return symbol

    # Links

    @staticmethod
    def link(source, target, anchor, text):
        """Returns a link from one page of the site to another."""
        path = posixpath.relpath(target + ".md", posixpath.dirname(source) or ".")
        return f"[{text}]({path}{'#' + anchor if anchor else ''})"

    def _target(self, link, article):
        """Returns the article and the anchor of a link such as `Limits` or `Limits#Time`."""
        name, _, fragment = link.partition("#")
        found = self.by_name.get(name)
        if not found:
            raise Problem(f"{article.path}: <doc:{link}>: no article has this name")
        if fragment and slug(fragment) not in found.anchors():
            raise Problem(f"{article.path}: <doc:{link}>: {name} has no such heading")
        return found, slug(fragment) if fragment else ""

    def inline(self, text, article, source):
        """Replaces DocC's links in text outside of code blocks."""
        def replaced(match):
            if match["code"]:
                return match[0]
            if match["symbol"]:
                symbol = self._symbol(match["symbol"], article)
                return self.link(source, symbol.page, symbol.anchor, f"`{match['symbol'].rsplit('/', 1)[-1]}`")
            name = match["file"] and os.path.basename(match["file"]).removesuffix(".md")
            found, anchor = self._target(name or match["target"] or match["page"], article)
            if not match["page"]:
                return self.link(source, found.page, anchor, "")[1:]
            return self.link(source, found.page, anchor, found.anchors()[anchor] if anchor else found.title)
        return INLINE.sub(replaced, text)

    def list_of(self, articles, source):
        lines = []
        for article in articles:
            link = self.link(source, article.page, "", article.title)
            lines.append(f"- {link}: {self.inline(article.abstract, article, source)}")
        return "\n".join(lines)

    # Text

    def converted(self, text, article, source):
        """Returns Markdown for Sphinx: fences with a language, asides as admonitions, pairs of Lua and Swift as tabs, links resolved."""
        out, lines = [], text.split("\n")
        index, prose = 0, []

        def flush():
            if prose:
                out.append(self.inline("\n".join(prose), article, source))
                prose.clear()

        while index < len(lines):
            fence = FENCE.match(lines[index])
            aside = re.match(r"^( *)> (\w+): ?(.*)$", lines[index])
            image = re.match(r"^!\[(.*)\]\(([\w.-]+)\)$", lines[index])
            if fence:
                flush()
                end = next(at for at in range(index + 1, len(lines)) if lines[at].strip() == fence[2])
                out.append(self._code(fence, lines[index + 1:end]))
                index = end
            elif aside and aside[2].lower() in ASIDES:
                prose += [f"{aside[1]}:::{{{aside[2].lower()}}}", aside[1] + aside[3]]
                while index + 1 < len(lines) and re.match(r"^ *>", lines[index + 1]):
                    index += 1
                    prose.append(aside[1] + re.sub(r"^ *> ?", "", lines[index]))
                prose.append(aside[1] + ":::")
            elif image:
                if image[2] not in self.images:
                    raise Problem(f"{article.path}: {image[2]}: no such image")
                up = posixpath.relpath("images", posixpath.dirname(source) or ".")
                prose.append(f"![{image[1]}]({up}/{os.path.basename(self.images[image[2]])})")
            else:
                prose.append(lines[index])
            index += 1
        flush()
        return self._tabs("\n".join(out))

    @staticmethod
    def _code(fence, lines):
        """Returns a code block whose language Pygments has. Blocks without one are terminal sessions or plain text."""
        language = (fence[3].split() or [""])[0]
        if language in ("", "console"):
            language = "console" if any(line.strip().startswith("$ ") for line in lines) else "text"
        return "\n".join([fence[1] + fence[2] + {"sh": "bash"}.get(language, language), *lines, fence[1] + fence[2]])

    @staticmethod
    def _tabs(text):
        """Shows a Lua block that a Swift block follows, or the reverse, as two tabs."""
        block = r"^```{}\n(?:(?!```).*\n)*```$"
        pair = re.compile(rf"({block.format('lua')})\n\n({block.format('swift')})|({block.format('swift')})\n\n({block.format('lua')})", re.M)

        def tabs(match):
            items = [part for part in match.groups() if part]
            names = ["Lua" if part.startswith("```lua") else "Swift" for part in items]
            inner = "\n".join(f"::::{{tab-item}} {name}\n:sync: {name.lower()}\n\n{part}\n\n::::" for name, part in zip(names, items))
            return f":::::{{tab-set}}\n:sync-group: language\n\n{inner}\n:::::"
        return pair.sub(tabs, text)

    # Pages

    def body_of_module(self, name):
        """The text of the page of a Swift module, except for that of Perilune, which is the front page."""
        article = self.modules[name]
        if article is self.front:
            return ""
        return self._without_overview(self.converted(article.body.strip() + "\n", article, f"swift/{name.lower()}/index"))

    @property
    def front(self):
        return self.modules["Perilune"]

    def groups(self):
        """The groups of the front page, each with its articles. Other modules add theirs to the group of the same title."""
        groups = {title: list(names) for title, names in self.front.groups}
        for module, article in self.modules.items():
            if article is not self.front:
                for title, names in article.groups:
                    groups.setdefault(title, []).extend(names)
        return [(title, [self.by_name[name] for name in names]) for title, names in groups.items()]

    def write(self, folder):
        os.makedirs(os.path.join(folder, "images"), exist_ok=True)
        for path in set(self.images.values()):
            shutil.copy(path, os.path.join(folder, "images"))
        listed = {article.name for _, articles in self.groups() for article in articles}
        for article in self.by_name.values():
            inner = [self.by_name[name] for _, names in article.groups for name in names]
            listed |= {part.name for part in inner}
            body = self.converted(article.body.strip() + "\n", article, article.page)
            parts = [f"# {article.title}", "", self._without_overview(body), ""]
            for title, names in article.groups:
                parts += [f"## {title}", "", self.list_of([self.by_name[name] for name in names], article.page), ""]
            if inner:
                entries = [posixpath.relpath(part.page, posixpath.dirname(article.page) or ".") for part in inner]
                parts += ["```{toctree}", ":hidden:", "", *entries, "```", ""]
            self._write(folder, article.page, parts)
        missing = sorted(set(self.by_name) - listed)
        if missing:
            raise Problem(f"{self.front.path}: ## Topics: no group has {', '.join(missing)}")
        self._write_front(folder)

    def _write_front(self, folder):
        """Writes the front page. Its hidden groups are the sidebar, and the order of the pages."""
        parts = ["# Perilune", "", self._without_overview(self.converted(self.front.body.strip() + "\n", self.front, "index")), ""]
        for title, articles in self.groups():
            entries = [article.page for article in articles]
            if "reference/lua-reference" in entries:
                entries.insert(entries.index("reference/lua-reference") + 1, "swift/index")
            parts += ["```{toctree}", ":hidden:", ":titlesonly:", f":caption: {title}", "", *entries, "```", ""]
        self._write(folder, "index", parts)

    @staticmethod
    def _without_overview(text):
        return re.sub(r"^## Overview\n\n?", "", text, flags=re.M)

    @staticmethod
    def _write(folder, page, parts):
        path = os.path.join(folder, page + ".md")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(parts))
