/*
** A matcher for Lua patterns that counts its work. It processes the pattern item by item and tries alternatives recursively, as required by
** the semantics of Lua patterns. The depth of recursion is limited to 200.
*/
#include <ctype.h>
#include <string.h>

#include "CPeriluneShim/Limited/pattern.h"

enum { depth_limit = 200 };

/* MARK: - Single characters */

/* Returns whether the byte belongs to the class %letter. A character that is not a class represents itself. */
static bool belongs_to_class(int byte, int letter) {
    bool belongs;
    switch (letter | 0x20) {
        case 'a': belongs = isalpha(byte); break;
        case 'c': belongs = iscntrl(byte); break;
        case 'd': belongs = isdigit(byte); break;
        case 'g': belongs = isgraph(byte); break;
        case 'l': belongs = islower(byte); break;
        case 'p': belongs = ispunct(byte); break;
        case 's': belongs = isspace(byte); break;
        case 'u': belongs = isupper(byte); break;
        case 'w': belongs = isalnum(byte); break;
        case 'x': belongs = isxdigit(byte); break;
        case 'z': belongs = byte == 0; break; /* from Lua 5.1 */
        default: return byte == letter;
    }
    return belongs == (letter >= 'a');
}

/* Returns whether the byte belongs to a set. `set` points to its '[', `last` to the closing ']'. */
static bool belongs_to_set(plua_matcher *matcher, int byte, const char *set, const char *last) {
    const char *p = set + 1;
    bool is_complement = *p == '^';
    if (is_complement) p++;
    bool belongs = false;
    for (; p < last && !belongs; p++) {
        if (*p == '%') {
            p++;
            belongs = belongs_to_class(byte, (unsigned char)*p);
        } else if (p[1] == '-' && p + 2 < last) {
            belongs = (unsigned char)p[0] <= byte && byte <= (unsigned char)p[2];
            p += 2;
        } else {
            belongs = (unsigned char)*p == byte;
        }
    }
    plua_note(&matcher->meter, (size_t)(p - set) / 4);
    return belongs != is_complement;
}

/* Returns whether the character at `s` of the subject matches the pattern item. */
static inline bool matches_item(plua_matcher *matcher, const char *s, const char *item, const char *item_end) {
    if (s >= matcher->subject_end) return false;
    int byte = (unsigned char)*s;
    switch (*item) {
        case '.': return true;
        case '%': return belongs_to_class(byte, (unsigned char)item[1]);
        case '[': return belongs_to_set(matcher, byte, item, item_end - 1);
        default: return (unsigned char)*item == byte;
    }
}

/* Returns the end of the set; `p` is the position after its '['. */
static const char *find_set_end(plua_matcher *matcher, const char *p) {
    const char *start = p;
    if (*p == '^') p++;
    do { /* a ']' in the first position does not end the set */
        if (p == matcher->pattern_end) luaL_error(matcher->meter.L, "malformed pattern (missing ']')");
        if (*p++ == '%' && p < matcher->pattern_end) p++;
    } while (*p != ']');
    plua_note(&matcher->meter, (size_t)(p - start) / 4);
    return p + 1;
}

/* Returns the end of the single-character item at `p`, without its suffix. */
static const char *find_item_end(plua_matcher *matcher, const char *p) {
    if (*p == '[') return find_set_end(matcher, p + 1);
    if (*p != '%') return p + 1;
    if (p + 1 == matcher->pattern_end) luaL_error(matcher->meter.L, "malformed pattern (ends with '%%')");
    return p + 2;
}

/* MARK: - Repetitions */

static const char *match(plua_matcher *matcher, const char *s, const char *p);

static const char *match_longest(plua_matcher *matcher, const char *s, const char *item, const char *item_end) {
    const char *last = s;
    while (matches_item(matcher, last, item, item_end)) {
        last++;
        plua_count(&matcher->meter, 1);
    }
    for (; last >= s; last--) {
        const char *end = match(matcher, last, item_end + 1);
        if (end) return end;
    }
    return NULL;
}

static const char *match_shortest(plua_matcher *matcher, const char *s, const char *item, const char *item_end) {
    for (;; s++) {
        const char *end = match(matcher, s, item_end + 1);
        if (end || !matches_item(matcher, s, item, item_end)) return end;
    }
}

/* MARK: - Captures */

static const char *begin_capture(plua_matcher *matcher, const char *s, const char *p, ptrdiff_t length) {
    if (matcher->capture_count >= PLUA_CAPTURE_LIMIT) luaL_error(matcher->meter.L, "too many captures");
    matcher->captures[matcher->capture_count++] = (plua_capture){s, length};
    const char *end = match(matcher, s, p);
    if (!end) matcher->capture_count--;
    return end;
}

