/*
** Cancellable versions of slow SQL functions. SQLite checks its progress handler only between instructions, and a function call is one
** instruction. Searching a long text for another long text takes quadratic time and ran for minutes despite a time limit. These functions
** return the same results as SQLite 3.40. Their price: LIKE and GLOB use no index, because SQLite uses one only for its own functions.
*/
#include <stdint.h>
#include <string.h>

#include <perilune_long_functions.h>

#include "CPeriluneSQLite/Process/work.h"

static psql_work begin_work(sqlite3_context *context) { return psql_begin_work((psql_is_cancelled *)sqlite3_user_data(context)); }

static void fail(sqlite3_context *context) { sqlite3_result_error_code(context, SQLITE_INTERRUPT); }

typedef struct {
    const unsigned char *bytes;
    size_t length;
} text;

static text text_of(sqlite3_value *value) {
    const unsigned char *bytes = sqlite3_value_text(value);
    return (text){bytes, bytes ? (size_t)sqlite3_value_bytes(value) : 0};
}

static bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/* MARK: - instr */

/* Returns the position of a text or blob in another one, in characters or bytes from 1, or 0 if it does not occur. */
static sqlite3_int64 find(psql_work *work, text in, text needle, bool is_text) {
    sqlite3_int64 place = 1;
    const unsigned char *at = in.bytes, *end = in.bytes + in.length;
    while ((size_t)(end - at) >= needle.length) {
        bool is_candidate = *at == *needle.bytes;
        if (!psql_spend(work, is_candidate ? needle.length : 1)) return 0;
        if (is_candidate && memcmp(at, needle.bytes, needle.length) == 0) return place;
        place++;
        do at++;
        while (is_text && at < end && is_continuation(*at));
    }
    return 0;
}

static void instr(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    int kind = sqlite3_value_type(values[0]), needle_kind = sqlite3_value_type(values[1]);
    if (kind == SQLITE_NULL || needle_kind == SQLITE_NULL) return;
    if (sqlite3_value_bytes(values[1]) == 0) {
        sqlite3_result_int(context, 1);
        return;
    }
    bool is_text = kind != SQLITE_BLOB || needle_kind != SQLITE_BLOB;
    sqlite3_value *copies[2] = {values[0], values[1]};
    bool is_mixed = is_text && (kind == SQLITE_BLOB || needle_kind == SQLITE_BLOB);
    for (int i = 0; is_mixed && i < 2; i++) copies[i] = sqlite3_value_dup(values[i]);
    text parts[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        if (copies[i] == NULL) continue;
        if (is_text) parts[i] = text_of(copies[i]);
        else parts[i] = (text){sqlite3_value_blob(copies[i]), (size_t)sqlite3_value_bytes(copies[i])};
    }
    if (copies[0] == NULL || parts[1].bytes == NULL) {
        sqlite3_result_error_nomem(context);
    } else {
        psql_work work = begin_work(context);
        sqlite3_int64 place = parts[0].bytes ? find(&work, parts[0], parts[1], is_text) : 0;
        if (work.has_ended) fail(context);
        else sqlite3_result_int64(context, place);
    }
    for (int i = 0; is_mixed && i < 2; i++) sqlite3_value_free(copies[i]);
}

/* MARK: - replace */

/* Appends `in` with all occurrences of `pattern` replaced. Returns false on failure or cancellation. */
static bool append_replaced(psql_buffer *buffer, psql_work *work, text in, text pattern, text by) {
    const unsigned char *at = in.bytes, *kept = at, *end = at + in.length;
    while ((size_t)(end - at) >= pattern.length) {
        bool is_candidate = *at == *pattern.bytes;
        if (!psql_spend(work, is_candidate ? pattern.length : 1)) return false;
        if (!is_candidate || memcmp(at, pattern.bytes, pattern.length) != 0) {
            at++;
            continue;
        }
        if (!psql_append(buffer, kept, (size_t)(at - kept)) || !psql_append(buffer, by.bytes, by.length)) return false;
        at += pattern.length;
        kept = at;
    }
    return psql_append(buffer, kept, (size_t)(end - kept));
}

