/*
** The seccomp filter for the system calls of a worker process. It allows the calls that libraries need to compute, to wait and to
** use files. Calls that only an attacker would make kill the process. All other calls fail with EPERM, which libraries handle.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perilune_isolation.h"

#if defined(__x86_64__)
enum { ARCHITECTURE = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { ARCHITECTURE = AUDIT_ARCH_AARCH64 };
#else
enum { ARCHITECTURE = 0 };
#endif

/* Older headers do not define this number. */
#ifndef __NR_futex_waitv
#define __NR_futex_waitv 449
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* System calls that are allowed with any arguments. */
static const int allowed[] = {
    /* memory */
    __NR_brk, __NR_munmap, __NR_mremap, __NR_madvise, __NR_msync, __NR_mincore, __NR_membarrier,
    /* open files */
    __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_pread64, __NR_pwrite64, __NR_preadv, __NR_pwritev, __NR_lseek, __NR_close,
    __NR_fstat, __NR_fsync, __NR_fdatasync, __NR_ftruncate, __NR_fallocate, __NR_flock, __NR_fstatfs, __NR_fchmod, __NR_fchown,
    __NR_dup, __NR_dup3, __NR_getdents64, __NR_sync_file_range, __NR_fadvise64,
    /* files by name; Landlock restricts these calls */
    __NR_openat, __NR_newfstatat, __NR_statx, __NR_faccessat, __NR_faccessat2, __NR_unlinkat, __NR_mkdirat, __NR_renameat2,
    __NR_readlinkat, __NR_getcwd, __NR_statfs, __NR_truncate, __NR_utimensat,
    /* waiting */
    __NR_futex, __NR_futex_waitv, __NR_nanosleep, __NR_clock_nanosleep, __NR_ppoll, __NR_pselect6, __NR_epoll_create1, __NR_epoll_ctl,
    __NR_epoll_pwait, __NR_eventfd2, __NR_timerfd_create, __NR_timerfd_settime, __NR_timerfd_gettime, __NR_sched_yield, __NR_pipe2,
    __NR_restart_syscall,
    /* the connection, which is an open socket */
    __NR_sendto, __NR_recvfrom, __NR_shutdown,
    /* signals within the process */
    __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_rt_sigtimedwait, __NR_rt_sigsuspend,
    __NR_rt_sigpending, __NR_sigaltstack,
    /* threads */
    __NR_set_robust_list, __NR_get_robust_list, __NR_rseq, __NR_set_tid_address, __NR_exit, __NR_exit_group,
    /* queries */
    __NR_clock_gettime, __NR_clock_getres, __NR_gettimeofday, __NR_getpid, __NR_gettid, __NR_getppid, __NR_getuid, __NR_geteuid,
    __NR_getgid, __NR_getegid, __NR_getrandom, __NR_uname, __NR_sysinfo, __NR_getrusage, __NR_times, __NR_sched_getaffinity,
    __NR_sched_getparam, __NR_sched_getscheduler, __NR_getpriority, __NR_umask,
#if defined(__x86_64__)
    __NR_open, __NR_stat, __NR_lstat, __NR_access, __NR_unlink, __NR_mkdir, __NR_rmdir, __NR_rename, __NR_renameat, __NR_readlink,
    __NR_poll, __NR_select, __NR_epoll_wait, __NR_dup2, __NR_pipe, __NR_time, __NR_arch_prctl, __NR_getrlimit,
#else
    __NR_renameat,
#endif
};

/* System calls that only an attacker would make. */
static const int fatal[] = {
    __NR_execve, __NR_execveat, __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_bpf, __NR_userfaultfd,
    __NR_perf_event_open, __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register, __NR_mount, __NR_umount2, __NR_pivot_root,
    __NR_chroot, __NR_unshare, __NR_setns, __NR_add_key, __NR_request_key, __NR_keyctl, __NR_init_module, __NR_finit_module,
    __NR_delete_module, __NR_kexec_load, __NR_reboot, __NR_swapon, __NR_open_by_handle_at,
};

/* MARK: - The program */

enum { LONGEST = 800 };

