/* Scans source text before compilation. The scanner must see the same tokens as Lua's lexer; for text that Lua rejects, its result does not
** matter. */
#include <string.h>

#include "CPeriluneShim/Text/source_scanner.h"

/* These functions do not depend on the locale, unlike those in <ctype.h>. */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
    /* Lua may be compiled to accept non-ASCII characters as letters. */
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}
static bool is_hexadecimal_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* MARK: - Tokens */

static void begin_expression(plua_scanner *scanner) {
    scanner->steps[scanner->depth] = 0;
    scanner->last = PLUA_TOKEN_OTHER;
}

static void add_steps(plua_scanner *scanner, int count) {
    scanner->steps[scanner->depth] += count;
    if (scanner->steps[scanner->depth] > PLUA_STEP_LIMIT) scanner->is_refused = true;
}

static void open_bracket(plua_scanner *scanner, bool is_call) {
    if (scanner->depth == PLUA_BRACKET_LIMIT) {
        scanner->is_refused = true;
        return;
    }
    scanner->depth++;
    scanner->is_call[scanner->depth] = is_call;
    begin_expression(scanner);
}

/* Ends a bracket. The indexing steps inside it count toward the expression that continues after it. A call is an exception: Lua has no name
** for its result, so the count starts again at 0. */
static void close_bracket(plua_scanner *scanner) {
    if (scanner->depth == 0) return;
    int inside = scanner->is_call[scanner->depth] ? 0 : scanner->steps[scanner->depth];
    bool was_call = scanner->is_call[scanner->depth];
    scanner->depth--;
    if (was_call) begin_expression(scanner);
    add_steps(scanner, inside);
    scanner->last = PLUA_TOKEN_CALLABLE;
}

static bool is_keyword(const char *name) {
    static const char *const keywords[] = {
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "then", "true", "until", "while",
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (strcmp(name, keywords[i]) == 0) return true;
    }
    return false;
}

static void finish_name(plua_scanner *scanner) {
    if (scanner->last != PLUA_TOKEN_DOT) begin_expression(scanner);
    scanner->last = is_keyword(scanner->name) ? PLUA_TOKEN_OTHER : PLUA_TOKEN_CALLABLE;
}

static void finish_dot(plua_scanner *scanner) {
    add_steps(scanner, 1);
    scanner->last = PLUA_TOKEN_DOT;
}

static void finish_index_bracket(plua_scanner *scanner) {
    add_steps(scanner, 1);
    open_bracket(scanner, false);
}

/* MARK: - Characters */

/* Stores as many characters of a name as are needed to recognize a keyword. */
static void add_to_name(plua_scanner *scanner, char c) {
    if (scanner->name_length == sizeof scanner->name - 1) {
        scanner->name[0] = '_'; /* the name is too long for a keyword */
        return;
    }
    scanner->name[scanner->name_length++] = c;
    scanner->name[scanner->name_length] = '\0';
}

static plua_scan_state begin_name(plua_scanner *scanner, char c) {
    scanner->name_length = 0;
    add_to_name(scanner, c);
    return PLUA_SCAN_NAME;
}

static plua_scan_state begin_number(plua_scanner *scanner, char c) {
    begin_expression(scanner);
    scanner->is_hexadecimal = false;
    scanner->follows_exponent = false;
    scanner->name[0] = c; /* the first digit, because 0 may begin a hexadecimal number */
    scanner->name_length = 1;
    return PLUA_SCAN_NUMBER;
}

static plua_scan_state begin_string(plua_scanner *scanner, char c) {
    begin_expression(scanner);
    scanner->quote = c;
    return PLUA_SCAN_STRING;
}

/* Handles the first character of a token, or white space between tokens. */
static plua_scan_state begin_token(plua_scanner *scanner, char c) {
    if (is_letter(c)) return begin_name(scanner, c);
    if (is_digit(c)) return begin_number(scanner, c);
    switch (c) {
        case ' ': case '\t': case '\n': case '\r': case '\v': case '\f': return PLUA_SCAN_BETWEEN;
        case '.': return PLUA_SCAN_DOT;
        case '-': return PLUA_SCAN_DASH;
        case '[':
            scanner->level = 0;
            return PLUA_SCAN_BRACKET;
        case '"': case '\'': return begin_string(scanner, c);
        case '(': open_bracket(scanner, scanner->last == PLUA_TOKEN_CALLABLE); return PLUA_SCAN_BETWEEN;
        case '{': open_bracket(scanner, true); return PLUA_SCAN_BETWEEN;
        case ')': case ']': close_bracket(scanner); return PLUA_SCAN_BETWEEN;
        case '}': /* a table or a call: a parenthesis after it may begin the next statement */
            close_bracket(scanner);
            scanner->last = PLUA_TOKEN_OTHER;
            return PLUA_SCAN_BETWEEN;
        default: begin_expression(scanner); return PLUA_SCAN_BETWEEN;
    }
}

