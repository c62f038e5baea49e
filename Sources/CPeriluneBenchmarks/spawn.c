/* Measures the run time of whole processes. */
#define _GNU_SOURCE /* wait4 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "perilune_benchmarks.h"

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

perilune_process_time perilune_time_process(char *const *arguments) {
    static const perilune_process_time failed = {-1, -1};
    extern char **environ;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    pid_t process;
    double start = perilune_monotonic_seconds();
    int failure = posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    struct rusage usage;
    if (failure != 0 || wait4(process, &status, 0, &usage) != process) return failed;
    double elapsed = perilune_monotonic_seconds() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed;
    return (perilune_process_time){elapsed, seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}
