/* VFSs that give a database its own clock and random numbers. See perilune_clock.h. */
#include <perilune_clock.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
** A VFS with its environment. It starts as a copy of the default VFS, whose functions find their data in the copy.
**
** It is never freed, because SQLite keeps a pointer to it as long as a connection is open. It is reused after all its connections have
** closed.
*/
typedef struct clock_vfs {
    sqlite3_vfs base; /* first member: SQLite passes it to the functions below */
    char name[64];
    psql_environment environment;
    int owners; /* the number of owners, guarded by the lock; 0 if unused */
    struct clock_vfs *next;
} clock_vfs;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static clock_vfs *all; /* guarded by the lock; elements are only added */
static _Thread_local const psql_environment *environment_of_thread;

/* The last time that SQLite can represent. */
static const int64_t last_moment = INT64_C(464269060799999);

static const psql_environment *current(const clock_vfs *self) {
    return environment_of_thread ? environment_of_thread : &self->environment;
}

static int current_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
    const psql_environment *environment = current((clock_vfs *)vfs);
    int64_t now = environment->now(environment->object);
    *milliseconds = now < 1 ? 1 : now > last_moment ? last_moment : now;
    return SQLITE_OK;
}

static int current_time(sqlite3_vfs *vfs, double *days) {
    sqlite3_int64 milliseconds;
    int code = current_time_int64(vfs, &milliseconds);
    *days = (double)milliseconds / 86400000.0;
    return code;
}

/* Returns an unused VFS or a new one. The caller holds the lock. */
static clock_vfs *find_unused(void) {
    for (clock_vfs *vfs = all; vfs; vfs = vfs->next) {
        if (vfs->owners == 0) return vfs;
    }
    sqlite3_vfs *standard = sqlite3_vfs_find(NULL);
    clock_vfs *vfs = standard ? calloc(1, sizeof *vfs) : NULL;
    if (vfs == NULL) return NULL;
    vfs->base = *standard;
    vfs->base.pNext = NULL;
    /* The name is random, so that a script that opens files cannot guess it and use the clock of a test, which may no longer exist. */
    uint64_t random[2];
    sqlite3_randomness(sizeof random, random);
    snprintf(vfs->name, sizeof vfs->name, PSQL_ENVIRONMENT_PREFIX "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
    vfs->base.zName = vfs->name;
    vfs->base.xCurrentTime = current_time;
    vfs->base.xCurrentTimeInt64 = current_time_int64;
    if (vfs->base.iVersion < 2) vfs->base.iVersion = 2;
    if (sqlite3_vfs_register(&vfs->base, 0) != SQLITE_OK) {
        free(vfs);
        return NULL;
    }
    vfs->next = all;
    all = vfs;
    return vfs;
}

const char *psql_make_environment(const psql_environment *environment) {
    if (sqlite3_initialize() != SQLITE_OK) return NULL;
    pthread_mutex_lock(&lock);
    clock_vfs *vfs = find_unused();
    if (vfs) {
        vfs->environment = *environment;
        vfs->owners = 1;
    }
    pthread_mutex_unlock(&lock);
    return vfs ? vfs->name : NULL;
}

static void release(clock_vfs *vfs) {
    pthread_mutex_lock(&lock);
    bool is_last = vfs->owners == 1;
    psql_environment environment = vfs->environment;
    vfs->owners--;
    pthread_mutex_unlock(&lock);
    if (is_last && environment.release) environment.release(environment.object);
}

static clock_vfs *find(const char *name) {
    pthread_mutex_lock(&lock);
    clock_vfs *vfs = all;
    while (vfs && strcmp(vfs->name, name) != 0) vfs = vfs->next;
    pthread_mutex_unlock(&lock);
    return vfs;
}

void psql_release_environment(const char *name) {
    clock_vfs *vfs = find(name);
    if (vfs) release(vfs);
}

/* MARK: - Random functions */

static uint64_t next_random(sqlite3_context *context) {
    const psql_environment *environment = current(sqlite3_user_data(context));
    return environment->random(environment->object);
}

/* Implements random(). Like SQLite's own function, it returns any integer except the smallest one, whose absolute value is not an
** integer. */
static void random_function(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count, (void)values;
    sqlite3_int64 number = (sqlite3_int64)next_random(context);
    if (number < 0) number = -(number & INT64_MAX);
    sqlite3_result_int64(context, number);
}

static void random_blob_function(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_int64 length = sqlite3_value_int64(values[0]);
    if (length < 1) length = 1;
    if (length > sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)) {
        sqlite3_result_error_toobig(context);
        return;
    }
    unsigned char *bytes = sqlite3_malloc64((sqlite3_uint64)length);
    if (bytes == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (sqlite3_int64 i = 0; i < length; i += 8) {
        uint64_t bits = next_random(context);
        memcpy(bytes + i, &bits, length - i < 8 ? (size_t)(length - i) : 8);
    }
    sqlite3_result_blob64(context, bytes, (sqlite3_uint64)length, sqlite3_free);
}

static void forget_connection(void *vfs) {
    release(vfs);
}

int psql_install_environment(sqlite3 *handle, const char *name) {
    clock_vfs *vfs = find(name);
    if (vfs == NULL) return SQLITE_MISUSE;
    int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS;
    int code = sqlite3_create_function_v2(handle, "randomblob", 1, flags, vfs, random_blob_function, NULL, NULL, NULL);
    if (code != SQLITE_OK) return code;
    pthread_mutex_lock(&lock);
    vfs->owners++;
    pthread_mutex_unlock(&lock);
    /* SQLite calls the destructor even if this fails. */
    return sqlite3_create_function_v2(handle, "random", 0, flags, vfs, random_function, NULL, NULL, forget_connection);
}

void psql_use_environment(const psql_environment *environment) {
    environment_of_thread = environment;
}
