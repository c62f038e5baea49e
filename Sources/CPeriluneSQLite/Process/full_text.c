/*
** FTS5's highlight() and snippet() in linear time. SQLite's own functions copy all their data for each match and compare each match with
** all others, which took hours for a document of some megabytes. These functions return the same results as SQLite 3.40 and can be
** cancelled.
*/
#include <stdint.h>
#include <string.h>

#include <perilune_sqlite_arrays.h>

#include "CPeriluneSQLite/Process/work.h"

/* The document of the current row, as FTS5 provides it. */
typedef struct {
    const Fts5ExtensionApi *api;
    Fts5Context *row;
    int match_count; /* in all columns, ordered by column and token */
    psql_work work;
} document;

/* A run of matches that share tokens. `first` and `last` are token positions; `first` is -1 after the last run. */
typedef struct {
    document *document;
    int column;
    int next; /* the number of the next match */
    int first, last;
} run_of_matches;

static int open_document(document *document, const Fts5ExtensionApi *api, Fts5Context *row) {
    document->api = api;
    document->row = row;
    document->work = psql_begin_work((psql_is_cancelled *)api->xUserData(row));
    return api->xInstCount(row, &document->match_count);
}

static int spend(document *document, size_t bytes) { return psql_spend(&document->work, bytes) ? SQLITE_OK : SQLITE_INTERRUPT; }

static int advance(run_of_matches *run) {
    document *document = run->document;
    run->first = run->last = -1;
    for (; run->next < document->match_count; run->next++) {
        int phrase, column, token;
        int code = document->api->xInst(document->row, run->next, &phrase, &column, &token);
        if (code == SQLITE_OK) code = spend(document, 1);
        if (code != SQLITE_OK) return code;
        if (column != run->column) continue;
        if (run->first >= 0 && token > run->last) break;
        if (run->first < 0) run->first = token;
        int last = token - 1 + document->api->xPhraseSize(document->row, phrase);
        if (last > run->last) run->last = last;
    }
    return SQLITE_OK;
}

/* MARK: - Marking */

/* A text whose matches are being marked. If `end` is above 0, only the tokens from `begin` to `end` are copied. */
typedef struct {
    run_of_matches matches;
    const char *opening, *closing, *text;
    int length; /* the length of the text */
    int begin, end;
    int token;  /* the next token */
    int copied; /* the number of bytes copied from the text */
    psql_buffer result;
} marking;

/* Appends at most `length` bytes of the text, up to its first NUL. */
static int append(marking *marking, const char *text, int length) {
    if (text == NULL || length <= 0) return SQLITE_OK;
    size_t count = strnlen(text, (size_t)length);
    if (!psql_append(&marking->result, text, count)) return marking->result.failure;
    return spend(marking->matches.document, count);
}

static int append_mark(marking *marking, const char *mark) { return append(marking, mark, mark ? (int)strlen(mark) : 0); }

static int copy_up_to(marking *marking, int end) {
    int code = append(marking, marking->text + marking->copied, end - marking->copied);
    marking->copied = end;
    return code;
}

static int end_match(marking *marking, int end) {
    /* The match begins before the copied tokens, so its opening mark is still missing. */
    int code = marking->end != 0 && marking->matches.first < marking->begin ? append_mark(marking, marking->opening) : SQLITE_OK;
    if (code == SQLITE_OK) code = copy_up_to(marking, end);
    if (code == SQLITE_OK) code = append_mark(marking, marking->closing);
    return code == SQLITE_OK ? advance(&marking->matches) : code;
}

static int end_tokens(marking *marking, int token, int end) {
    int code = copy_up_to(marking, end);
    bool is_in_match = token >= marking->matches.first && token < marking->matches.last;
    return code == SQLITE_OK && is_in_match ? append_mark(marking, marking->closing) : code;
}

