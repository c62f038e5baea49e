/*
** A scanner that checks source text before compilation for code on which Lua could later spend uninterruptible time. To name the
** value in "attempt to index a nil value (field 'b')", Lua walks back over every step of a.b.b.b..., and for each step over the
** whole function. Before 5.4.6, it does so recursively. Ten thousand steps, 20 KB of text, take more than half a second without a
** hook call; a hundred thousand overflow the C stack.
*/
#ifndef PERILUNE_SOURCE_SCANNER_H
#define PERILUNE_SOURCE_SCANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of indexing steps in one expression, far more than in code written by people. */
#define PLUA_STEP_LIMIT 40

/* The maximum nesting depth of brackets. Lua's own compiler allows less. */
#define PLUA_BRACKET_LIMIT 250

/* The position of the scanner in or between tokens. */
typedef enum {
    PLUA_SCAN_BETWEEN,
    PLUA_SCAN_NAME,
    PLUA_SCAN_NUMBER,
    PLUA_SCAN_STRING,
    PLUA_SCAN_ESCAPE, /* after a backslash in a string */
    PLUA_SCAN_DOT,
    PLUA_SCAN_DOTS, /* after two dots */
    PLUA_SCAN_DASH,
    PLUA_SCAN_BRACKET, /* [ and any number of =, which may open a long string */
    PLUA_SCAN_COMMENT, /* after --, which may open a long comment */
    PLUA_SCAN_COMMENT_BRACKET,
    PLUA_SCAN_LINE_COMMENT,
    PLUA_SCAN_LONG, /* in a long string or comment */
    PLUA_SCAN_LONG_END, /* ] and any number of =, which may close it */
} plua_scan_state;

/* The kind of the last token, as far as it matters. */
typedef enum {
    PLUA_TOKEN_OTHER,
    PLUA_TOKEN_DOT,
    PLUA_TOKEN_CALLABLE, /* a name or a closing bracket: a parenthesis after it makes a call */
} plua_token;

typedef struct {
    plua_scan_state state;
    plua_token last;
    int line;
    char quote;
    bool is_hexadecimal, follows_exponent, is_comment; /* refer to the number, the number, and the long bracket */
    size_t level, level_seen; /* the number of = in the long bracket */
    char name[9];
    size_t name_length;
    int depth;
    int steps[PLUA_BRACKET_LIMIT + 1]; /* of the expression at each depth */
    bool is_call[PLUA_BRACKET_LIMIT + 1];
    bool is_refused;
} plua_scanner;

void plua_scan_begin(plua_scanner *scanner);

/* Scans more text. Returns false if the text is rejected; `line` is then the line. */
bool plua_scan(plua_scanner *scanner, const char *text, size_t length);

/* Returns the cost of compiling the next 256 bytes: a long chain of operands takes quadratic time. */
static inline int64_t plua_cost_of_piece(size_t offset) { return 256 + (int64_t)(offset / 64); }

#endif
