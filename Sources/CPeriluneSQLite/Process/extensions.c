/* Loadable extensions. */
#include <perilune_extensions.h>

#include <stddef.h>

int psql_load_extension(sqlite3 *handle, const char *path, char **message) {
    /* This allows the C function only; the SQL function load_extension() stays disabled. */
    int code = sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    if (code == SQLITE_OK) code = sqlite3_load_extension(handle, path, NULL, message);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    return code;
}