static const char *finish_capture(plua_matcher *matcher, const char *s, const char *p) {
    int index = matcher->capture_count - 1;
    while (index >= 0 && matcher->captures[index].length != PLUA_CAPTURE_OPEN) index--;
    if (index < 0) luaL_error(matcher->meter.L, "invalid pattern capture");
    matcher->captures[index].length = s - matcher->captures[index].start;
    const char *end = match(matcher, s, p);
    if (!end) matcher->captures[index].length = PLUA_CAPTURE_OPEN;
    return end;
}

/* Matches the text of an earlier capture again: %1 to %9. */
static const char *match_again(plua_matcher *matcher, const char *s, char digit) {
    int index = digit - '1';
    if (index < 0 || index >= matcher->capture_count || matcher->captures[index].length == PLUA_CAPTURE_OPEN) {
        luaL_error(matcher->meter.L, "invalid capture index %%%d", index + 1);
    }
    plua_capture capture = matcher->captures[index];
    if (capture.length < 0 || matcher->subject_end - s < capture.length) return NULL;
    plua_note(&matcher->meter, plua_cost_of_bytes((size_t)capture.length));
    return memcmp(capture.start, s, (size_t)capture.length) == 0 ? s + capture.length : NULL;
}

/* MARK: - Other items */

/* Matches %bxy. `p` points to x. */
static const char *match_balanced(plua_matcher *matcher, const char *s, const char *p) {
    if (matcher->pattern_end - p < 2) luaL_error(matcher->meter.L, "malformed pattern (missing arguments to '%%b')");
    if (*s != *p) return NULL;
    const char *start = s;
    int64_t open = 1;
    for (s++; s < matcher->subject_end && open > 0; s++) {
        if (*s == p[1]) {
            open--;
        } else if (*s == *p) {
            open++;
        }
    }
    plua_note(&matcher->meter, (size_t)(s - start));
    return open == 0 ? s : NULL;
}

/* Returns whether the frontier %f[set] matches. `set` points to its '['. */
static bool is_frontier(plua_matcher *matcher, const char *s, const char *set, const char *set_end) {
    int before = s == matcher->subject ? 0 : (unsigned char)s[-1];
    return !belongs_to_set(matcher, before, set, set_end - 1) &&
           belongs_to_set(matcher, (unsigned char)*s, set, set_end - 1);
}

/* The positions in the subject and in the pattern after an item. */
typedef struct {
    const char *s; /* NULL if the item does not match */
    const char *p; /* NULL if the rest of the pattern has been matched, up to `s` */
} position;

/* Matches a single-character item with its suffix. */
static position match_single(plua_matcher *matcher, const char *s, const char *p) {
    const char *item_end = find_item_end(matcher, p);
    char suffix = *item_end; /* the terminating NUL of the pattern is not a suffix */
    bool may_be_absent = suffix == '*' || suffix == '-' || suffix == '?';
    if (!matches_item(matcher, s, p, item_end)) {
        return may_be_absent ? (position){s, item_end + 1} : (position){NULL, NULL};
    }
    switch (suffix) {
        case '*': return (position){match_longest(matcher, s, p, item_end), NULL};
        case '+': return (position){match_longest(matcher, s + 1, p, item_end), NULL};
        case '-': return (position){match_shortest(matcher, s, p, item_end), NULL};
        case '?': {
            const char *end = match(matcher, s + 1, item_end + 1);
            return end ? (position){end, NULL} : (position){s, item_end + 1};
        }
        default: return (position){s + 1, item_end};
    }
}

/* Matches an item that starts with %. */
static position match_escape(plua_matcher *matcher, const char *s, const char *p) {
    switch (p[1]) {
        case 'b': {
            const char *end = match_balanced(matcher, s, p + 2);
            return (position){end, end ? p + 4 : NULL};
        }
        case 'f': {
            if (p[2] != '[') luaL_error(matcher->meter.L, "missing '[' after '%%f' in pattern");
            const char *set_end = find_set_end(matcher, p + 3);
            return is_frontier(matcher, s, p + 2, set_end) ? (position){s, set_end} : (position){NULL, NULL};
        }
        case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': {
            const char *end = match_again(matcher, s, p[1]);
            return (position){end, end ? p + 2 : NULL};
        }
        default: return match_single(matcher, s, p);
    }
}

static position match_item(plua_matcher *matcher, const char *s, const char *p) {
    switch (*p) {
        case '(':
            if (p[1] == ')') return (position){begin_capture(matcher, s, p + 2, PLUA_CAPTURE_POSITION), NULL};
            return (position){begin_capture(matcher, s, p + 1, PLUA_CAPTURE_OPEN), NULL};
        case ')': return (position){finish_capture(matcher, s, p + 1), NULL};
        case '%': return match_escape(matcher, s, p);
        case '$':
            if (p + 1 == matcher->pattern_end) return (position){s == matcher->subject_end ? s : NULL, NULL};
            return match_single(matcher, s, p);
        default: return match_single(matcher, s, p);
    }
}

