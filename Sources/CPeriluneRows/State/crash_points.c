/* Crash points: places where tests end the process or a single state, to check how a new one continues with the database.
**
** Tests of whole processes use two environment variables: PERILUNE_CRASH_AT is the number of the point at which SIGKILL is sent, and
** PERILUNE_CRASH_LOG names a file that receives a line for each point. Tests in one process use a handler, which ends the state: nothing
** else runs in it. */
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

static void count_in_process(const char *moment, const char *name) {
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

bool pdb_crash_point(lua_State *L, const char *moment, const char *name) {
    count_in_process(moment, name);
    pdb_state *rows = pdb_state_of(L);
    if (rows->crash_handler == NULL) return false;
    bool may_refuse = pdb_begin_host_call(rows);
    bool is_end = rows->crash_handler(L, rows->crash_context, moment, name, rows->crash_label);
    pdb_end_host_call(rows, may_refuse);
    return is_end;
}

void pdb_set_crash_handler(lua_State *L, pdb_crash_handler handler, void *context) {
    pdb_state *rows = pdb_state_of(L);
    rows->crash_handler = handler;
    rows->crash_context = context;
}

int pdb_lua_crash_point(lua_State *L) {
    if (pdb_crash_point(L, luaL_checkstring(L, 1), luaL_checkstring(L, 2))) plua_raise_cancellation(L);
    return 0;
}

int pdb_lua_crash_label(lua_State *L) {
    pdb_state *rows = pdb_state_of(L);
    if (rows->crash_handler == NULL) return 0;
    snprintf(rows->crash_label, sizeof rows->crash_label, "%s", luaL_checkstring(L, 1));
    if (lua_isstring(L, 2)) {
        size_t length = strlen(rows->crash_label);
        snprintf(rows->crash_label + length, sizeof rows->crash_label - length, " `%s`", lua_tostring(L, 2));
    }
    return 0;
}
