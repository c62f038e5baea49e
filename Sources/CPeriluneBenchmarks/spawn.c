/* Times whole processes. */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "perilune_benchmarks.h"

double perilune_time_process(char *const *arguments) {
    extern char **environ;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    pid_t process;
    double start = perilune_monotonic_seconds();
    int failure = posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    if (failure != 0 || waitpid(process, &status, 0) != process) return -1;
    double elapsed = perilune_monotonic_seconds() - start;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? elapsed : -1;
}
