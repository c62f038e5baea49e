/* Lua's patterns (manual, §6.4.1), matched with the work counted: a few bytes of pattern can keep a matcher busy for hours. */
#ifndef PERILUNE_PATTERN_H
#define PERILUNE_PATTERN_H

#include "CPeriluneShim/Limited/limited.h"

typedef struct {
    const char *start;
    ptrdiff_t length; /* or one of the two below */
} plua_capture;

enum { PLUA_CAPTURE_OPEN = -1, PLUA_CAPTURE_POSITION = -2 };

/* As many as Lua's own library allows. */
enum { PLUA_CAPTURE_LIMIT = 32 };

typedef struct {
    plua_meter meter;
    const char *subject, *subject_end;
    const char *pattern, *pattern_end; /* without the anchor */
    bool is_anchored;
    bool has_looked_for_first_item;
    const char *first_item, *first_item_end; /* what every match begins with; NULL if that is not one character */
    int depth; /* recursions left */
    int capture_count;
    plua_capture captures[PLUA_CAPTURE_LIMIT];
} plua_matcher;

/* Prepares matching the pattern against the subject; both end with a NUL, as Lua's strings do. [-0, +0, -] */
void plua_prepare_matcher(plua_matcher *matcher, lua_State *L, const char *subject, size_t subject_length,
                              const char *pattern, size_t pattern_length);

/* As it reads in string.gmatch, where ^ has no special meaning. */
void plua_ignore_anchor(plua_matcher *matcher);

/* Matches exactly at `at`: returns where the match ends, or NULL. May raise. */
const char *plua_match_at(plua_matcher *matcher, const char *at);

/* Finds the first match that begins at `from` or later: sets `end` and returns its beginning, or NULL. May raise. */
const char *plua_search(plua_matcher *matcher, const char *from, const char **end);

/* The place of a capture (the whole match for 0 if there is none). A position is pushed, and PLUA_CAPTURE_POSITION
** returned for the length. May raise. [-0, +(0 | 1), v] */
ptrdiff_t plua_get_capture(plua_matcher *matcher, int index, const char *start, const char *end,
                               const char **text);

/* Pushes all captures, or the whole match if there are none and `start` is not NULL. Returns how many. */
int plua_push_captures(plua_matcher *matcher, const char *start, const char *end);

/* Pushes one capture. [-0, +1, v] */
void plua_push_capture(plua_matcher *matcher, int index, const char *start, const char *end);

/* Whether the pattern stands for itself only. */
bool plua_is_plain(const char *pattern, size_t length);

#endif
