/*
** Works around a crash of SQLite 3.40 on rows that end with zeroblob(). Such a row does not store its final zeros in memory. A hook that
** reads the new row makes SQLite write them out. If that runs out of memory, SQLite replaces the row by NULL but keeps its length, and
** inserting it reads address 0.
*/
#include <string.h>

#include <perilune_memory.h>
#include <perilune_sessions.h>

#include "CPeriluneSQLite/Process/work.h"

int sqlite3_preupdate_new(sqlite3 *handle, int column, sqlite3_value **value);

int psql_preupdate_new(sqlite3 *handle, int column, sqlite3_value **value) {
    psql_allow_all(true);
    int code = sqlite3_preupdate_new(handle, column, value);
    psql_allow_all(false);
    return code;
}

/* Acts like SQLite's zeroblob(), unless a hook reads inserted rows. In that case the zeros are allocated immediately, because SQLite
** handles a failed allocation here. */
static void zeroblob(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    psql_is_hooked *is_hooked = (psql_is_hooked *)sqlite3_user_data(context);
    sqlite3_int64 asked = sqlite3_value_int64(values[0]);
    sqlite3_uint64 size = asked > 0 ? (sqlite3_uint64)asked : 0;
    if (size > psql_longest_value(context)) {
        sqlite3_result_error_toobig(context);
    } else if (size == 0 || !is_hooked(sqlite3_context_db_handle(context))) {
        sqlite3_result_zeroblob64(context, size);
    } else {
        void *zeros = sqlite3_malloc64(size);
        if (zeros == NULL) return sqlite3_result_error_nomem(context);
        sqlite3_result_blob64(context, memset(zeros, 0, size), size, sqlite3_free);
    }
}

int psql_bound_zeroblob(sqlite3 *handle, int flags, psql_is_hooked *is_hooked) {
    return sqlite3_create_function_v2(handle, "zeroblob", 1, flags, (void *)is_hooked, zeroblob, NULL, NULL, NULL);
}
