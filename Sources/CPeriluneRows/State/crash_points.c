/* Places at which tests kill the process, to see what the next one makes of the database. Two environment variables control them:
** PERILUNE_CRASH_AT is the number of the point at which SIGKILL comes; PERILUNE_CRASH_LOG names a file that gets a line for each point. */
#include "CPeriluneRows/State/state.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static long wanted = 0; /* 0: none */
static int log_file = -1;
static atomic_long count = 0;

static void read_environment(void) {
    const char *number = getenv("PERILUNE_CRASH_AT"), *path = getenv("PERILUNE_CRASH_LOG");
    if (number != NULL) wanted = strtol(number, NULL, 10);
    if (path != NULL) log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

void pdb_crash_point(const char *moment, const char *name) {
    pthread_once(&once, read_environment);
    if (wanted == 0 && log_file < 0) return;
    long number = atomic_fetch_add(&count, 1) + 1;
    if (log_file >= 0) {
        char line[256];
        int length = snprintf(line, sizeof line, "%ld %s %s\n", number, moment, name);
        if (length > 0 && write(log_file, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1) < 0) return;
    }
    if (number == wanted) kill(getpid(), SIGKILL);
}

int pdb_lua_crash_point(lua_State *L) {
    pdb_crash_point(luaL_checkstring(L, 1), luaL_checkstring(L, 2));
    return 0;
}
