/* Threads that read one database at the same time, each on a separate connection. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>

#include "perilune_benchmarks.h"

typedef struct {
    const char *path, *sql;
    int count, first;
    pthread_barrier_t *barrier;
    double begin, end;
    bool has_failed;
} reader;

static bool read_all(sqlite3_stmt *statement, const reader *reader) {
    for (int i = 0; i < reader->count; i++) {
        sqlite3_bind_int(statement, 1, 1 + (reader->first + i * 37) % 19000);
        if (sqlite3_step(statement) != SQLITE_ROW) return false;
        if (sqlite3_reset(statement) != SQLITE_OK) return false;
    }
    return true;
}

static void *run(void *argument) {
    reader *self = argument;
    sqlite3 *connection = NULL;
    sqlite3_stmt *statement = NULL;
    sqlite3_open_v2(self->path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_busy_timeout(connection, 10000);
    sqlite3_prepare_v2(connection, self->sql, -1, &statement, NULL);
    pthread_barrier_wait(self->barrier);
    self->begin = perilune_monotonic_seconds();
    self->has_failed = statement == NULL || !read_all(statement, self);
    self->end = perilune_monotonic_seconds();
    sqlite3_finalize(statement);
    sqlite3_close(connection);
    return NULL;
}

double perilune_time_readers(const char *path, const char *sql, int threads, int count) {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    pthread_t ids[threads];
    reader readers[threads];
    for (int i = 0; i < threads; i++) {
        readers[i] = (reader){.path = path, .sql = sql, .count = count, .first = i * 4001, .barrier = &barrier};
        if (pthread_create(&ids[i], NULL, run, &readers[i]) != 0) abort();
    }
    double begin = 0, end = 0;
    bool has_failed = false;
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        if (i == 0 || readers[i].begin < begin) begin = readers[i].begin;
        if (readers[i].end > end) end = readers[i].end;
        has_failed = has_failed || readers[i].has_failed;
    }
    pthread_barrier_destroy(&barrier);
    return has_failed ? -1 : end - begin;
}
