/*
** SQLite's mutexes, made adaptive: a waiting thread spins for a while before it sleeps.
**
** In every statement outside of a transaction, a reader holds a process-wide mutex during the two system calls that lock and unlock the
** file. If waiting threads sleep immediately, waking them takes longer than the statement, and two threads read no faster than one.
*/
#define _GNU_SOURCE /* PTHREAD_MUTEX_ADAPTIVE_NP */
#include <pthread.h>
#include <stdlib.h>

#include <perilune_process.h>

#ifdef __GLIBC__

enum { static_count = SQLITE_MUTEX_STATIC_VFS3 + 1 };

static pthread_mutex_t static_mutexes[static_count];

static bool make(pthread_mutex_t *mutex, int type) {
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0) return false;
    pthread_mutexattr_settype(&attributes, type);
    bool is_made = pthread_mutex_init(mutex, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return is_made;
}

static void make_static_mutexes(void) {
    for (int i = 0; i < static_count; i++) {
        if (!make(&static_mutexes[i], PTHREAD_MUTEX_ADAPTIVE_NP)) abort();
    }
}

/* SQLite may call this several times, on several threads. */
static int begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, make_static_mutexes) == 0 ? SQLITE_OK : SQLITE_ERROR;
}

static int end(void) { return SQLITE_OK; }

static sqlite3_mutex *allocate(int kind) {
    if (kind >= static_count) return NULL;
    if (kind > SQLITE_MUTEX_RECURSIVE) return (sqlite3_mutex *)&static_mutexes[kind];
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    if (mutex && make(mutex, kind == SQLITE_MUTEX_RECURSIVE ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ADAPTIVE_NP)) {
        return (sqlite3_mutex *)mutex;
    }
    free(mutex);
    return NULL;
}

static void release(sqlite3_mutex *mutex) {
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
    free(mutex);
}

static void enter(sqlite3_mutex *mutex) { pthread_mutex_lock((pthread_mutex_t *)mutex); }

static int try_to_enter(sqlite3_mutex *mutex) {
    return pthread_mutex_trylock((pthread_mutex_t *)mutex) == 0 ? SQLITE_OK : SQLITE_BUSY;
}

static void leave(sqlite3_mutex *mutex) { pthread_mutex_unlock((pthread_mutex_t *)mutex); }

int psql_use_adaptive_mutexes(void) {
    static const sqlite3_mutex_methods methods = {begin, end, allocate, release, enter, try_to_enter, leave, NULL, NULL};
    return sqlite3_config(SQLITE_CONFIG_MUTEX, &methods);
}

#else

int psql_use_adaptive_mutexes(void) { return SQLITE_ERROR; }

#endif
