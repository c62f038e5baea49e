/* Replacements for string functions that can take long or allocate much memory in a single call. */
#define _GNU_SOURCE /* memmem */
#include <limits.h>
#include <string.h>

#include "CPeriluneShim/Limited/pattern.h"

/* The maximum length of a string. */
static const size_t longest_string = INT_MAX; /* the same limit as in Lua's own library */

/* Converts a script's position, which counts from the end if it is negative, to a position of at least 1. */
static size_t position_from(lua_Integer position, size_t length) {
    if (position > 0) return (size_t)position;
    if (position == 0 || position < -(lua_Integer)length) return 1;
    return length + (size_t)position + 1;
}

/* MARK: - find, match */

/* Searches a short subject without the setup of memmem. The time is quadratic. */
static const char *find_text_nearby(const char *from, const char *end, const char *text, size_t length) {
    if (length == 0) return from;
    while ((size_t)(end - from) >= length) {
        from = memchr(from, *text, (size_t)(end - from) - length + 1);
        if (!from || memcmp(from, text, length) == 0) return from;
        from++;
    }
    return NULL;
}

/* Searches a subject by memmem, in windows, because even a linear search of a large subject takes time that must be counted. */
static const char *find_text(lua_State *L, const char *from, const char *end, const char *text, size_t length) {
    const size_t small = 1024, window = 1024 * 1024;
    if ((size_t)(end - from) <= small) return find_text_nearby(from, end, text, length);
    while ((size_t)(end - from) >= length) {
        size_t rest = (size_t)(end - from);
        size_t part = rest - length < window ? rest : window + length;
        const char *found = memmem(from, part, text, length);
        plua_count_work(L, (int64_t)plua_cost_of_bytes(part));
        if (found || part == rest) return found;
        from += window;
    }
    return NULL;
}

static int find_plain(lua_State *L, const char *subject, size_t length, size_t from, const char *text, size_t text_length) {
    const char *found = find_text(L, subject + from, subject + length, text, text_length);
    if (!found) {
        luaL_pushfail(L);
        return 1;
    }
    lua_pushinteger(L, found - subject + 1);
    lua_pushinteger(L, found - subject + (lua_Integer)text_length);
    return 2;
}

static int find_pattern(lua_State *L, plua_matcher *matcher, const char *from, bool with_positions) {
    const char *end, *start = plua_search(matcher, from, &end);
    plua_charge_meter(&matcher->meter);
    if (!start) {
        luaL_pushfail(L);
        return 1;
    }
    if (!with_positions) return plua_push_captures(matcher, start, end);
    lua_pushinteger(L, start - matcher->subject + 1);
    lua_pushinteger(L, end - matcher->subject);
    return plua_push_captures(matcher, NULL, NULL) + 2;
}

static int find_or_match(lua_State *L, bool is_find) {
    size_t length, pattern_length;
    const char *subject = luaL_checklstring(L, 1, &length);
    const char *pattern = luaL_checklstring(L, 2, &pattern_length);
    size_t from = position_from(luaL_optinteger(L, 3, 1), length) - 1;
    if (from > length) {
        luaL_pushfail(L);
        return 1;
    }
    if (is_find && (lua_toboolean(L, 4) || plua_is_plain(pattern, pattern_length))) {
        return find_plain(L, subject, length, from, pattern, pattern_length);
    }
    plua_matcher matcher;
    plua_prepare_matcher(&matcher, L, subject, length, pattern, pattern_length);
    return find_pattern(L, &matcher, subject + from, is_find);
}

static int limited_find(lua_State *L) { return find_or_match(L, true); }
static int limited_match(lua_State *L) { return find_or_match(L, false); }

/* MARK: - gmatch */

/* The state of a gmatch iterator. Separate upvalues keep the strings alive. */
typedef struct {
    plua_matcher matcher;
    const char *from;
    const char *last_end; /* where the previous match ended: an empty match here would repeat it */
} iteration;

static int next_match(lua_State *L) {
    iteration *state = lua_touserdata(L, lua_upvalueindex(3));
    const char *end, *start = state->from;
    state->matcher.meter = plua_meter_for(L); /* the iterator may now be called in another coroutine */
    while ((start = plua_search(&state->matcher, start, &end)) != NULL && end == state->last_end) start++;
    plua_charge_meter(&state->matcher.meter);
    if (!start) return 0;
    state->from = state->last_end = end;
    return plua_push_captures(&state->matcher, start, end);
}

