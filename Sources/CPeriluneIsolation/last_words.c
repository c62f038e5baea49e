/*
** Signal handlers that report why a process crashes. The memory of the process may be corrupted when a handler runs, so it reads as
** little as possible, and a second signal ends the process immediately.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perilune_isolation.h"

enum { STACK_SIZE = 64 * 1024 };

static int target = -1;
static piso_describe describe_place;
static void *place_subject;
static pthread_t script_thread;
static volatile sig_atomic_t is_dying;

int piso_ask_signal(void) { return SIGXCPU; }

static void end_by(int number) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, number);
    signal(number, SIG_DFL);
    /* Unblock the signal. The thread sanitizer, for example, blocks signals before it calls a handler. */
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    raise(number);
    _exit(128 + number);
}

static void speak(int number) {
    piso_last_words words;
    memset(&words, 0, sizeof words);
    words.signal = number;
    if (describe_place && pthread_equal(pthread_self(), script_thread)) describe_place(place_subject, words.place, sizeof words.place);
    ssize_t written = write(target, &words, sizeof words);
    (void)written;
}

static void handle_crash(int number) {
    if (!is_dying) {
        is_dying = 1;
        speak(number);
    }
    end_by(number);
}

static void handle_question(int number) {
    if (!pthread_equal(pthread_self(), script_thread)) {
        pthread_kill(script_thread, number);
        return;
    }
    if (is_dying) return;
    is_dying = 1;
    speak(number);
    _exit(128 + number);
}

int piso_prepare_last_words(int descriptor, piso_describe describe, void *subject) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    target = descriptor;
    describe_place = describe;
    place_subject = subject;
    script_thread = pthread_self();
    stack_t stack = {.ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE};
    if (!stack.ss_sp) return ENOMEM;
    if (sigaltstack(&stack, NULL) != 0) return errno;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    action.sa_handler = handle_crash;
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (sigaction(crashes[i], &action, NULL) != 0) return errno;
    action.sa_handler = handle_question;
    return sigaction(piso_ask_signal(), &action, NULL) == 0 ? 0 : errno;
}
