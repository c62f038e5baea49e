/* Process-wide SQLite settings, and the busy handler that waits for locks. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <perilune_process.h>

int psql_disable_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

bool psql_wait_while_busy(int attempts, double seconds, bool (*is_cancelled)(void)) {
    static const int waits[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50}; /* in milliseconds, the same as SQLite's own */
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

static bool (*_Atomic is_waiting_run_cancelled)(void);

static int wait_for_lock(void *milliseconds, int attempts) {
    return psql_wait_while_busy(attempts, (double)(intptr_t)milliseconds / 1000, is_waiting_run_cancelled);
}

int psql_wait_cancellably(sqlite3 *db, int milliseconds, bool (*is_cancelled)(void)) {
    is_waiting_run_cancelled = is_cancelled;
    return sqlite3_busy_handler(db, wait_for_lock, (void *)(intptr_t)milliseconds);
}

uint32_t psql_thread_number(void) {
    static _Thread_local uint32_t number;
    if (number == 0) number = (uint32_t)syscall(SYS_gettid);
    return number;
}

uint32_t psql_queue_owner(const void *queue) {
    /* `dq_state` follows a header of seven words. The thread's number is in its lowest 30 bits; the bits above mark that threads are
    ** waiting. */
    const uint32_t *state = (const uint32_t *)((const char *)queue + 7 * sizeof(void *));
    return __atomic_load_n(state, __ATOMIC_ACQUIRE) & 0x3fffffff;
}