static int limited_gmatch(lua_State *L) {
    size_t length, pattern_length;
    const char *subject = luaL_checklstring(L, 1, &length);
    const char *pattern = luaL_checklstring(L, 2, &pattern_length);
    size_t from = position_from(luaL_optinteger(L, 3, 1), length) - 1;
    lua_settop(L, 2);
    iteration *state = lua_newuserdatauv(L, sizeof *state, 0);
    plua_prepare_matcher(&state->matcher, L, subject, length, pattern, pattern_length);
    plua_ignore_anchor(&state->matcher);
    state->from = subject + (from > length ? length + 1 : from);
    state->last_end = NULL;
    lua_pushcclosure(L, next_match, 3);
    return 1;
}

/* MARK: - gsub */

/* The state of a gsub call. The replacement is argument 3. */
typedef struct {
    plua_matcher matcher;
    luaL_Buffer result;
    int replacement_type;
    bool has_changed;
} substitution;

static void append(substitution *call, const char *text, size_t length) {
    plua_count(&call->matcher.meter, plua_cost_of_bytes(length));
    luaL_addlstring(&call->result, text, length);
}

/* Appends the capture for %0 to %9 in a replacement. */
static void append_capture(substitution *call, char digit, const char *start, const char *end) {
    const char *text;
    if (digit == '0') {
        append(call, start, (size_t)(end - start));
        return;
    }
    ptrdiff_t length = plua_get_capture(&call->matcher, digit - '1', start, end, &text);
    if (length == PLUA_CAPTURE_POSITION) {
        luaL_addvalue(&call->result);
    } else {
        append(call, text, (size_t)length);
    }
}

/* Appends the replacement string, in which captures are substituted. */
static void append_expanded(lua_State *L, substitution *call, const char *start, const char *end) {
    size_t length;
    const char *text = lua_tolstring(L, 3, &length);
    const char *text_end = text + length, *escape;
    while ((escape = memchr(text, '%', (size_t)(text_end - text))) != NULL) {
        append(call, text, (size_t)(escape - text));
        char letter = escape[1];
        if (letter == '%') {
            luaL_addchar(&call->result, '%');
        } else if (letter >= '0' && letter <= '9') {
            append_capture(call, letter, start, end);
        } else {
            luaL_error(L, "invalid use of '%c' in replacement string", '%');
        }
        text = escape + 2;
        plua_count(&call->matcher.meter, 1);
    }
    append(call, text, (size_t)(text_end - text));
}

/* Appends the result of the replacement function or table, or the match itself if the result is false or nil. */
static void append_value(lua_State *L, substitution *call, const char *start, const char *end) {
    if (call->replacement_type == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, plua_push_captures(&call->matcher, start, end), 1);
    } else {
        plua_push_capture(&call->matcher, 0, start, end);
        lua_gettable(L, 3);
    }
    if (!lua_toboolean(L, -1)) {
        plua_pop(L, 1);
        append(call, start, (size_t)(end - start));
        return;
    }
    if (!lua_isstring(L, -1)) luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    plua_count(&call->matcher.meter, plua_cost_of_bytes(lua_rawlen(L, -1)));
    luaL_addvalue(&call->result);
    call->has_changed = true;
}

static void append_replacement(lua_State *L, substitution *call, const char *start, const char *end) {
    if (call->replacement_type == LUA_TFUNCTION || call->replacement_type == LUA_TTABLE) {
        append_value(L, call, start, end);
    } else {
        append_expanded(L, call, start, end);
        call->has_changed = true;
    }
}

/* Replaces at most `most` matches and returns their number. Sets `*rest` to the part of the subject after the last match. */
static lua_Integer substitute(lua_State *L, substitution *call, lua_Integer most, const char **rest) {
    plua_matcher *matcher = &call->matcher;
    const char *from = matcher->subject, *last_end = NULL, *end, *start;
    lua_Integer count = 0;
    *rest = from;
    while (count < most && (start = plua_search(matcher, from, &end)) != NULL) {
        from = start + 1;
        if (end != last_end) { /* otherwise it is an empty match directly after the previous one */
            if (start > *rest) append(call, *rest, (size_t)(start - *rest));
            append_replacement(L, call, start, end);
            *rest = from = last_end = end;
            count++;
        }
        if (matcher->is_anchored) break;
    }
    return count;
}

