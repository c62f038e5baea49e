/*
** Watches SQLite's writes to files. Only xWrite is replaced in the methods of a file, so reading costs nothing.
*/
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <perilune_files.h>

/* The I/O methods of one kind of file, with xWrite replaced. */
typedef struct {
    sqlite3_io_methods base; /* first member: a file points to it */
    const sqlite3_io_methods *original;
    bool is_database;
} watched_methods;

enum { most_kinds = 16 }; /* SQLite has six, because it supports several kinds of locks */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static watched_methods kinds[most_kinds]; /* added under the lock, never changed */
static int kind_count;
static int (*original_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *); /* the function of SQLite's own VFS */
static psql_may_write *_Atomic may_write;

void psql_ask_before_writes(psql_may_write *function) { atomic_store(&may_write, function); }

/* Returns whether a write may belong to a rollback, which only writes pages that the database already had. Refusing it would leave the
** rollback to the next process. */
static bool may_roll_back(const watched_methods *methods, sqlite3_file *file, int size, sqlite3_int64 offset) {
    sqlite3_int64 length = 0;
    return methods->is_database && methods->original->xFileSize(file, &length) == SQLITE_OK && offset + size <= length;
}

static int write_watched(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    const watched_methods *methods = (const watched_methods *)file->pMethods;
    psql_may_write *allows = atomic_load_explicit(&may_write, memory_order_relaxed);
    if (allows && !allows(size) && !may_roll_back(methods, file, size, offset)) return SQLITE_FULL;
    return methods->original->xWrite(file, bytes, size, offset);
}

/* Returns the watched version of a file's methods, or NULL if there are too many kinds. The caller holds the lock. */
static const watched_methods *find_kind(const sqlite3_io_methods *original, bool is_database) {
    for (int i = 0; i < kind_count; i++) {
        if (kinds[i].original == original && kinds[i].is_database == is_database) return &kinds[i];
    }
    if (kind_count == most_kinds) return NULL;
    watched_methods *kind = &kinds[kind_count++];
    *kind = (watched_methods){*original, original, is_database};
    kind->base.xWrite = write_watched;
    return kind;
}

static void watch(sqlite3_file *file, bool is_database) {
    if (file == NULL || file->pMethods == NULL || file->pMethods->xWrite == write_watched) return;
    pthread_mutex_lock(&lock);
    const watched_methods *kind = find_kind(file->pMethods, is_database);
    pthread_mutex_unlock(&lock);
    if (kind) file->pMethods = &kind->base;
}

static int open_watched(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *flags_out) {
    int code = original_open(vfs, path, file, flags, flags_out);
    if (code == SQLITE_OK) watch(file, flags & SQLITE_OPEN_MAIN_DB);
    return code;
}

/* Makes a built-in VFS watch the files that it opens. Copies of this VFS, such as the VFSs with a clock, open files through the same
** function and are watched, too. Returns false for other VFSs. */
static bool watch_file_system(sqlite3_vfs *vfs) {
    pthread_mutex_lock(&lock);
    sqlite3_vfs *standard = sqlite3_vfs_find("unix");
    if (original_open == NULL && standard) original_open = standard->xOpen;
    bool is_own = vfs->xOpen == open_watched || (original_open && vfs->xOpen == original_open);
    if (vfs->xOpen == original_open) __atomic_store_n(&vfs->xOpen, open_watched, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return is_own;
}

int psql_watch_files(sqlite3 *handle) {
    sqlite3_vfs *vfs = NULL;
    int code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
    if (code != SQLITE_OK || vfs == NULL || !watch_file_system(vfs)) return code;
    for (int i = 0; sqlite3_db_name(handle, i); i++) {
        sqlite3_file *file = NULL;
        if (sqlite3_file_control(handle, sqlite3_db_name(handle, i), SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK) watch(file, i != 1);
        file = NULL;
        if (sqlite3_file_control(handle, sqlite3_db_name(handle, i), SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK) watch(file, false);
    }
    return SQLITE_OK;
}
