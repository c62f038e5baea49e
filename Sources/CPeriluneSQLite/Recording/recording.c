/* Changesets: recorded by sessions, or made by comparing two schemas. */
#include <pthread.h>
#include <stdatomic.h>

#include <stdlib.h>
#include <string.h>

#include <perilune_recording.h>

struct psql_recording {
    psql_recording *next;
    sqlite3 *db;
    sqlite3_session *session;
    size_t limit;
    psql_recording_state state;
    char **excluded, **touched;
    size_t excluded_count, touched_count, touched_capacity;
};

/* The recordings of the process, so that the statements of a connection find its own. */
static psql_recording *recordings;
static pthread_mutex_t recordings_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int recording_count;

/* MARK: - The hook */

static void *(*_Atomic lift)(sqlite3 *db);
static void (*_Atomic put_back)(void *lifted);

void psql_set_change_hook_owner(void *(*lift_it)(sqlite3 *db), void (*put_it_back)(void *lifted)) {
    atomic_store(&put_back, put_it_back);
    atomic_store(&lift, lift_it);
}

static void *lift_hook(sqlite3 *db) {
    void *(*call)(sqlite3 *) = atomic_load(&lift);
    return call ? call(db) : NULL;
}

static void put_hook_back(void *lifted) {
    if (lifted) atomic_load(&put_back)(lifted);
}

/* MARK: - Lists of names */

static bool has_name(char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (sqlite3_stricmp(names[i], name) == 0) return true;
    }
    return false;
}

static void free_names(char **names, size_t count) {
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
}

static bool copy_names(const char *const *names, size_t count, psql_recording *recording) {
    recording->excluded = calloc(count + 1, sizeof *recording->excluded);
    if (recording->excluded == NULL) return false;
    for (; recording->excluded_count < count; recording->excluded_count++) {
        char *name = strdup(names[recording->excluded_count]);
        if (name == NULL) return false;
        recording->excluded[recording->excluded_count] = name;
    }
    return true;
}

static bool note_touched(psql_recording *recording, const char *table) {
    if (has_name(recording->touched, recording->touched_count, table)) return true;
    if (recording->touched_count == recording->touched_capacity) {
        size_t capacity = recording->touched_capacity ? recording->touched_capacity * 2 : 16;
        char **touched = realloc(recording->touched, capacity * sizeof *touched);
        if (touched == NULL) return false;
        recording->touched = touched;
        recording->touched_capacity = capacity;
    }
    char *name = strdup(table);
    if (name == NULL) return false;
    recording->touched[recording->touched_count++] = name;
    return true;
}

/* MARK: - Recording */

/* Asked at the first change of a table; again at each change of one that it has refused. */
static int wants_table(void *context, const char *table) {
    psql_recording *recording = context;
    if (sqlite3_strnicmp(table, "sqlite_", 7) == 0) return 0;
    if (!note_touched(recording, table)) recording->state = PSQL_RECORDING_FAILED;
    return !has_name(recording->excluded, recording->excluded_count, table);
}

static void enlist(psql_recording *recording) {
    pthread_mutex_lock(&recordings_lock);
    recording->next = recordings;
    recordings = recording;
    atomic_fetch_add(&recording_count, 1);
    pthread_mutex_unlock(&recordings_lock);
}

static void unlist(psql_recording *recording) {
    pthread_mutex_lock(&recordings_lock);
    for (psql_recording **link = &recordings; *link; link = &(*link)->next) {
        if (*link != recording) continue;
        *link = recording->next;
        atomic_fetch_sub(&recording_count, 1);
        break;
    }
    pthread_mutex_unlock(&recordings_lock);
}

int psql_recording_begin(sqlite3 *db, const char *const *excluded, size_t excluded_count, size_t limit,
                             psql_recording **result) {
    *result = NULL;
    psql_recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL) return SQLITE_NOMEM;
    *recording = (psql_recording){.db = db, .limit = limit};
    int code = copy_names(excluded, excluded_count, recording) ? SQLITE_OK : SQLITE_NOMEM;
    void *lifted = lift_hook(db);
    if (code == SQLITE_OK) code = sqlite3session_create(db, "main", &recording->session);
    if (code == SQLITE_OK) code = sqlite3session_attach(recording->session, NULL);
    put_hook_back(lifted);
    if (lifted) recording->state = PSQL_RECORDING_FAILED;
    if (code != SQLITE_OK) {
        psql_recording_end(recording);
        return code;
    }
    sqlite3session_table_filter(recording->session, wants_table, recording);
    enlist(recording);
    *result = recording;
    return SQLITE_OK;
}