/* Returns whether the character belongs to the current number. */
static bool continues_number(plua_scanner *scanner, char c) {
    bool is_second = scanner->name_length == 1;
    char lower = (char)(c | 0x20);
    bool may_be_sign = scanner->follows_exponent;
    scanner->name_length = 2;
    scanner->follows_exponent = false;
    if (is_second && scanner->name[0] == '0' && lower == 'x') return scanner->is_hexadecimal = true;
    if (lower == (scanner->is_hexadecimal ? 'p' : 'e')) return scanner->follows_exponent = true;
    if (may_be_sign && (c == '+' || c == '-')) return true;
    return is_hexadecimal_digit(c) || c == '.';
}

/* Handles a character after [ or --[ and any number of equals signs. */
static plua_scan_state continue_bracket(plua_scanner *scanner, char c, bool is_comment) {
    if (c == '=') {
        scanner->level++;
        return scanner->state;
    }
    if (c == '[') {
        if (!is_comment) begin_expression(scanner);
        scanner->is_comment = is_comment;
        return PLUA_SCAN_LONG;
    }
    if (is_comment) return c == '\n' || c == '\r' ? PLUA_SCAN_BETWEEN : PLUA_SCAN_LINE_COMMENT;
    finish_index_bracket(scanner);
    return begin_token(scanner, c);
}

static plua_scan_state continue_long(plua_scanner *scanner, char c) {
    if (c != ']') return PLUA_SCAN_LONG;
    scanner->level_seen = 0;
    return PLUA_SCAN_LONG_END;
}

static plua_scan_state continue_long_end(plua_scanner *scanner, char c) {
    if (c == '=') {
        scanner->level_seen++;
        return PLUA_SCAN_LONG_END;
    }
    if (c == ']' && scanner->level_seen == scanner->level) return PLUA_SCAN_BETWEEN;
    return continue_long(scanner, c);
}

static plua_scan_state continue_dot(plua_scanner *scanner, char c) {
    if (c == '.') {
        begin_expression(scanner);
        return PLUA_SCAN_DOTS;
    }
    if (is_digit(c)) return begin_number(scanner, c);
    finish_dot(scanner);
    return begin_token(scanner, c);
}

static plua_scan_state continue_dash(plua_scanner *scanner, char c) {
    if (c == '-') return PLUA_SCAN_COMMENT;
    begin_expression(scanner);
    return begin_token(scanner, c);
}

static plua_scan_state continue_comment(plua_scanner *scanner, char c) {
    scanner->level = 0;
    if (c == '[') return PLUA_SCAN_COMMENT_BRACKET;
    return c == '\n' || c == '\r' ? PLUA_SCAN_BETWEEN : PLUA_SCAN_LINE_COMMENT;
}

static plua_scan_state next_state(plua_scanner *scanner, char c) {
    switch (scanner->state) {
        case PLUA_SCAN_BETWEEN: return begin_token(scanner, c);
        case PLUA_SCAN_NAME:
            if (is_letter(c) || is_digit(c)) {
                add_to_name(scanner, c);
                return PLUA_SCAN_NAME;
            }
            finish_name(scanner);
            return begin_token(scanner, c);
        case PLUA_SCAN_NUMBER: return continues_number(scanner, c) ? PLUA_SCAN_NUMBER : begin_token(scanner, c);
        case PLUA_SCAN_STRING:
            if (c == '\\') return PLUA_SCAN_ESCAPE;
            return c == scanner->quote ? PLUA_SCAN_BETWEEN : PLUA_SCAN_STRING;
        case PLUA_SCAN_ESCAPE: return PLUA_SCAN_STRING;
        case PLUA_SCAN_DOT: return continue_dot(scanner, c);
        case PLUA_SCAN_DOTS: return c == '.' ? PLUA_SCAN_BETWEEN : begin_token(scanner, c);
        case PLUA_SCAN_DASH: return continue_dash(scanner, c);
        case PLUA_SCAN_BRACKET: return continue_bracket(scanner, c, false);
        case PLUA_SCAN_COMMENT: return continue_comment(scanner, c);
        case PLUA_SCAN_COMMENT_BRACKET: return continue_bracket(scanner, c, true);
        case PLUA_SCAN_LINE_COMMENT:
            return c == '\n' || c == '\r' ? PLUA_SCAN_BETWEEN : PLUA_SCAN_LINE_COMMENT;
        case PLUA_SCAN_LONG: return continue_long(scanner, c);
        case PLUA_SCAN_LONG_END: return continue_long_end(scanner, c);
    }
    return PLUA_SCAN_BETWEEN;
}

/* MARK: - Interface */

void plua_scan_begin(plua_scanner *scanner) {
    memset(scanner, 0, sizeof *scanner);
    scanner->line = 1;
}

bool plua_scan(plua_scanner *scanner, const char *text, size_t length) {
    for (size_t i = 0; i < length && !scanner->is_refused; i++) {
        scanner->state = next_state(scanner, text[i]);
        if (text[i] == '\n' && !scanner->is_refused) scanner->line++;
    }
    return !scanner->is_refused;
}
