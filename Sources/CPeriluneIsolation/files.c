/* Landlock: which files a process may reach. The C library has no functions for it, and Debian's header knows the first versions only. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perilune_isolation.h"

/* From linux/landlock.h. */
enum {
    CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, /* the same on all architectures */
    CREATE_RULESET_VERSION = 1,
    RULE_PATH_BENEATH = 1,
};

enum {
    EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3, REMOVE_DIR = 1 << 4, REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6, MAKE_DIR = 1 << 7, MAKE_REG = 1 << 8, MAKE_SOCK = 1 << 9, MAKE_FIFO = 1 << 10, MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12, REFER = 1 << 13, TRUNCATE = 1 << 14, IOCTL_DEV = 1 << 15,
    BIND_TCP = 1 << 0, CONNECT_TCP = 1 << 1,
    SCOPE_ABSTRACT_SOCKET = 1 << 0, SCOPE_SIGNAL = 1 << 1,
    OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
};

struct ruleset {
    uint64_t files, networks, scopes;
};

struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t parent;
};

int piso_landlock_version(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

/* All rights over files that a version knows. */
static uint64_t known_rights(int version) {
    uint64_t rights = (1 << 13) - 1;
    if (version >= 2) rights |= REFER;
    if (version >= 3) rights |= TRUNCATE;
    if (version >= 5) rights |= IOCTL_DEV;
    return rights;
}

static int allow(int ruleset, const piso_path_rule *rule, uint64_t known) {
    uint64_t rights = 0;
    if (rule->rights & PISO_READ) rights |= READ_FILE | READ_DIR;
    if (rule->rights & PISO_READ_FILES) rights |= READ_FILE;
    if (rule->rights & PISO_WRITE) rights |= WRITE_FILE | TRUNCATE | REMOVE_FILE | REMOVE_DIR | MAKE_REG | MAKE_DIR | REFER;
    int parent = open(rule->path, O_PATH | O_CLOEXEC);
    if (parent < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : errno;
    struct stat information;
    int status = 0;
    if (fstat(parent, &information) != 0) {
        status = errno;
    } else {
        if (!S_ISDIR(information.st_mode)) rights &= OF_FILES;
        struct path_rule wanted = {.allowed = rights & known, .parent = parent};
        if (wanted.allowed != 0 && syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &wanted, 0) != 0) status = errno;
    }
    close(parent);
    return status;
}

int piso_restrict_files(const piso_path_rule *rules, size_t count) {
    int version = piso_landlock_version();
    if (version == 0) return ENOSYS;
    struct ruleset wanted = {.files = known_rights(version)};
    size_t size = sizeof wanted.files;
    if (version >= 4) {
        wanted.networks = BIND_TCP | CONNECT_TCP;
        size += sizeof wanted.networks;
    }
    if (version >= 6) {
        wanted.scopes = SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL;
        size += sizeof wanted.scopes;
    }
    int ruleset = (int)syscall(CREATE_RULESET, &wanted, size, 0);
    if (ruleset < 0) return errno;
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) status = allow(ruleset, &rules[i], wanted.files);
    if (status == 0 && syscall(RESTRICT_SELF, ruleset, 0) != 0) status = errno;
    close(ruleset);
    return status;
}

/* MARK: - What is as short */

/* Of what root may do, a database can need these: it may belong to another user. */
static const uint32_t kept_capabilities = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER;

int piso_renounce_privileges(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, data) != 0) return errno;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        uint32_t kept = i == 0 ? kept_capabilities : 0;
        data[i].effective &= kept;
        data[i].permitted &= kept;
        data[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

int piso_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno; }

int piso_thread_count(void) {
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static int lower(int resource, rlim_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return errno;
    if (value >= limit.rlim_max) value = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = value;
    return setrlimit(resource, &limit) == 0 ? 0 : errno;
}

/* What the process has of what RLIMIT_DATA counts: private memory that can be written. */
static uint64_t data_in_bytes(void) {
    FILE *file = fopen("/proc/self/status", "re");
    if (!file) return 0;
    char line[256];
    unsigned long long kilobytes = 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmData: %llu", &kilobytes) == 1) break;
    fclose(file);
    return (uint64_t)kilobytes * 1024;
}

int piso_limit_memory(uint64_t more_in_bytes) { return lower(RLIMIT_DATA, data_in_bytes() + more_in_bytes); }

int piso_limit_resources(unsigned descriptor_count) {
    int status = lower(RLIMIT_CORE, 0);
    return status != 0 ? status : lower(RLIMIT_NOFILE, descriptor_count);
}
