/* Handwritten upserts: one prepared statement, executed repeatedly in one transaction. */
#include <stdio.h>

#include <sqlite3.h>

#include "perilune_benchmarks.h"

static int upsert_all(sqlite3 *db, const char *sql, int count) {
    sqlite3_stmt *statement;
    int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    for (int i = 1; i <= count && code == SQLITE_OK; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "code %d", i);
        sqlite3_bind_text(statement, 1, text, length, SQLITE_STATIC);
        sqlite3_bind_int(statement, 2, i);
        sqlite3_step(statement);
        code = sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_OK ? sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) : code;
}

double perilune_time_upserts(const char *path, const char *sql, int count) {
    sqlite3 *db;
    double seconds = -1;
    if (sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL) == SQLITE_OK) {
        double start = perilune_monotonic_seconds();
        if (upsert_all(db, sql, count) == SQLITE_OK) seconds = perilune_monotonic_seconds() - start;
    }
    sqlite3_close(db);
    return seconds;
}
