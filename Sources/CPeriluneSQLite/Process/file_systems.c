/* Detection of network file systems. */
#include <stddef.h>

#include <perilune_files.h>

#ifdef __linux__
#include <sys/vfs.h>

/* The types of NFS, SMB, CIFS, SMB2, AFS, Coda, Ceph, 9P, Lustre, GFS2 and OCFS2; see statfs(2). */
static const unsigned networks[] = {0x6969, 0x517B, 0xFF534D42, 0xFE534D42, 0x5346414F, 0x73757245,
                                    0x00C36400, 0x01021997, 0x0BD00BD0, 0x01161970, 0x7461636F};

bool psql_is_on_network(const char *path) {
    struct statfs information;
    if (statfs(path, &information) != 0) return false;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        if ((unsigned)information.f_type == networks[i]) return true;
    }
    return false;
}
#else
#include <sys/mount.h>
#include <sys/param.h>

bool psql_is_on_network(const char *path) {
    struct statfs information;
    return statfs(path, &information) == 0 && (information.f_flags & MNT_LOCAL) == 0;
}
#endif