static int limited_gsub(lua_State *L) {
    size_t length, pattern_length;
    substitution call;
    const char *subject = luaL_checklstring(L, 1, &length);
    const char *pattern = luaL_checklstring(L, 2, &pattern_length);
    call.replacement_type = lua_type(L, 3);
    call.has_changed = false;
    lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)length + 1);
    luaL_argexpected(L, lua_isstring(L, 3) || lua_isfunction(L, 3) || lua_istable(L, 3), 3, "string/function/table");
    plua_prepare_matcher(&call.matcher, L, subject, length, pattern, pattern_length);
    luaL_buffinit(L, &call.result);
    const char *rest;
    lua_Integer count = substitute(L, &call, most, &rest);
    if (call.has_changed) {
        append(&call, rest, (size_t)(call.matcher.subject_end - rest));
        luaL_pushresult(&call.result);
    } else {
        lua_pushvalue(L, 1);
    }
    plua_charge_meter(&call.matcher.meter);
    lua_pushinteger(L, count);
    return 2;
}

/* MARK: - rep */

/* Fills a block by repeatedly doubling its first `period` bytes. */
static void fill(char *block, size_t period, size_t size) {
    size_t done = period < size ? period : size;
    while (done < size) {
        size_t part = done < size - done ? done : size - done;
        memcpy(block + done, block, part);
        done += part;
    }
}

static int limited_rep(lua_State *L) {
    size_t length, separator_length;
    const char *text = luaL_checklstring(L, 1, &length);
    lua_Integer count = luaL_checkinteger(L, 2);
    const char *separator = luaL_optlstring(L, 3, "", &separator_length);
    size_t period = length + separator_length;
    if (count <= 0 || period == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (period < length || period > longest_string / (size_t)count) return luaL_error(L, "resulting string too large");
    size_t size = (size_t)count * period - separator_length;
    plua_reserve(L, size);
    luaL_Buffer buffer;
    char *block = luaL_buffinitsize(L, &buffer, size);
    memcpy(block, text, length);
    if (count > 1) {
        memcpy(block + length, separator, separator_length);
        fill(block, period, size);
    }
    luaL_pushresultsize(&buffer, size);
    plua_count_work(L, (int64_t)plua_cost_of_bytes(size));
    return 1;
}

/* MARK: - format */

/* Rejects formats that print addresses, which help exploits and reveal details of the process. */
static void refuse_addresses(lua_State *L, const char *format, size_t length) {
    const char *end = format + length;
    for (const char *p = format; p < end; p++) {
        if (*p != '%') continue;
        p++;
        while (p < end && *p != '\0' && strchr("-+ #0123456789.", *p)) p++;
        if (*p == 'p') plua_raise(L, "limited", "string.format: '%%p' is not allowed here");
    }
}

static int limited_format(lua_State *L) {
    size_t size, length;
    const char *format = luaL_checklstring(L, 1, &size);
    refuse_addresses(L, format, size);
    for (int i = lua_gettop(L); i > 1; i--) {
        size += lua_type(L, i) == LUA_TSTRING ? lua_rawlen(L, i) : 0;
    }
    plua_reserve(L, size);
    int result_count = plua_call_original(L);
    lua_tolstring(L, -1, &length);
    plua_count_work(L, (int64_t)plua_cost_of_bytes(length) + 1);
    return result_count;
}

/* MARK: - Installing */

void plua_limit_string(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"find", limited_find},
        {"gmatch", limited_gmatch},
        {"gsub", limited_gsub},
        {"match", limited_match},
        {"rep", limited_rep},
        {NULL, NULL},
    };
    static const char *const linear[] = {"byte", "lower", "pack", "reverse", "sub", "unpack", "upper", NULL};
    plua_replace_functions(L, functions);
    plua_wrap_functions(L, (const char *const[]){"format", NULL}, limited_format);
    plua_wrap_functions(L, linear, plua_count_work_of_results);
}