typedef struct {
    struct sock_filter code[LONGEST];
    unsigned short length;
} program;

static void add(program *p, unsigned short code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    if (p->length < LONGEST) p->code[p->length] = (struct sock_filter){code, if_true, if_false, value};
    p->length++;
}

static void load(program *p, size_t offset) { add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }
static void answer(program *p, uint32_t verdict) { add(p, BPF_RET | BPF_K, verdict, 0, 0); }
static void load_number(program *p) { load(p, offsetof(struct seccomp_data, nr)); }

/* Loads the lower 32 bits of an argument, which come first in memory on both architectures. */
static void load_argument(program *p, int index) { load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)index); }

static void answer_if(program *p, uint32_t value, uint32_t verdict) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(p, verdict);
}

static const uint32_t refusal = SECCOMP_RET_ERRNO | EPERM;

/* Allows a call if the given argument has one of the values. */
static void allow_values(program *p, int number, int argument, const uint32_t *values, int count) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, (uint8_t)(2 + 2 * count));
    load_argument(p, argument);
    for (int i = 0; i < count; i++) answer_if(p, values[i], SECCOMP_RET_ALLOW);
    answer(p, refusal);
}

/* Allows a call if the given argument has no bit of `none` and all bits of `all`. */
static void allow_bits(program *p, int number, int argument, uint32_t none, uint32_t all) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 6);
    load_argument(p, argument);
    add(p, BPF_JMP | BPF_JSET | BPF_K, none, 3, 0);
    add(p, BPF_ALU | BPF_AND | BPF_K, all, 0, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, all, 0, 1);
    answer(p, SECCOMP_RET_ALLOW);
    answer(p, refusal);
}

static void build(program *p) {
    static const uint32_t descriptor_commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW,
                                                   F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW};
    static const uint32_t terminal_questions[] = {TCGETS, TIOCGWINSZ, FIONREAD};
    static const uint32_t own_settings[] = {PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_GET_DUMPABLE, PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS};
    uint32_t self = (uint32_t)getpid();
    uint32_t own_process[] = {self}, this_process[] = {0, self};

    load(p, offsetof(struct seccomp_data, arch));
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)ARCHITECTURE, 1, 0);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load_number(p);
#if defined(__x86_64__)
    add(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 has other call numbers */
    answer(p, SECCOMP_RET_KILL_PROCESS);
#endif
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) answer_if(p, (uint32_t)allowed[i], SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) answer_if(p, (uint32_t)fatal[i], SECCOMP_RET_KILL_PROCESS);
    /* A filter cannot read the flags of clone3, which are in memory. After ENOSYS, the C library uses clone instead. */
    answer_if(p, __NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    answer_if(p, __NR_openat2, SECCOMP_RET_ERRNO | ENOSYS);
    allow_bits(p, __NR_clone, 0, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS, CLONE_THREAD | CLONE_VM);
    allow_bits(p, __NR_mmap, 2, PROT_EXEC, 0);
    allow_bits(p, __NR_mprotect, 2, PROT_EXEC, 0);
    allow_values(p, __NR_fcntl, 1, descriptor_commands, sizeof descriptor_commands / sizeof *descriptor_commands);
    allow_values(p, __NR_ioctl, 1, terminal_questions, sizeof terminal_questions / sizeof *terminal_questions);
    allow_values(p, __NR_prctl, 0, own_settings, sizeof own_settings / sizeof *own_settings);
    allow_values(p, __NR_tgkill, 0, own_process, 1);
    allow_values(p, __NR_prlimit64, 0, this_process, 2);
    answer(p, refusal);
}

bool piso_can_filter_calls(void) {
    uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return ARCHITECTURE != 0 && syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int piso_restrict_calls(void) {
    if (ARCHITECTURE == 0) return ENOSYS;
    static program p;
    p.length = 0;
    build(&p);
    if (p.length > LONGEST) return E2BIG;
    struct sock_fprog filter = {.len = p.length, .filter = p.code};
    /* With TSYNC, seccomp applies the filter to all threads, or returns the id of a thread that cannot use it. */
    long status = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    return status == 0 ? 0 : status > 0 ? ESRCH : errno;
}
