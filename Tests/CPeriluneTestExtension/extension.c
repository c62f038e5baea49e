/* An extension of SQLite's for tests: a function `thrice(x)`. */
#include "include/perilune_test_extension.h"

#include <stddef.h>

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT1

static void thrice(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_result_int64(context, 3 * sqlite3_value_int64(values[0]));
}

int sqlite3_extension_init(sqlite3 *db, char **message, const struct sqlite3_api_routines *api) {
    (void)message;
    /* Once: functions of other connections read it at any time. One loads after the other. */
    if (!sqlite3_api) SQLITE_EXTENSION_INIT2(api);
    return sqlite3_create_function_v2(db, "thrice", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, thrice, NULL, NULL, NULL);
}
