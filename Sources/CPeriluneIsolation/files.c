/* Landlock rules for the files that a process may access. The C library has no functions for Landlock, and Debian's header
** defines only its first versions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perilune_isolation.h"

/* Constants from linux/landlock.h. */
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

/* Returns all file access rights that a version of Landlock supports. */
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
