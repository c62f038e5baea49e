/* Functions for sockets and processes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "perilune_isolation.h"

bool piso_send(int descriptor, const void *bytes, size_t size) {
    const char *next = bytes;
    while (size > 0) {
        ssize_t count = send(descriptor, next, size, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        next += count;
        size -= (size_t)count;
    }
    return true;
}

ssize_t piso_try_send(int descriptor, const void *bytes, size_t size) {
    size_t sent = 0;
    while (sent < size) {
        ssize_t count = send(descriptor, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (count <= 0) return -1;
        sent += (size_t)count;
    }
    return (ssize_t)sent;
}

static int64_t microseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

size_t piso_receive(int descriptor, void *bytes, size_t size, bool *comes_soon) {
    enum { soon_in_microseconds = 200 };
    int64_t begin = microseconds_now();
    bool is_awake = *comes_soon;
    for (;;) {
        ssize_t count = recv(descriptor, bytes, size, is_awake ? MSG_DONTWAIT : 0);
        if (count < 0 && errno == EINTR) continue;
        bool has_nothing = is_awake && count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        *comes_soon = microseconds_now() - begin < soon_in_microseconds;
        if (!has_nothing) return count > 0 ? (size_t)count : 0;
        is_awake = *comes_soon;
        if (is_awake) sched_yield();
    }
}

void piso_print(const void *bytes, size_t size) {
    fwrite(bytes, 1, size, stdout);
    fflush(stdout);
}

int piso_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

/* The lowest number to which inherited descriptors are first moved. It is above all target numbers. */
enum { FIRST_FREE = 16 };

/* Adds an action that duplicates `descriptor` of this process to descriptor `place` of the new process. */
static int add(posix_spawn_file_actions_t *actions, int descriptor, int place) {
    return descriptor < 0 ? 0 : posix_spawn_file_actions_adddup2(actions, descriptor, place);
}

static int start(const piso_program *program, const int *descriptors, pid_t *id) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int status = posix_spawn_file_actions_init(&actions);
    if (status != 0) return status;
    status = posix_spawnattr_init(&attributes);
    if (status == 0) {
        for (int place = 0; place < PISO_DESCRIPTOR_COUNT && status == 0; place++) status = add(&actions, descriptors[place], place);
        if (status == 0) status = posix_spawn_file_actions_addclosefrom_np(&actions, PISO_DESCRIPTOR_COUNT);
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        /* Reset crash signals to their defaults. The new process inherits all other ignored signals. */
        sigemptyset(&all);
        for (int number = SIGILL; number <= SIGSEGV; number++)
            if (number != SIGKILL) sigaddset(&all, number);
        sigaddset(&all, SIGSYS);
        sigaddset(&all, SIGPIPE);
        sigaddset(&all, piso_ask_signal());
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (status == 0) status = posix_spawn(id, program->path, &actions, &attributes, program->arguments, program->environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

int piso_start(const piso_program *program, pid_t *id) {
    int given[] = {program->input, program->output, program->errors, program->connection, program->last_words, program->answers};
    int high[PISO_DESCRIPTOR_COUNT];
    int status = 0;
    /* Move all descriptors above the target numbers, so that no descriptor is overwritten before it is duplicated. */
    for (int place = 0; place < PISO_DESCRIPTOR_COUNT; place++) {
        high[place] = given[place] < 0 ? -1 : fcntl(given[place], F_DUPFD_CLOEXEC, FIRST_FREE);
        if (given[place] >= 0 && high[place] < 0) status = errno;
    }
    if (status == 0) status = start(program, high, id);
    for (int place = 0; place < PISO_DESCRIPTOR_COUNT; place++)
        if (high[place] >= 0) close(high[place]);
    return status;
}

int piso_wait(pid_t id) {
    int status = 0;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {}
    return WIFSIGNALED(status) ? WTERMSIG(status) : 256 + WEXITSTATUS(status);
}

/* MARK: - Signals */

static pid_t receiver;

/* Does not forward signals from a terminal, which sends them to all processes of the group. */
static void forward(int number, siginfo_t *information, void *context) {
    (void)context;
    int former = errno;
    if (information->si_code <= 0) kill(receiver, number);
    errno = former;
}

void piso_forward_signals(pid_t id) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    receiver = id;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {0}, former;
        if (sigaction(numbers[i], NULL, &former) != 0 || former.sa_handler == SIG_IGN) continue;
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        action.sa_sigaction = forward;
        sigaction(numbers[i], &action, NULL);
    }
}

void piso_share_heap(void) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}

void piso_return_freed_blocks(void) {
#ifdef __GLIBC__
    /* Set both thresholds. Otherwise malloc raises them when large blocks are freed. */
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}