static void stand_in(void *context, sqlite3 *db, int kind, const char *schema, const char *table, sqlite3_int64 old,
                     sqlite3_int64 new) {
    (void)context, (void)db, (void)kind, (void)schema, (void)table, (void)old, (void)new;
}

void psql_recording_end(psql_recording *recording) {
    unlist(recording);
    if (recording->session) {
        void *lifted = lift_hook(recording->db);
        /* Sessions find each other by the hook, which an observer has taken. */
        if (lifted) sqlite3_preupdate_hook(recording->db, stand_in, recording->session);
        sqlite3session_delete(recording->session);
        put_hook_back(lifted);
    }
    free_names(recording->excluded, recording->excluded_count);
    free_names(recording->touched, recording->touched_count);
    free(recording);
}

void psql_watch_recordings(sqlite3 *db) {
    if (atomic_load_explicit(&recording_count, memory_order_relaxed) == 0) return;
    pthread_mutex_lock(&recordings_lock);
    for (psql_recording *recording = recordings; recording; recording = recording->next) {
        if (recording->db != db || recording->state != PSQL_RECORDING_COMPLETE) continue;
        if ((size_t)sqlite3session_memory_used(recording->session) <= recording->limit) continue;
        sqlite3session_enable(recording->session, 0);
        recording->state = PSQL_RECORDING_TOO_LARGE;
    }
    pthread_mutex_unlock(&recordings_lock);
}

void psql_interrupt_recordings(sqlite3 *db) {
    if (atomic_load(&recording_count) == 0) return;
    pthread_mutex_lock(&recordings_lock);
    for (psql_recording *recording = recordings; recording; recording = recording->next) {
        if (recording->db != db || recording->state != PSQL_RECORDING_COMPLETE) continue;
        sqlite3session_enable(recording->session, 0);
        recording->state = PSQL_RECORDING_FAILED;
    }
    pthread_mutex_unlock(&recordings_lock);
}

psql_recording_state psql_recording_status(psql_recording *recording) { return recording->state; }

size_t psql_recording_touched_count(psql_recording *recording) { return recording->touched_count; }

const char *psql_recording_touched_table(psql_recording *recording, size_t index) { return recording->touched[index]; }

int psql_recording_changeset(psql_recording *recording, void **bytes, int *length) {
    *bytes = NULL;
    *length = 0;
    int code = sqlite3session_changeset(recording->session, length, bytes);
    if (code != SQLITE_OK && recording->state == PSQL_RECORDING_COMPLETE) recording->state = PSQL_RECORDING_FAILED;
    return code;
}

/* MARK: - Comparing */

int psql_compare_schemas(sqlite3 *db, const char *former_schema, const char *const *tables, size_t table_count, void **bytes,
                             int *length) {
    *bytes = NULL;
    *length = 0;
    sqlite3_session *session = NULL;
    void *lifted = lift_hook(db);
    int code = sqlite3session_create(db, "main", &session);
    for (size_t i = 0; i < table_count && code == SQLITE_OK; i++) {
        char *message = NULL;
        code = sqlite3session_attach(session, tables[i]);
        if (code == SQLITE_OK) code = sqlite3session_diff(session, former_schema, tables[i], &message);
        sqlite3_free(message);
    }
    if (code == SQLITE_OK) code = sqlite3session_changeset(session, length, bytes);
    if (session) sqlite3session_delete(session);
    put_hook_back(lifted);
    return code;
}

int psql_invert_changeset(const void *bytes, int length, void **inverse, int *inverse_length) {
    *inverse = NULL;
    *inverse_length = 0;
    return sqlite3changeset_invert(length, bytes, inverse_length, inverse);
}

void psql_free_changeset(void *bytes) { sqlite3_free(bytes); }