/* Matches the pattern from `p` on. Returns the end of the match, or NULL. */
static const char *match(plua_matcher *matcher, const char *s, const char *p) {
    if (matcher->depth-- == 0) luaL_error(matcher->meter.L, "pattern too complex");
    plua_count(&matcher->meter, 1); /* even an empty pattern has a cost */
    while (s && p && p != matcher->pattern_end) {
        plua_count(&matcher->meter, 1);
        position next = match_item(matcher, s, p);
        s = next.s;
        p = next.p;
    }
    matcher->depth++;
    return s;
}

/* MARK: - Interface */

void plua_prepare_matcher(plua_matcher *matcher, lua_State *L, const char *subject, size_t subject_length,
                              const char *pattern, size_t pattern_length) {
    matcher->meter = plua_meter_for(L);
    matcher->subject = subject;
    matcher->subject_end = subject + subject_length;
    matcher->is_anchored = *pattern == '^';
    matcher->pattern = pattern + matcher->is_anchored;
    matcher->pattern_end = pattern + pattern_length;
    matcher->has_looked_for_first_item = false;
}

void plua_ignore_anchor(plua_matcher *matcher) {
    matcher->pattern -= matcher->is_anchored;
    matcher->is_anchored = false;
}

const char *plua_match_at(plua_matcher *matcher, const char *at) {
    matcher->capture_count = 0;
    matcher->depth = depth_limit;
    return match(matcher, at, matcher->pattern);
}

/* Finds the single-character item with which every match begins, if there is one, so that other positions can be skipped. For a malformed
** item, raises the same error as matching. */
static void find_first_item(plua_matcher *matcher) {
    const char *p = matcher->pattern;
    matcher->first_item = NULL;
    matcher->has_looked_for_first_item = true;
    while (*p == '(' && p[1] != ')' && p - matcher->pattern < 4) p++;
    if (p == matcher->pattern_end || strchr("()$", *p)) return;
    if (*p == '%' && (p[1] == 'b' || p[1] == 'f' || isdigit((unsigned char)p[1]))) return;
    const char *end = find_item_end(matcher, p);
    if (*end == '*' || *end == '-' || *end == '?') return;
    matcher->first_item = p;
    matcher->first_item_end = end;
}

/* Returns the first position at or after `from` that matches the first item, or NULL. */
static const char *find_first_character(plua_matcher *matcher, const char *from) {
    const char *item = matcher->first_item, *item_end = matcher->first_item_end, *start = from;
    if (!strchr(".%[", *item)) {
        from = memchr(from, *item, (size_t)(matcher->subject_end - from));
        const char *reached = from ? from : matcher->subject_end;
        plua_count(&matcher->meter, 1 + plua_cost_of_bytes((size_t)(reached - start)));
        return from;
    }
    while (!matches_item(matcher, from, item, item_end)) {
        if (from++ >= matcher->subject_end) return NULL;
        plua_count(&matcher->meter, 1);
    }
    return from;
}

const char *plua_search(plua_matcher *matcher, const char *from, const char **end) {
    if (from > matcher->subject_end) return NULL;
    if (matcher->is_anchored) return (*end = plua_match_at(matcher, from)) ? from : NULL;
    if (!matcher->has_looked_for_first_item) find_first_item(matcher);
    for (; from <= matcher->subject_end; from++) {
        if (matcher->first_item && !(from = find_first_character(matcher, from))) return NULL;
        *end = plua_match_at(matcher, from);
        if (*end) return from;
    }
    return NULL;
}

ptrdiff_t plua_get_capture(plua_matcher *matcher, int index, const char *start, const char *end,
                               const char **text) {
    lua_State *L = matcher->meter.L;
    if (index >= matcher->capture_count) {
        if (index != 0) luaL_error(L, "invalid capture index %%%d", index + 1);
        *text = start;
        return end - start;
    }
    plua_capture capture = matcher->captures[index];
    if (capture.length == PLUA_CAPTURE_OPEN) luaL_error(L, "unfinished capture");
    if (capture.length == PLUA_CAPTURE_POSITION) lua_pushinteger(L, capture.start - matcher->subject + 1);
    *text = capture.start;
    return capture.length;
}

void plua_push_capture(plua_matcher *matcher, int index, const char *start, const char *end) {
    const char *text;
    ptrdiff_t length = plua_get_capture(matcher, index, start, end, &text);
    if (length == PLUA_CAPTURE_POSITION) return;
    plua_note(&matcher->meter, plua_cost_of_bytes((size_t)length));
    lua_pushlstring(matcher->meter.L, text, (size_t)length);
}

int plua_push_captures(plua_matcher *matcher, const char *start, const char *end) {
    int count = matcher->capture_count == 0 && start ? 1 : matcher->capture_count;
    luaL_checkstack(matcher->meter.L, count, "too many captures");
    for (int i = 0; i < count; i++) plua_push_capture(matcher, i, start, end);
    return count;
}

bool plua_is_plain(const char *pattern, size_t length) {
    for (size_t i = 0; i < length; i++) {
        switch (pattern[i]) {
            case '^': case '$': case '*': case '+': case '?': case '.': case '(': case '[': case '%': case '-': return false;
            default: break;
        }
    }
    return true;
}
