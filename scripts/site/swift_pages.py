"""Writes the pages of the Swift API from what DocC compiled: one page for each type, with its members as sections."""

import os
import posixpath
import re

from docc import escaped

WIDTH = 76
ASIDES = {"note": "note", "tip": "tip", "important": "important", "warning": "warning", "experiment": "tip"}


def split_arguments(text):
    """Splits text at its outermost commas."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and text[index - 1] != "-":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return parts + [text[start:].strip()]


def wrapped(text):
    """Returns a declaration with one parameter on each line if it is too wide for one line."""
    if len(text) <= WIDTH:
        return text
    text = re.sub(r" where (?=[^)]*$)", "\nwhere ", text, count=1)
    first, *rest = text.split("\n")
    opening = re.search(r"[\w?`]\(|>\(|subscript\(", first)
    if len(first) > WIDTH and opening:
        start, depth = opening.end(), 1
        for end in range(start, len(first)):
            depth += (first[end] == "(") - (first[end] == ")")
            if depth == 0:
                break
        arguments = split_arguments(first[start:end])
        first = first[:start] + "\n    " + ",\n    ".join(arguments) + "\n" + first[end:]
    lines = []
    for line in (first + "".join("\n" + line for line in rest)).split("\n"):
        if len(line) > WIDTH and line.startswith("where "):
            line = ",\n    ".join(split_arguments(line))
        lines.append(line)
    return "\n".join(lines)


class SwiftPages:
    """Writes the pages. `articles` finds the page of an article, and records which articles mention a symbol."""

    def __init__(self, symbols, articles):
        self.symbols, self.articles = symbols, articles

    def write(self, folder):
        modules = []
        for module in self.symbols.modules:
            self._write(folder, module.page, self.module_page(module))
            modules.append(module.page.removeprefix("swift/"))
        for symbol in self.symbols.by_identifier.values():
            if symbol.is_type:
                self._write(folder, symbol.page, self.type_page(symbol))
        lines = [f"- [{module.title}]({module.page.removeprefix('swift/')}.md): {self.abstract(module, 'swift/index')}"
                 for module in self.symbols.modules]
        self._write(folder, "swift/index", "\n".join([
            "# Swift reference", "", "The public types of the Swift modules, as DocC reads them from the source.", "", *lines, "",
            "```{toctree}", ":hidden:", "", *modules, "```", ""]))

    @staticmethod
    def _write(folder, page, text):
        path = os.path.join(folder, page + ".md")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def abstract(self, symbol, page):
        return self.inline(symbol.data.get("abstract", []), symbol, page)

    # Pages

    def module_page(self, module):
        body = self.articles.body_of_module(module.title)
        parts = [f"# {module.title}", "", body or self.abstract(module, module.page), ""]
        types = []
        for title, identifiers in module.groups:
            found = [self.symbols.by_identifier[key] for key in identifiers if key in self.symbols.by_identifier]
            found = [symbol for symbol in found if symbol.is_type]
            articles = [self.articles.named(key.rsplit("/", 1)[1]) for key in identifiers if key not in self.symbols.by_identifier]
            articles = [article for article in articles if article]
            # DocC collects the articles that no page lists, which belong to other modules, under this title.
            if articles and body and title != "Articles":
                parts += [f"## {title}", "", self.articles.list_of(articles, module.page), ""]
            if found:
                parts += [f"## {title}", "", self.list_of(found, module.page), ""]
                types += found
        parts += self.members(module)
        inner, at = list(types), 0
        while at < len(inner):
            inner[at + 1:at + 1] = self.symbols.subtypes(inner[at])
            at += 1
        entries = [posixpath.basename(symbol.page) for symbol in inner]
        return "\n".join(parts + ["```{toctree}", ":hidden:", ":titlesonly:", "", *entries, "```", ""])

    def type_page(self, symbol):
        parts = [f"# {escaped(symbol.title)}", "", self.declaration(symbol), self.abstract(symbol, symbol.page), ""]
        parts += self.content(symbol, heading="##")
        parts += self.relations(symbol)
        types = self.symbols.subtypes(symbol)
        if types:
            parts += ["## Types", "", self.list_of(types, symbol.page), ""]
        return "\n".join(parts + self.members(symbol))

    def members(self, symbol):
        parts = []
        for title, members in self.symbols.sections(symbol):
            parts += [f"## {title}", ""]
            for member in members:
                parts += [f"### {escaped(member.name)}", "", self.declaration(member), self.abstract(member, symbol.page), ""]
                parts += self.content(member, heading=None)
        return parts

    def list_of(self, symbols, page):
        lines = []
        for symbol in symbols:
            link = self.articles.link(page, symbol.page, "", f"`{symbol.title}`")
            lines.append(f"- {link}: {self.abstract(symbol, page) or symbol.data['metadata']['roleHeading']}")
        return "\n".join(lines)

    def relations(self, symbol):
        lines = []
        for section in symbol.data.get("relationshipsSections", []):
            names = [self.reference(key, symbol, symbol.page) for key in section["identifiers"]]
            lines.append(f"- {section['title']}: " + ", ".join(names))
        mentions = self.articles.mentions(symbol)
        if mentions:
            lines.append("- Mentioned in: " + ", ".join(self.articles.link(symbol.page, article.page, "", article.title)
                                                         for article in mentions))
        return lines + [""] if lines else []

    # Text

    @staticmethod
    def declaration(symbol):
        blocks = []
        for section in symbol.section("declarations"):
            for declaration in section["declarations"]:
                text, attributes = "", []
                for token in declaration["tokens"]:
                    if token["kind"] == "attribute" and not text.strip():
                        attributes.append(token["text"])
                    else:
                        text += token["text"]
                blocks.append("\n".join([*attributes, wrapped(text.strip())]))
        return "```swift\n" + "\n".join(blocks) + "\n```\n" if blocks else ""

    def content(self, symbol, heading):
        parts = []
        for section in symbol.section("parameters"):
            for parameter in section["parameters"]:
                text = self.blocks(parameter["content"], symbol, None).strip()
                parts.append(f"- `{parameter['name']}`: {text}")
            parts.append("")
        for section in symbol.section("content"):
            parts.append(self.blocks(section["content"], symbol, heading))
        return parts

    def blocks(self, blocks, symbol, heading):
        return "\n".join(self.block(block, symbol, heading) + "\n" for block in blocks)

    def block(self, block, symbol, heading):
        kind = block["type"]
        if kind == "paragraph":
            return self.inline(block["inlineContent"], symbol, symbol.page)
        if kind == "heading":
            if block["text"] in ("Overview", "Discussion"):
                return ""
            if block["text"] == "Return Value" or heading is None:
                return "**" + escaped("Returns" if block["text"] == "Return Value" else block["text"]) + "**"
            return f"{heading} {escaped(block['text'])}"
        if kind == "codeListing":
            return f"```{block.get('syntax') or 'text'}\n" + "\n".join(block["code"]) + "\n```"
        if kind == "aside":
            text = self.blocks(block["content"], symbol, None).strip()
            name = block["name"]
            if name.lower() in ASIDES:
                return f":::{{{ASIDES[name.lower()]}}}\n{text}\n:::"
            return f"**{name}:** {text}"
        if kind in ("unorderedList", "orderedList"):
            mark = "-" if kind == "unorderedList" else "1."
            items = [self.blocks(item["content"], symbol, None).strip().replace("\n", "\n   ") for item in block["items"]]
            return "\n".join(f"{mark} {item}" for item in items)
        raise ValueError(f"site: {symbol.identifier}: expected a known block, got {kind}")

    def inline(self, items, symbol, page):
        return "".join(self.inline_item(item, symbol, page) for item in items)

    def inline_item(self, item, symbol, page):
        kind = item["type"]
        if kind == "text":
            return escaped(item["text"])
        if kind == "codeVoice":
            fence = "``" if "`" in item["code"] else "`"
            return f"{fence}{item['code']}{fence}"
        if kind == "reference":
            return self.reference(item["identifier"], symbol, page)
        if kind in ("strong", "emphasis"):
            mark = "**" if kind == "strong" else "*"
            return mark + self.inline(item["inlineContent"], symbol, page) + mark
        raise ValueError(f"site: {symbol.identifier}: expected known text, got {kind}")

    def reference(self, identifier, symbol, page):
        target = self.symbols.by_identifier.get(identifier)
        if target:
            return self.articles.link(page, target.page, target.anchor, f"`{target.title}`")
        reference = symbol.data["references"].get(identifier, {})
        if reference.get("kind") == "article":
            article = self.articles.named(identifier.rsplit("/", 1)[1])
            return self.articles.link(page, article.page, "", article.title)
        if reference.get("type") == "link":
            return f"[{escaped(reference['title'])}]({reference['url']})"
        return f"`{reference.get('title', identifier.rsplit('/', 1)[1])}`"
