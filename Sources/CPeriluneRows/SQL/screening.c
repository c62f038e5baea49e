/*
** Looks at the text of a statement before SQLite does: some PRAGMAs take effect while they are compiled.
** Only words at fixed places decide, so that nothing in a string, a name or a comment can mislead.
*/
#include "CPeriluneRows/SQL/sql.h"

typedef struct {
    const char *bytes, *end;
} scanner;

typedef struct {
    const char *start;
    size_t length;
    enum { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_SIGN } kind;
} token;

static bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool is_word(unsigned char c) {
    return c >= 0x80 || c == '_' || c == '$' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static void skip_line(scanner *text) {
    while (text->bytes < text->end && *text->bytes != '\n') text->bytes++;
}

static void skip_comment(scanner *text) {
    for (text->bytes += 2; text->bytes < text->end; text->bytes++) {
        if (text->end - text->bytes >= 2 && text->bytes[0] == '*' && text->bytes[1] == '/') {
            text->bytes += 2;
            return;
        }
    }
}

/* Blanks, comments and, at the very beginning, the byte order mark, which SQLite takes for a blank. */
static void skip_blanks(scanner *text) {
    while (text->bytes < text->end) {
        ptrdiff_t rest = text->end - text->bytes;
        if (is_space((unsigned char)*text->bytes)) text->bytes++;
        else if (rest >= 3 && memcmp(text->bytes, "\xEF\xBB\xBF", 3) == 0) text->bytes += 3;
        else if (rest >= 2 && memcmp(text->bytes, "--", 2) == 0) skip_line(text);
        else if (rest >= 2 && memcmp(text->bytes, "/*", 2) == 0) skip_comment(text);
        else return;
    }
}

static token quoted_token(scanner *text, char closing) {
    token result = {++text->bytes, 0, TOKEN_QUOTED};
    while (text->bytes < text->end && *text->bytes != closing) text->bytes++;
    result.length = (size_t)(text->bytes - result.start);
    if (text->bytes < text->end) text->bytes++;
    return result;
}

static token next_token(scanner *text) {
    skip_blanks(text);
    if (text->bytes >= text->end) return (token){text->end, 0, TOKEN_END};
    char c = *text->bytes;
    if (c == '\'' || c == '"' || c == '`') return quoted_token(text, c);
    if (c == '[') return quoted_token(text, ']');
    token result = {text->bytes, 1, TOKEN_SIGN};
    if (!is_word((unsigned char)c)) {
        text->bytes++;
        return result;
    }
    while (text->bytes < text->end && is_word((unsigned char)*text->bytes)) text->bytes++;
    result.length = (size_t)(text->bytes - result.start);
    result.kind = TOKEN_WORD;
    return result;
}

static bool is(token word, const char *text) {
    if (word.kind != TOKEN_WORD && word.kind != TOKEN_QUOTED) return false;
    return word.length == strlen(text) && sqlite3_strnicmp(word.start, text, (int)word.length) == 0;
}

static bool is_sign(token sign, char c) { return sign.kind == TOKEN_SIGN && *sign.start == c; }

static bool is_one_of(token word, const char *const *texts) {
    for (; *texts; texts++) {
        if (is(word, *texts)) return true;
    }
    return false;
}

size_t pdb_blank_length(const char *sql, size_t length) {
    scanner text = {sql, sql + length};
    skip_blanks(&text);
    return (size_t)(text.bytes - sql);
}

bool pdb_is_blank(const char *sql, size_t length) {
    scanner text = {sql, sql + length};
    token word;
    do word = next_token(&text);
    while (is_sign(word, ';'));
    return word.kind == TOKEN_END;
}

/* The words of messages: upper case, cut. */
static void keep_words(pdb_screening *result, token first, token second) {
    size_t length = 0, room = sizeof result->word - 1;
    for (size_t i = 0; i < first.length && length < room; i++) result->word[length++] = first.start[i];
    if (second.length > 0 && length < room) result->word[length++] = ' ';
    for (size_t i = 0; i < second.length && length < room; i++) result->word[length++] = second.start[i];
    for (size_t i = 0; i < length; i++) {
        char c = result->word[i];
        if (i < first.length && c >= 'a' && c <= 'z') result->word[i] = (char)(c - 32);
    }
    result->word[length] = 0;
}

/* PRAGMA [schema.]name [= value | (value)] */
static pdb_keyword screen_pragma(token word, scanner *text, pdb_screening *result) {
    /* They would break what GRDB and this library rely on, outlast the limits of the script, hold for the whole process, or let a
    ** truncated file end it. */
    static const char *const forbidden[] = {"query_only", "writable_schema", "busy_timeout", "hard_heap_limit",
                                            "soft_heap_limit", "mmap_size", NULL};
    /* What a script without files may ask and set: nothing that outlasts it, tells of files, or makes the database less safe. */
    static const char *const harmless[] = {
        "analysis_limit", "application_id", "case_sensitive_like", "collation_list", "compile_options", "data_version",
        "defer_foreign_keys", "encoding", "foreign_key_check", "foreign_key_list", "foreign_keys", "freelist_count",
        "function_list", "index_info", "index_list", "index_xinfo", "integrity_check", "module_list", "optimize",
        "page_count", "page_size", "pragma_list", "quick_check", "recursive_triggers", "table_info", "table_list",
        "table_xinfo", "temp_store", "user_version", NULL};
    token name = next_token(text), sign = next_token(text);
    if (is_sign(sign, '.')) {
        name = next_token(text);
        sign = next_token(text);
    }
    bool is_assigned = is_sign(sign, '=') || is_sign(sign, '(');
    keep_words(result, word, name);
    if (is_assigned && is_one_of(name, forbidden)) return PDB_KEYWORD_FORBIDDEN;
    if (is_assigned && is(name, "temp_store")) return PDB_KEYWORD_MEMORY;
    return is_one_of(name, harmless) ? PDB_KEYWORD_OTHER : PDB_KEYWORD_FILES;
}

static pdb_keyword screen_vacuum(scanner text, pdb_screening *result) {
    for (token word = next_token(&text); word.kind != TOKEN_END; word = next_token(&text)) {
        if (word.kind != TOKEN_WORD || !is(word, "into")) continue;
        result->opens_file = true;
        return PDB_KEYWORD_FILES;
    }
    return PDB_KEYWORD_OTHER;
}

/* ATTACH [DATABASE] expression AS name */
static bool attaches_file(scanner text) {
    token name = next_token(&text);
    if (name.kind == TOKEN_WORD && is(name, "database")) name = next_token(&text);
    bool is_memory = name.kind == TOKEN_QUOTED && is(name, ":memory:") && name.start[-1] == '\'';
    return !is_memory || !is(next_token(&text), "as");
}

/* What follows the common table expressions, which stand in parentheses. */
static pdb_keyword screen_with(scanner text) {
    int depth = 0;
    for (token word = next_token(&text); word.kind != TOKEN_END; word = next_token(&text)) {
        if (is_sign(word, '(')) depth++;
        if (is_sign(word, ')')) depth--;
        if (depth != 0 || word.kind != TOKEN_WORD) continue;
        if (is(word, "insert") || is(word, "replace")) return PDB_KEYWORD_INSERT;
        if (is(word, "update") || is(word, "delete")) return PDB_KEYWORD_CHANGE;
    }
    return PDB_KEYWORD_READ;
}

static pdb_keyword screen_word(token word, scanner *text, pdb_screening *result) {
    static const char *const reads[] = {"select", "values", NULL};
    static const char *const inserts[] = {"insert", "replace", NULL};
    static const char *const changes[] = {"update", "delete", NULL};
    static const char *const controls[] = {"begin", "commit", "end", "rollback", "savepoint", "release", NULL};
    static const char *const files[] = {"attach", "detach", NULL};
    if (is_one_of(word, reads)) return PDB_KEYWORD_READ;
    if (is_one_of(word, inserts)) return PDB_KEYWORD_INSERT;
    if (is_one_of(word, changes)) return PDB_KEYWORD_CHANGE;
    if (is_one_of(word, controls)) return PDB_KEYWORD_CONTROL;
    if (is(word, "attach")) result->opens_file = attaches_file(*text);
    if (is_one_of(word, files)) return PDB_KEYWORD_FILES;
    if (is(word, "with")) return screen_with(*text);
    if (is(word, "pragma")) return screen_pragma(word, text, result);
    if (is(word, "vacuum")) return screen_vacuum(*text, result);
    return PDB_KEYWORD_OTHER;
}

/* EXPLAIN runs nothing, but what it explains is compiled. */
static pdb_keyword screen_explained(token word, scanner *text, pdb_screening *result) {
    if (is(word, "query")) {
        next_token(text);
        word = next_token(text);
    }
    pdb_keyword keyword = screen_word(word, text, result);
    bool is_refused = keyword == PDB_KEYWORD_FORBIDDEN || keyword == PDB_KEYWORD_FILES ||
                      keyword == PDB_KEYWORD_MEMORY;
    return is_refused ? keyword : PDB_KEYWORD_READ;
}

static void look_for_words(scanner text, pdb_screening *result) {
    static const char *const words[] = {"last_insert_rowid", "changes", "total_changes", "temp", "sqlite_temp_master",
                                        "sqlite_temp_schema", "pragma", NULL};
    for (token word = next_token(&text); word.kind != TOKEN_END; word = next_token(&text)) {
        if (!is_one_of(word, words)) continue;
        result->wants_writer = true;
        if (is(word, "last_insert_rowid")) result->reads_rowid = true;
    }
}

pdb_screening pdb_screen(const char *sql, size_t length) {
    pdb_screening result = {0};
    scanner text = {sql, sql + length};
    token word;
    do word = next_token(&text);
    while (is_sign(word, ';'));
    if (word.kind == TOKEN_END) {
        result.keyword = PDB_KEYWORD_EMPTY;
        return result;
    }
    keep_words(&result, word, (token){word.start, 0, TOKEN_END});
    look_for_words((scanner){word.start, text.end}, &result);
    if (is(word, "create")) {
        token second = next_token(&text);
        result.is_temporary = is(second, "temp") || is(second, "temporary");
    }
    if (is(word, "explain")) result.keyword = screen_explained(next_token(&text), &text, &result);
    else result.keyword = screen_word(word, &text, &result);
    return result;
}

bool pdb_changes_rows(const char *sql, size_t length) {
    static const char *const changes[] = {"insert", "replace", "update", "delete", NULL};
    static const char *const others[] = {"begin", "commit", "end", "rollback", "savepoint", "release",
                                         "pragma", "vacuum", "attach", "detach", NULL};
    scanner text = {sql, sql + length};
    bool is_first = true, has_change = false;
    for (token word = next_token(&text); word.kind != TOKEN_END; word = next_token(&text)) {
        if (is_first && is_one_of(word, others)) return false;
        if (is_first && is(word, "with")) has_change = has_change || screen_with(text) != PDB_KEYWORD_READ;
        if (is_first && is_one_of(word, changes)) has_change = true;
        is_first = is_sign(word, ';');
    }
    return has_change;
}

bool pdb_is_utf8(const char *bytes, size_t length) {
    const unsigned char *c = (const unsigned char *)bytes, *end = c + length;
    while (c < end) {
        if (*c < 0x80) {
            c++;
            continue;
        }
        int count = *c >= 0xF0 && *c <= 0xF4 ? 3 : *c >= 0xE0 && *c < 0xF0 ? 2 : *c >= 0xC2 && *c < 0xE0 ? 1 : 0;
        if (count == 0 || end - c <= count) return false;
        if ((*c == 0xE0 && c[1] < 0xA0) || (*c == 0xED && c[1] > 0x9F) || (*c == 0xF0 && c[1] < 0x90) ||
            (*c == 0xF4 && c[1] > 0x8F)) return false;
        for (int i = 1; i <= count; i++) {
            if ((c[i] & 0xC0) != 0x80) return false;
        }
        c += count + 1;
    }
    return true;
}