/* Called by the tokenizer for each token. `start` and `end` are byte positions. */
static int mark_token(void *object, int flags, const char *bytes, int length, int start, int end) {
    (void)bytes;
    marking *marking = object;
    if (flags & FTS5_TOKEN_COLOCATED) return SQLITE_OK;
    int token = marking->token++;
    int code = spend(marking->matches.document, (size_t)length + 1);
    if (code != SQLITE_OK) return code;
    if (marking->end > 0) {
        if (token < marking->begin || token > marking->end) return SQLITE_OK;
        if (marking->begin != 0 && token == marking->begin) marking->copied = start;
    }
    if (token == marking->matches.first) {
        code = copy_up_to(marking, start);
        if (code == SQLITE_OK) code = append_mark(marking, marking->opening);
    }
    if (code == SQLITE_OK && token == marking->matches.last) code = end_match(marking, end);
    if (code == SQLITE_OK && marking->end > 0 && token == marking->end) code = end_tokens(marking, token, end);
    return code;
}

/* Sets the result and frees the collected text. */
static void finish(sqlite3_context *context, marking *marking, int code) {
    if (code != SQLITE_OK) {
        sqlite3_result_error_code(context, code);
    } else if (marking->result.bytes) {
        sqlite3_result_text64(context, marking->result.bytes, marking->result.length, sqlite3_free, SQLITE_UTF8);
        return;
    }
    sqlite3_free(marking->result.bytes);
}

/* highlight(table, column, opening, closing) */
static void highlight(const Fts5ExtensionApi *api, Fts5Context *row, sqlite3_context *context, int count, sqlite3_value **values) {
    if (count != 3) {
        sqlite3_result_error(context, "wrong number of arguments to function highlight()", -1);
        return;
    }
    document document;
    int column = sqlite3_value_int(values[0]);
    marking marking = {
        .matches = {.document = &document, .column = column}, .result.most = psql_longest_value(context),
        .opening = (const char *)sqlite3_value_text(values[1]), .closing = (const char *)sqlite3_value_text(values[2])};
    int code = api->xColumnText(row, column, &marking.text, &marking.length);
    if (code == SQLITE_OK && marking.text) {
        code = open_document(&document, api, row);
        if (code == SQLITE_OK) code = advance(&marking.matches);
        if (code == SQLITE_OK) code = api->xTokenize(row, marking.text, marking.length, &marking, mark_token);
        if (code == SQLITE_OK) code = copy_up_to(&marking, marking.length);
        if (code == SQLITE_OK && marking.result.bytes == NULL) sqlite3_result_text(context, "", 0, SQLITE_STATIC);
    }
    finish(context, &marking, code);
}

/* MARK: - The best snippet */

/* A scan for the first token of each sentence. */
typedef struct {
    document *document;
    const char *text;
    int token; /* the next token */
    int *beginnings;
    size_t count, capacity;
} sentences;

