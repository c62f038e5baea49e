/* Lua patterns (manual, §6.4.1) with counted work, because a short pattern can keep a matcher busy for hours. */
#ifndef PERILUNE_PATTERN_H
#define PERILUNE_PATTERN_H

#include "CPeriluneShim/Limited/limited.h"

typedef struct {
    const char *start;
    ptrdiff_t length; /* or one of the two constants below */
} plua_capture;

enum { PLUA_CAPTURE_OPEN = -1, PLUA_CAPTURE_POSITION = -2 };

/* The same limit as in Lua's own library. */
enum { PLUA_CAPTURE_LIMIT = 32 };

typedef struct {
    plua_meter meter;
    const char *subject, *subject_end;
    const char *pattern, *pattern_end; /* without the anchor */
    bool is_anchored;
    bool has_looked_for_first_item;
    const char *first_item, *first_item_end; /* the single-character item with which every match begins, or NULL */
    int depth; /* the number of remaining recursions */
    int capture_count;
    plua_capture captures[PLUA_CAPTURE_LIMIT];
} plua_matcher;

/* Prepares a matcher for a subject and a pattern. Like all Lua strings, both end with a NUL. [-0, +0, -] */
void plua_prepare_matcher(plua_matcher *matcher, lua_State *L, const char *subject, size_t subject_length,
                              const char *pattern, size_t pattern_length);

/* Makes ^ an ordinary character, as string.gmatch requires. */
void plua_ignore_anchor(plua_matcher *matcher);

/* Matches at exactly this position. Returns the end of the match, or NULL. May raise. */
const char *plua_match_at(plua_matcher *matcher, const char *at);

/* Finds the first match that starts at or after `from`. Sets `end` and returns the start, or NULL. May raise. */
const char *plua_search(plua_matcher *matcher, const char *from, const char **end);

/* Sets `text` to a capture and returns its length; without captures, index 0 is the whole match. For a position capture,
** pushes the position and returns PLUA_CAPTURE_POSITION as the length. May raise. [-0, +(0 | 1), v] */
ptrdiff_t plua_get_capture(plua_matcher *matcher, int index, const char *start, const char *end,
                               const char **text);

/* Pushes all captures, or the whole match if there are none and `start` is not NULL. Returns their number. */
int plua_push_captures(plua_matcher *matcher, const char *start, const char *end);

/* Pushes one capture. [-0, +1, v] */
void plua_push_capture(plua_matcher *matcher, int index, const char *start, const char *end);

/* Returns whether the pattern has no special characters. */
bool plua_is_plain(const char *pattern, size_t length);

#endif
