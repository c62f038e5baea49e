/*
** A scanner that checks source text before compilation for code with which Lua could spend a long, uninterruptible time later. To name the
** value in "attempt to index a nil value (field 'b')", Lua follows every step of a.b.b.b... backwards, and for each step scans the whole
** function; before 5.4.6, it does so recursively. Ten thousand steps, 20 KB of text, take more than half a second without a call of the
** hook. A hundred thousand overflow the C stack.
*/
#ifndef PERILUNE_SOURCE_SCANNER_H
#define PERILUNE_SOURCE_SCANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of indexing steps in one expression, which is far more than people write. */
#define PLUA_STEP_LIMIT 40

/* The maximum nesting depth of brackets, which is more than Lua's compiler allows. */
#define PLUA_BRACKET_LIMIT 250

/* The state of the scanner, between tokens or inside one. */
typedef enum {
    PLUA_SCAN_BETWEEN,
    PLUA_SCAN_NAME,
    PLUA_SCAN_NUMBER,
    PLUA_SCAN_STRING,
    PLUA_SCAN_ESCAPE, /* after a backslash in a string */
    PLUA_SCAN_DOT,
    PLUA_SCAN_DOTS, /* after two dots */
    PLUA_SCAN_DASH,
    PLUA_SCAN_BRACKET, /* after [ and any number of =, which may open a long string */
    PLUA_SCAN_COMMENT, /* after --, which may begin a long comment */
    PLUA_SCAN_COMMENT_BRACKET,
    PLUA_SCAN_LINE_COMMENT,
    PLUA_SCAN_LONG, /* in a long string or comment */
    PLUA_SCAN_LONG_END, /* after ] and any number of =, which may close the long string or comment */
} plua_scan_state;

/* The kind of the last token, as far as the scanner distinguishes it. */
typedef enum {
    PLUA_TOKEN_OTHER,
    PLUA_TOKEN_DOT,
    PLUA_TOKEN_CALLABLE, /* a name or a closing bracket: a parenthesis after it begins a call */
} plua_token;

typedef struct {
    plua_scan_state state;
    plua_token last;
    int line;
    char quote;
    bool is_hexadecimal, follows_exponent, is_comment; /* the first two describe a number, the third a long bracket */
    size_t level, level_seen; /* the number of equals signs in the long bracket */
    char name[9];
    size_t name_length;
    int depth;
    int steps[PLUA_BRACKET_LIMIT + 1]; /* of the expression at each depth */
    bool is_call[PLUA_BRACKET_LIMIT + 1];
    bool is_refused;
} plua_scanner;

void plua_scan_begin(plua_scanner *scanner);

/* Scans more text. Returns false if the text is rejected; `line` is then the line of the problem. */
bool plua_scan(plua_scanner *scanner, const char *text, size_t length);

/* Returns the cost of compiling the next 256 bytes. It grows with the offset, because a long chain of operands takes quadratic time. */
static inline int64_t plua_cost_of_piece(size_t offset) { return 256 + (int64_t)(offset / 64); }

#endif
