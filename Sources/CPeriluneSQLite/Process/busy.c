/* Settings of SQLite for the whole process, and of its connections. */
#include <time.h>

#include <perilune_process.h>

int psql_disable_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

bool psql_wait_while_busy(int attempts, double seconds, bool (*is_cancelled)(void)) {
    static const int waits[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50}; /* milliseconds, as SQLite does it */
    enum { count = sizeof waits / sizeof *waits, longest = 100 };
    if (is_cancelled && is_cancelled()) return false;
    double waited = 0;
    for (int i = 0; i < attempts && i < count; i++) waited += waits[i];
    if (attempts > count) waited += (double)(attempts - count) * longest;
    double left = seconds * 1000 - waited, wait = attempts < count ? waits[attempts] : longest;
    if (left <= 0) return false;
    if (wait > left) wait = left;
    struct timespec time = {.tv_nsec = (long)(wait * 1000000)};
    nanosleep(&time, NULL);
    return true;
}
