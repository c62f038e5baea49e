/* Settings of SQLite for the whole process. */
#include "rows_internal.h"

int perilune_disable_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
