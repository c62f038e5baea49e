/* Blobs that are open for reading and writing in pieces: they end with their access. */
#include "CPeriluneRows/Connections/connections.h"

pdb_open_blob *pdb_add_open_blob(pdb_access *access, sqlite3_blob *handle) {
    pdb_open_blob *blob = malloc(sizeof *blob);
    if (blob == NULL) return NULL;
    *blob = (pdb_open_blob){.handle = handle, .access = access, .next = access->blobs, .link = &access->blobs};
    if (blob->next) blob->next->link = &blob->next;
    access->blobs = blob;
    return blob;
}

int pdb_close_open_blob(pdb_open_blob *blob) {
    if (blob->handle == NULL) return SQLITE_OK;
    *blob->link = blob->next;
    if (blob->next) blob->next->link = blob->link;
    int code = sqlite3_blob_close(blob->handle);
    blob->handle = NULL;
    blob->access = NULL;
    if (blob->is_abandoned) free(blob);
    return code;
}

void pdb_abandon_open_blob(pdb_open_blob *blob) {
    if (blob->handle) blob->is_abandoned = true;
    else free(blob);
}

void pdb_close_open_blobs(pdb_access *access, bool only_abandoned) {
    pdb_open_blob *next = access->blobs;
    while (next) {
        pdb_open_blob *blob = next;
        next = blob->next;
        if (!only_abandoned || blob->is_abandoned) pdb_close_open_blob(blob);
    }
}