static void replace(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    text in = text_of(values[0]), pattern = text_of(values[1]);
    if (in.bytes == NULL || pattern.bytes == NULL) return;
    if (*pattern.bytes == 0) {
        sqlite3_result_value(context, values[0]);
        return;
    }
    text by = text_of(values[2]);
    if (by.bytes == NULL) return;
    psql_work work = begin_work(context);
    psql_buffer out = {.most = psql_longest_value(context)};
    if (append_replaced(&out, &work, in, pattern, by)) {
        sqlite3_result_text64(context, out.bytes ? out.bytes : "", out.length, out.bytes ? sqlite3_free : SQLITE_STATIC, SQLITE_UTF8);
        return;
    }
    sqlite3_free(out.bytes);
    if (out.failure == SQLITE_TOOBIG) sqlite3_result_error_toobig(context);
    else if (out.failure == SQLITE_NOMEM) sqlite3_result_error_nomem(context);
    else fail(context);
}

/* MARK: - trim */

/* Returns the length of the first character of a text. */
static size_t character_length(text in) {
    size_t length = 1;
    if (in.bytes[0] >= 0xC0) {
        while (length < in.length && is_continuation(in.bytes[length])) length++;
    }
    return length;
}

/* Returns the length of the character from `set` at the start or end of the text, or 0 if there is a different character. */
static size_t trimmed_length(psql_work *work, text in, text set, bool at_end) {
    while (set.length > 0) {
        size_t length = character_length(set);
        if (!psql_spend(work, length)) return 0;
        if (length <= in.length && memcmp(at_end ? in.bytes + in.length - length : in.bytes, set.bytes, length) == 0) return length;
        set.bytes += length;
        set.length -= length;
    }
    return 0;
}

