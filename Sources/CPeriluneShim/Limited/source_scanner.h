/*
** Looks through source text, before it is compiled, for what Lua cannot be stopped from working on later: to name the
** value in "attempt to index a nil value (field 'b')", Lua walks back over every step of a.b.b.b..., and for each step
** over the whole function. Before 5.4.6 it does so by recursion. Ten thousand steps, 20 KB of text, take more than half
** a second that no hook sees; a hundred thousand overflow the C stack.
*/
#ifndef PERILUNE_SOURCE_SCANNER_H
#define PERILUNE_SOURCE_SCANNER_H

#include <stdbool.h>
#include <stddef.h>

/* The most indexing steps in one expression: far more than people write. */
#define PERILUNE_STEP_LIMIT 40

/* The most brackets in brackets. Lua's own compiler allows fewer. */
#define PERILUNE_BRACKET_LIMIT 250

/* Where in a token, or between tokens, the scanner is. */
typedef enum {
    PERILUNE_SCAN_BETWEEN,
    PERILUNE_SCAN_NAME,
    PERILUNE_SCAN_NUMBER,
    PERILUNE_SCAN_STRING,
    PERILUNE_SCAN_ESCAPE, /* after a backslash in a string */
    PERILUNE_SCAN_DOT,
    PERILUNE_SCAN_DOTS, /* after two */
    PERILUNE_SCAN_DASH,
    PERILUNE_SCAN_BRACKET, /* [ and any number of =, which may open a long string */
    PERILUNE_SCAN_COMMENT, /* after --, which may open a long comment */
    PERILUNE_SCAN_COMMENT_BRACKET,
    PERILUNE_SCAN_LINE_COMMENT,
    PERILUNE_SCAN_LONG, /* in a long string or comment */
    PERILUNE_SCAN_LONG_END, /* ] and any number of =, which may close it */
} perilune_scan_state;

/* What the last token was, as far as it matters. */
typedef enum {
    PERILUNE_TOKEN_OTHER,
    PERILUNE_TOKEN_DOT,
    PERILUNE_TOKEN_CALLABLE, /* a name or a closing bracket: a parenthesis after it makes a call */
} perilune_token;

typedef struct {
    perilune_scan_state state;
    perilune_token last;
    int line;
    char quote;
    bool is_hexadecimal, follows_exponent, is_comment; /* of the number, the number, the long bracket */
    size_t level, level_seen; /* the = of the long bracket */
    char name[9];
    size_t name_length;
    int depth;
    int steps[PERILUNE_BRACKET_LIMIT + 1]; /* in the expression at each depth */
    bool is_call[PERILUNE_BRACKET_LIMIT + 1];
    bool is_refused;
} perilune_scanner;

void perilune_scan_begin(perilune_scanner *scanner);

/* Reads on. Returns false if the text is refused; `line` is then where. */
bool perilune_scan(perilune_scanner *scanner, const char *text, size_t length);

#endif
