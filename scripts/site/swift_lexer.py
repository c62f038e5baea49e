"""Highlights Swift. Adds to the lexer of Pygments what it lacks: key paths, names in backticks, and quotes in multi-line strings."""

from pygments.lexer import include, inherit
from pygments.lexers.objective import SwiftLexer
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


def setup(app):
    app.add_lexer("swift", CompleteSwiftLexer)
    return {"parallel_read_safe": True}