static void trim_sides(sqlite3_context *context, int count, sqlite3_value **values, bool left, bool right) {
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    text in = text_of(values[0]), set = {(const unsigned char *)" ", 1};
    if (in.bytes == NULL) return;
    if (count > 1) {
        set = text_of(values[1]);
        if (set.bytes == NULL) return;
        set.length = strlen((const char *)set.bytes);
    }
    psql_work work = begin_work(context);
    for (size_t length; left && in.length > 0 && (length = trimmed_length(&work, in, set, false)) > 0;) {
        in.bytes += length;
        in.length -= length;
    }
    for (size_t length; right && in.length > 0 && (length = trimmed_length(&work, in, set, true)) > 0;) in.length -= length;
    if (work.has_ended) fail(context);
    else sqlite3_result_text64(context, (const char *)in.bytes, in.length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void trim(sqlite3_context *context, int count, sqlite3_value **values) { trim_sides(context, count, values, true, true); }
static void ltrim(sqlite3_context *context, int count, sqlite3_value **values) { trim_sides(context, count, values, true, false); }
static void rtrim(sqlite3_context *context, int count, sqlite3_value **values) { trim_sides(context, count, values, false, true); }

/* MARK: - LIKE and GLOB */

typedef struct {
    uint32_t any;    /* the wildcard that matches any text, or 0 */
    uint32_t one;    /* matches one character */
    uint32_t escape; /* LIKE: makes the next character literal; GLOB: begins a set of characters; 0: none */
    bool has_sets, ignores_case;
} wildcards;

typedef enum {
    MATCH,
    NO_MATCH,
    NO_LATER_MATCH, /* no match, however much text the preceding wildcard matches */
} outcome;

/* Reads the character at `*at` and advances it. Invalid UTF-8 is read as SQLite does. */
static uint32_t read_character(const unsigned char **at) {
    uint32_t character = *(*at)++;
    if (character < 0xC0) return character;
    character = character < 0xE0 ? character & 0x1F : character < 0xF0 ? character & 0x0F : character < 0xF8 ? character & 0x07
              : character < 0xFC ? character & 0x03 : character < 0xFE ? character & 0x01 : 0;
    while (is_continuation(**at)) character = (character << 6) + (0x3F & *(*at)++);
    bool is_wrong = character < 0x80 || (character & 0xFFFFF800) == 0xD800 || (character & 0xFFFFFFFE) == 0xFFFE;
    return is_wrong ? 0xFFFD : character;
}

static uint32_t lower(uint32_t character) { return character >= 'A' && character <= 'Z' ? character + 32 : character; }

static bool is_equal(const wildcards *wildcards, uint32_t a, uint32_t b) {
    return a == b || (wildcards->ignores_case && a < 0x80 && b < 0x80 && lower(a) == lower(b));
}

/* Matches one character against the set at `*pattern`, after its bracket. */
static bool is_in_set(const unsigned char **pattern, uint32_t character) {
    uint32_t prior = 0, member = read_character(pattern);
    bool is_found = false, is_inverted = member == '^';
    if (is_inverted) member = read_character(pattern);
    if (member == ']') {
        is_found = character == ']';
        member = read_character(pattern);
    }
    while (member != 0 && member != ']') {
        if (member == '-' && **pattern != ']' && **pattern != 0 && prior > 0) {
            member = read_character(pattern);
            if (character >= prior && character <= member) is_found = true;
            prior = 0;
        } else {
            if (character == member) is_found = true;
            prior = member;
        }
        member = read_character(pattern);
    }
    return member != 0 && is_found != is_inverted;
}

static outcome match(psql_work *work, const unsigned char *pattern, const unsigned char *in, const wildcards *wildcards);

/* Matches the remaining pattern after a wildcard for any text. */
static outcome match_any(psql_work *work, const unsigned char *pattern, const unsigned char *in, const wildcards *wildcards) {
    uint32_t wanted;
    while ((wanted = read_character(&pattern)) == wildcards->any || (wanted == wildcards->one && wanted != 0)) {
        if (wanted == wildcards->one && read_character(&in) == 0) return NO_LATER_MATCH;
    }
    if (wanted == 0) return MATCH;
    bool is_set = wanted == wildcards->escape && wildcards->has_sets;
    if (wanted == wildcards->escape && !is_set) {
        wanted = read_character(&pattern);
        if (wanted == 0) return NO_LATER_MATCH;
    }
    if (is_set) pattern--; /* back to the bracket, which is one byte */
    while (*in) {
        if (!psql_spend(work, 1)) return NO_LATER_MATCH;
        const unsigned char *start = in;
        uint32_t character = read_character(&in);
        if (!is_set && !is_equal(wildcards, wanted, character)) continue;
        outcome rest = match(work, pattern, is_set ? start : in, wildcards);
        if (rest != NO_MATCH) return rest;
    }
    return NO_LATER_MATCH;
}

static outcome match(psql_work *work, const unsigned char *pattern, const unsigned char *in, const wildcards *wildcards) {
    const unsigned char *escaped = NULL;
    uint32_t wanted;
    while ((wanted = read_character(&pattern)) != 0) {
        if (!psql_spend(work, 1)) return NO_LATER_MATCH;
        if (wanted == wildcards->any) return match_any(work, pattern, in, wildcards);
        if (wanted == wildcards->escape && wanted != 0) {
            if (wildcards->has_sets) {
                uint32_t character = read_character(&in);
                if (character == 0 || !is_in_set(&pattern, character)) return NO_MATCH;
                continue;
            }
            wanted = read_character(&pattern);
            if (wanted == 0) return NO_MATCH;
            escaped = pattern;
        }
        uint32_t character = read_character(&in);
        if (is_equal(wildcards, wanted, character)) continue;
        if (wanted == wildcards->one && pattern != escaped && character != 0) continue;
        return NO_MATCH;
    }
    return *in == 0 ? MATCH : NO_MATCH;
}

static void compare(sqlite3_context *context, int count, sqlite3_value **values, wildcards wildcards) {
    static int ignores_blobs = -1;
    if (ignores_blobs < 0) ignores_blobs = sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS");
    if (ignores_blobs && (sqlite3_value_type(values[0]) == SQLITE_BLOB || sqlite3_value_type(values[1]) == SQLITE_BLOB)) {
        sqlite3_result_int(context, 0);
        return;
    }
    int most = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
    if (sqlite3_value_bytes(values[0]) > most) {
        sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
        return;
    }
    if (count == 3) {
        text escape = text_of(values[2]);
        if (escape.bytes == NULL) return;
        const unsigned char *at = escape.bytes;
        if (*at == 0 || character_length(escape) != strlen((const char *)escape.bytes)) {
            sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
            return;
        }
        wildcards.escape = read_character(&at);
        if (wildcards.escape == wildcards.any) wildcards.any = 0;
        if (wildcards.escape == wildcards.one) wildcards.one = 0;
    }
    const unsigned char *pattern = sqlite3_value_text(values[0]), *in = sqlite3_value_text(values[1]);
    if (pattern == NULL || in == NULL) return;
    psql_work work = begin_work(context);
    outcome result = match(&work, pattern, in, &wildcards);
    if (work.has_ended) fail(context);
    else sqlite3_result_int(context, result == MATCH);
}

static void like(sqlite3_context *context, int count, sqlite3_value **values) {
    compare(context, count, values, (wildcards){.any = '%', .one = '_', .ignores_case = true});
}

/* The LIKE function that PRAGMA case_sensitive_like selects. */
static void like_with_case(sqlite3_context *context, int count, sqlite3_value **values) {
    compare(context, count, values, (wildcards){.any = '%', .one = '_'});
}

static void glob(sqlite3_context *context, int count, sqlite3_value **values) {
    compare(context, count, values, (wildcards){.any = '*', .one = '?', .escape = '[', .has_sets = true});
}

/* MARK: - json_patch */

/* json_patch takes quadratic time, because SQLite searches one object for each member of the other. */
static const double longest_patch = 3e9; /* the product of both lengths in bytes; patching takes some tenths of a second */

/* A connection that still has SQLite's own json_patch. */
typedef struct {
    sqlite3 *handle;
    sqlite3_stmt *statement;
} patcher;

static void close_patcher(void *object) {
    patcher *patcher = object;
    sqlite3_finalize(patcher->statement);
    sqlite3_close(patcher->handle);
    sqlite3_free(patcher);
}

static int open_patcher(patcher *patcher) {
    if (patcher->statement) return SQLITE_OK;
    sqlite3_close(patcher->handle);
    int code = sqlite3_open_v2(":memory:", &patcher->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);
    if (code != SQLITE_OK) return code;
    return sqlite3_prepare_v2(patcher->handle, "SELECT json_patch(?1, ?2)", -1, &patcher->statement, NULL);
}

static void json_patch(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    patcher *patcher = sqlite3_user_data(context);
    if ((double)sqlite3_value_bytes(values[0]) * sqlite3_value_bytes(values[1]) > longest_patch) {
        sqlite3_result_error(context, "json_patch: the values are too long for a script with limits", -1);
        return;
    }
    int code = open_patcher(patcher);
    for (int i = 0; code == SQLITE_OK && i < 2; i++) code = sqlite3_bind_value(patcher->statement, i + 1, values[i]);
    if (code == SQLITE_OK) code = sqlite3_step(patcher->statement);
    if (code == SQLITE_ROW) {
        sqlite3_result_value(context, sqlite3_column_value(patcher->statement, 0));
        sqlite3_result_subtype(context, 'J');
    } else {
        sqlite3_result_error(context, sqlite3_errmsg(patcher->handle), -1);
        if (code != SQLITE_ERROR) sqlite3_result_error_code(context, code);
    }
    sqlite3_reset(patcher->statement);
    sqlite3_clear_bindings(patcher->statement);
}

static int bound_json_patch(sqlite3 *handle, int flags) {
    patcher *patcher = sqlite3_malloc(sizeof *patcher);
    if (patcher == NULL) return SQLITE_NOMEM;
    memset(patcher, 0, sizeof *patcher);
    return sqlite3_create_function_v2(handle, "json_patch", 2, flags, patcher, json_patch, NULL, NULL, close_patcher);
}

/* MARK: - Installing */

/* Returns whether LIKE is case-sensitive. SQLite has no other way to read PRAGMA case_sensitive_like. */
static bool is_like_case_sensitive(sqlite3 *handle) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(handle, PSQL_OWN_SQL "SELECT 'a' LIKE 'A'", -1, &statement, NULL) != SQLITE_OK) return false;
    bool is_sensitive = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 0;
    sqlite3_finalize(statement);
    return is_sensitive;
}

int psql_bound_functions(sqlite3 *handle, psql_is_cancelled *is_cancelled, psql_is_hooked *is_hooked) {
    typedef void (*function)(sqlite3_context *, int, sqlite3_value **);
    function own_like = is_like_case_sensitive(handle) ? like_with_case : like;
    const struct {
        const char *name;
        int count;
        function function;
    } functions[] = {
        {"instr", 2, instr}, {"replace", 3, replace}, {"trim", 1, trim}, {"trim", 2, trim}, {"ltrim", 1, ltrim},
        {"ltrim", 2, ltrim}, {"rtrim", 1, rtrim}, {"rtrim", 2, rtrim}, {"like", 2, own_like}, {"like", 3, own_like},
        {"glob", 2, glob},
    };
    int code = SQLITE_OK, flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof functions / sizeof *functions; i++) {
        code = sqlite3_create_function_v2(handle, functions[i].name, functions[i].count, flags, (void *)is_cancelled,
                                          functions[i].function, NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) code = bound_json_patch(handle, flags);
    if (code == SQLITE_OK) code = psql_bound_zeroblob(handle, flags, is_hooked);
    return code == SQLITE_OK ? psql_bound_full_text(handle, is_cancelled) : code;
}
