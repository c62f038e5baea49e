"""Highlights Swift and Lua. Adds to the lexers of Pygments what they lack: Swift's key paths, and SQL in long strings of Lua."""

import re

from pygments.lexer import include, inherit
from pygments.lexers.objective import SwiftLexer
from pygments.lexers.scripting import LuaLexer
from pygments.lexers.sql import SqlLexer
from pygments.token import Name, String


class CompleteSwiftLexer(SwiftLexer):
    tokens = {
        "root": [
            (r"`[^`\n]+`", Name),
            (r"\\(?=\.)", Name.Attribute),
            inherit,
        ],
        "string-multi": [
            (r'"""', String, "#pop"),
            (r'"', String),
            include("string-common"),
        ],
    }


class SQLInLuaLexer(LuaLexer):
    def long_string(self, match):
        text = match[2]
        yield match.start(1), String, match[1]
        if re.match(r"\s*(ALTER|CREATE|DELETE|DROP|INSERT|PRAGMA|SELECT|UPDATE|WITH)\b", text):
            for index, kind, part in SqlLexer().get_tokens_unprocessed(text):
                yield match.start(2) + index, kind, part
        else:
            yield match.start(2), String, text
        yield match.start(3), String, match[3]

    tokens = {
        "base": [
            (r"(\[\[)((?:[^\]]|\](?!\]))*)(\]\])", long_string),
            inherit,
        ],
    }


def setup(app):
    app.add_lexer("swift", CompleteSwiftLexer)
    app.add_lexer("lua", SQLInLuaLexer)
    return {"parallel_read_safe": True}
