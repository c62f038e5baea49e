/*
** What a process needs of Linux to run a script that is not trusted, and Swift cannot reach: variadic system calls, their structures,
** and signal handlers.
*/
#ifndef PERILUNE_ISOLATION_H
#define PERILUNE_ISOLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* MARK: - Sockets */

/* Sends all bytes; no signal if the other end is closed. Returns whether it could. */
bool piso_send(int descriptor, const void *bytes, size_t size);

/* Sends what goes without waiting. Returns the number of bytes, or -1 if the connection fails. */
ssize_t piso_try_send(int descriptor, const void *bytes, size_t size);

/* Waits for bytes. Returns their number; 0 at the end, and where the connection fails. `comes_soon` says whether the last bytes came so soon that
** to be woken would take longer: then it waits awake at first, and whatever else is to run goes first. */
size_t piso_receive(int descriptor, void *bytes, size_t size, bool *comes_soon);

/* Writes to standard output as print of Lua does, behind what the program has written there. */
void piso_print(const void *bytes, size_t size);

/* MARK: - Processes */

/* What a process is started with. */
typedef struct {
    const char *path;
    char *const *arguments;   /* ends with NULL */
    char *const *environment; /* ends with NULL */
    int connection; /* becomes descriptor 3 */
    int last_words; /* becomes descriptor 4 */
    int answers; /* becomes descriptor 5 */
    int input, output, errors; /* become 0, 1 and 2; -1: those of this process */
} piso_program;

/* Makes a pipe that no process inherits, and on which nothing waits. Returns 0, or -1 and errno. */
int piso_pipe(int ends[2]);

/* Starts a process that inherits nothing else. Returns 0, or an errno. */
int piso_start(const piso_program *program, pid_t *id);

/* Waits for the end of a process. Returns the signal that ended it, or 256 and the status with which it ended itself. */
int piso_wait(pid_t id);

enum { PISO_CONNECTION = 3, PISO_LAST_WORDS = 4, PISO_ANSWERS = 5, PISO_DESCRIPTOR_COUNT = 6 };

/* Passes on the signals by which programs are asked to end, unless they come from a terminal, which sends them to both. For the life of
** this process, and one other. */
void piso_forward_signals(pid_t id);

/* Has large blocks of memory go back to the system as soon as they are freed. Else the C library keeps up to 64 MB of them, which the
** limit of a script does not see. */
void piso_return_freed_blocks(void);

/* Makes all threads allocate from one heap: each heap reserves 128 MB of addresses. Does nothing without glibc. */
void piso_share_heap(void);

/* MARK: - Last words */

/* What a process says as it dies: the signal, and where its script was, as far as that is known. */
typedef struct {
    int32_t signal;
    char place[500]; /* "file:line", ends with NUL; empty: unknown */
} piso_last_words;

/* Writes a place, of at most `size` bytes with its NUL, and does nothing that a signal handler may not. */
typedef void (*piso_describe)(void *subject, char *place, size_t size);

/* Has the process write its last words to a descriptor when a signal ends it, and when piso_ask_signal() comes, which ends it too. To be called on
** the thread that runs scripts, once. Returns 0, or an errno. */
int piso_prepare_last_words(int descriptor, piso_describe describe, void *subject);

/* The signal by which a process is asked where its script is, and ended. */
int piso_ask_signal(void);

/* MARK: - Layers */

/* Gives up gaining privileges for this process and those that it starts, and what root may do beyond files; takes its memory from other
** processes. Each returns 0, or an errno. */
int piso_renounce_privileges(void);
int piso_forbid_dumps(void);

/* Starts the program by which a sanitizer names the functions of its reports, while programs can be started; without one it does nothing. */
void piso_prepare_sanitizer(void);

/* What may be done below a path. */
enum { PISO_READ = 1, PISO_WRITE = 2, PISO_READ_FILES = 4 /* by names that are known: no folder is listed */ };
typedef struct {
    const char *path; /* rules for what is not there are left out */
    int rights;
} piso_path_rule;

/* The version of Landlock; 0 if it is not there. */
int piso_landlock_version(void);

/* Takes all files from the calling thread, and from those that it starts, but those below the paths; all networks, and signals to others.
** Returns 0, or an errno. */
int piso_restrict_files(const piso_path_rule *rules, size_t count);

/* Whether system calls can be filtered. */
bool piso_can_filter_calls(void);

/* Takes the system calls from all threads that a script's process has no use for. Returns 0, or an errno. */
int piso_restrict_calls(void);

/* The number of threads of the process; 0 if it is unknown. */
int piso_thread_count(void);

/* Limits what the process may allocate to what it uses now and more. Returns 0, or an errno. */
int piso_limit_memory(uint64_t more_in_bytes);

/* Limits what else the system limits: no memory dumps, few descriptors. Returns 0, or an errno. */
int piso_limit_resources(unsigned descriptor_count);

#endif