static bool begins_sentence(const char *text, int start) {
    int at = start - 1;
    while (at >= 0 && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at--;
    return at >= 0 && at != start - 1 && (text[at] == '.' || text[at] == ':');
}

static int note_beginning(void *object, int flags, const char *bytes, int length, int start, int end) {
    (void)bytes, (void)end;
    sentences *sentences = object;
    if (flags & FTS5_TOKEN_COLOCATED) return SQLITE_OK;
    int token = sentences->token++;
    int code = spend(sentences->document, (size_t)length + 1);
    if (code != SQLITE_OK || (token > 0 && !begins_sentence(sentences->text, start))) return code;
    if (!PSQL_ADD_ROOM(sentences->beginnings, sentences->count, sentences->capacity)) return SQLITE_NOMEM;
    sentences->beginnings[sentences->count++] = token;
    return SQLITE_OK;
}

/* A candidate for the snippet: the tokens of a column from `begin` on. */
typedef struct {
    int score, column, begin;
    int column_size; /* in tokens */
} snippet_place;

/* The search for the best snippet. */
typedef struct {
    document *document;
    int length; /* the number of tokens in a snippet */
    int phrase_count;
    unsigned char *has_seen; /* one per phrase */
    sentences sentences;
    snippet_place best;
} search;

/* Scores a snippet that starts at token `begin`: 1000 for each phrase in it, and 1 for each further match of the same phrase. `first_match`
** is a match at or before the first one in the snippet. Sets `centred` to the start of a snippet with these matches in its middle. */
static int score(search *search, const snippet_place *place, int first_match, int begin, int *result, int *centred) {
    document *document = search->document;
    int first = -1, last = 0;
    memset(search->has_seen, 0, (size_t)search->phrase_count);
    *result = 0;
    for (int i = first_match; i < document->match_count; i++) {
        int phrase, column, token;
        int code = document->api->xInst(document->row, i, &phrase, &column, &token);
        if (code == SQLITE_OK) code = spend(document, 8);
        if (code != SQLITE_OK) return code;
        if (column != place->column || token >= (sqlite3_int64)begin + search->length) break;
        if (token < begin) continue;
        *result += search->has_seen[phrase] ? 1 : 1000;
        search->has_seen[phrase] = 1;
        if (first < 0) first = token;
        last = token + document->api->xPhraseSize(document->row, phrase);
    }
    sqlite3_int64 middle = first - (search->length - (last - first)) / 2;
    if (middle + search->length > place->column_size) middle = place->column_size - search->length;
    *centred = middle < 0 ? 0 : (int)middle;
    return SQLITE_OK;
}

static void keep_best(search *search, const snippet_place *place, int score, int begin) {
    if (score <= search->best.score) return;
    search->best = *place;
    search->best.score = score;
    search->best.begin = begin;
}

/* The match under consideration, in its column. */
typedef struct {
    int token;
    int first_at_token;    /* the first of several matches at one token */
    size_t sentence;
    int first_of_sentence; /* the first match of the sentence */
} match_place;

static int search_at(search *search, const snippet_place *place, const match_place *match) {
    int points, centred;
    int code = score(search, place, match->first_at_token, match->token, &points, &centred);
    if (code != SQLITE_OK) return code;
    keep_best(search, place, points, centred);
    if (search->sentences.count == 0 || place->column_size <= search->length) return SQLITE_OK;
    int begin = search->sentences.beginnings[match->sentence];
    if (begin >= match->token) return SQLITE_OK;
    code = score(search, place, match->first_of_sentence, begin, &points, &centred);
    if (code == SQLITE_OK) keep_best(search, place, points + (begin == 0 ? 120 : 100), begin);
    return code;
}

/* Tries each match of a column, and the start of its sentence, as the start of a snippet. */
static int search_matches(search *search, const snippet_place *place) {
    document *document = search->document;
    const sentences *sentences = &search->sentences;
    match_place match = {.token = -1};
    for (int i = 0; i < document->match_count; i++) {
        int phrase, column, token;
        int code = document->api->xInst(document->row, i, &phrase, &column, &token);
        if (code == SQLITE_OK) code = spend(document, 8);
        if (code != SQLITE_OK) return code;
        if (column != place->column) continue;
        if (token > place->column_size) return SQLITE_CORRUPT_VTAB;
        if (match.token < 0) match.first_of_sentence = i;
        if (token != match.token) match.first_at_token = i;
        match.token = token;
        size_t former = match.sentence;
        while (match.sentence + 1 < sentences->count && sentences->beginnings[match.sentence + 1] <= token) match.sentence++;
        if (match.sentence != former) match.first_of_sentence = match.first_at_token;
        code = search_at(search, place, &match);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

static int search_column(search *search, int column) {
    document *document = search->document;
    sentences *sentences = &search->sentences;
    snippet_place place = {.column = column};
    int length;
    sentences->token = 0;
    sentences->count = 0;
    int code = document->api->xColumnText(document->row, column, &sentences->text, &length);
    if (code == SQLITE_OK) code = document->api->xTokenize(document->row, sentences->text, length, sentences, note_beginning);
    if (code == SQLITE_OK) code = document->api->xColumnSize(document->row, column, &place.column_size);
    return code == SQLITE_OK ? search_matches(search, &place) : code;
}

/* Finds the best snippet in a column, or in all columns if `column` is negative. */
static int find_snippet(document *document, int column, int length, snippet_place *best) {
    search search = {
        .document = document, .length = length, .phrase_count = document->api->xPhraseCount(document->row),
        .sentences.document = document, .best.column = column < 0 ? 0 : column};
    search.has_seen = sqlite3_malloc(search.phrase_count + 1);
    int code = search.has_seen ? SQLITE_OK : SQLITE_NOMEM;
    int column_count = document->api->xColumnCount(document->row);
    for (int i = 0; code == SQLITE_OK && i < column_count; i++) {
        if (column < 0 || column == i) code = search_column(&search, i);
    }
    sqlite3_free(search.has_seen);
    sqlite3_free(search.sentences.beginnings);
    *best = search.best;
    return code;
}

static const char *text_of(sqlite3_value *value) {
    const char *text = (const char *)sqlite3_value_text(value);
    return text ? text : "";
}

static int mark_snippet(marking *marking, const snippet_place *place, const char *ellipsis) {
    document *document = marking->matches.document;
    int code = advance(&marking->matches);
    if (code == SQLITE_OK && place->begin > 0) code = append_mark(marking, ellipsis);
    while (code == SQLITE_OK && marking->matches.first >= 0 && marking->matches.first < place->begin) code = advance(&marking->matches);
    if (code == SQLITE_OK) code = document->api->xTokenize(document->row, marking->text, marking->length, marking, mark_token);
    if (code != SQLITE_OK) return code;
    return marking->end >= place->column_size - 1 ? copy_up_to(marking, marking->length) : append_mark(marking, ellipsis);
}

/* snippet(table, column, opening, closing, ellipsis, tokens) */
static void snippet(const Fts5ExtensionApi *api, Fts5Context *row, sqlite3_context *context, int count, sqlite3_value **values) {
    if (count != 5) {
        sqlite3_result_error(context, "wrong number of arguments to function snippet()", -1);
        return;
    }
    document document;
    snippet_place best;
    int length = sqlite3_value_int(values[4]);
    marking marking = {
        .matches.document = &document, .result.most = psql_longest_value(context), .opening = text_of(values[1]), .closing = text_of(values[2])};
    int code = open_document(&document, api, row);
    if (code == SQLITE_OK) code = find_snippet(&document, sqlite3_value_int(values[0]), length, &best);
    if (code == SQLITE_OK) code = api->xColumnText(row, best.column, &marking.text, &marking.length);
    if (code == SQLITE_OK && best.column_size == 0) code = api->xColumnSize(row, best.column, &best.column_size);
    if (code == SQLITE_OK && marking.text) {
        marking.matches.column = best.column;
        marking.begin = best.begin;
        marking.end = (int)((unsigned)best.begin + (unsigned)length - 1);
        code = mark_snippet(&marking, &best, text_of(values[3]));
        if (code == SQLITE_OK && marking.result.bytes == NULL) sqlite3_result_text(context, "", 0, SQLITE_STATIC);
    }
    finish(context, &marking, code);
}

/* MARK: - Installing */

/* Returns the FTS5 API, or NULL if the library lacks it. */
static fts5_api *find_api(sqlite3 *handle) {
    fts5_api *api = NULL;
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(handle, PSQL_OWN_SQL "SELECT fts5(?1)", -1, &statement, NULL) != SQLITE_OK) return NULL;
    sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
    return api;
}

int psql_bound_full_text(sqlite3 *handle, psql_is_cancelled *is_cancelled) {
    fts5_api *api = find_api(handle);
    if (api == NULL) return SQLITE_OK;
    int code = api->xCreateFunction(api, "highlight", (void *)is_cancelled, highlight, NULL);
    return code == SQLITE_OK ? api->xCreateFunction(api, "snippet", (void *)is_cancelled, snippet, NULL) : code;
}
