/*
** The parts of process isolation that cannot be written in Swift: variadic system calls, their structures, and signal handlers.
*/
#ifndef PERILUNE_ISOLATION_H
#define PERILUNE_ISOLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* MARK: - Sockets */

/* Sends all bytes. Returns whether it succeeded. Does not raise SIGPIPE if the other end is closed. */
bool piso_send(int descriptor, const void *bytes, size_t size);

/* Sends as many bytes as possible without blocking. Returns their number, or -1 if the connection fails. */
ssize_t piso_try_send(int descriptor, const void *bytes, size_t size);

/* Waits for bytes. Returns their number, or 0 if the connection is closed or fails. Sets `comes_soon` if the wait was shorter
** than the time it takes to wake a thread. The next wait then first polls the socket and yields the processor between polls. */
size_t piso_receive(int descriptor, void *bytes, size_t size, bool *comes_soon);

/* Writes to standard output through stdio, which preserves the order with the program's other output. */
void piso_print(const void *bytes, size_t size);

/* MARK: - Processes */

/* The path, arguments, environment and file descriptors of a new process. */
typedef struct {
    const char *path;
    char *const *arguments;   /* ends with NULL */
    char *const *environment; /* ends with NULL */
    int connection; /* becomes descriptor 3 */
    int last_words; /* becomes descriptor 4 */
    int answers; /* becomes descriptor 5 */
    int input, output, errors; /* become descriptors 0, 1 and 2; -1 inherits */
} piso_program;

/* Creates a non-blocking pipe that is closed on exec. Returns 0, or -1 with errno set. */
int piso_pipe(int ends[2]);

/* Starts a process that inherits only the file descriptors in `program`. Returns 0 or an errno. */
int piso_start(const piso_program *program, pid_t *id);

/* Waits for the end of a process. Returns the signal that ended it, or 256 plus its exit status. */
int piso_wait(pid_t id);

enum { PISO_CONNECTION = 3, PISO_LAST_WORDS = 4, PISO_ANSWERS = 5, PISO_DESCRIPTOR_COUNT = 6 };

/* Forwards SIGINT, SIGTERM and SIGHUP to a process until this process ends. Signals from the terminal are not forwarded, because
** the terminal sends them to both processes. Supports one process only. */
void piso_forward_signals(pid_t id);

/* Makes malloc return large blocks to the system when they are freed. Otherwise malloc keeps up to 64 MB, which a script's
** memory limit does not include. */
void piso_return_freed_blocks(void);

/* Makes all threads allocate from a single heap, because each heap reserves 128 MB of address space. Does nothing without glibc. */
void piso_share_heap(void);

/* MARK: - Last words */

/* The message that a crashing process sends: the signal and, if known, the position of the script. */
typedef struct {
    int32_t signal;
    char place[500]; /* "file:line" with a NUL; empty if unknown */
} piso_last_words;

/* A function that writes a position of at most `size` bytes, including the NUL. It must be safe to call in a signal handler. */
typedef void (*piso_describe)(void *subject, char *place, size_t size);

/* Installs signal handlers that write the last words to a file descriptor when a crash signal or piso_ask_signal() ends the
** process. Call this once, on the thread that runs scripts. Returns 0 or an errno. */
int piso_prepare_last_words(int descriptor, piso_describe describe, void *subject);

/* The signal that asks a process for the position of its script and ends it. */
int piso_ask_signal(void);

/* MARK: - Layers */

/* piso_renounce_privileges prevents this process and its children from gaining privileges, and drops all of root's capabilities
** except the ones for files. piso_forbid_dumps prevents other processes from reading the memory of this process. Each returns 0
** or an errno. */
int piso_renounce_privileges(void);
int piso_forbid_dumps(void);

/* Starts a sanitizer's symbolizer, which must happen before the process loses the right to start programs. Does nothing without
** a sanitizer. */
void piso_prepare_sanitizer(void);

/* The access rights of a rule, for everything below a path. */
enum { PISO_READ = 1, PISO_WRITE = 2, PISO_READ_FILES = 4 /* files by their names, without listing folders */ };
typedef struct {
    const char *path; /* rules for missing paths are ignored */
    int rights;
} piso_path_rule;

/* Returns the version of Landlock, or 0 if the kernel does not support it. */
int piso_landlock_version(void);

/* Restricts the calling thread, and the threads that it starts later, to files below the paths. Also prevents network access and
** signals to other processes. Returns 0 or an errno. */
int piso_restrict_files(const piso_path_rule *rules, size_t count);

/* Returns whether the kernel can filter system calls. */
bool piso_can_filter_calls(void);

/* Restricts all threads to the system calls that a worker process needs. Returns 0 or an errno. */
int piso_restrict_calls(void);

/* Returns the number of threads in the process, or 0 if it is unknown. */
int piso_thread_count(void);

/* Limits the memory of the process to its current use plus `more_in_bytes`. Returns 0 or an errno. */
int piso_limit_memory(uint64_t more_in_bytes);

/* Disables core dumps and limits the number of file descriptors. Returns 0 or an errno. */
int piso_limit_resources(unsigned descriptor_count);

#endif
