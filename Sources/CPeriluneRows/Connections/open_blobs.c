/* Blobs that are open for reading and writing in pieces. They are closed when their access ends. */
#include <perilune_long_functions.h>

#include "CPeriluneRows/Connections/connections.h"

pdb_open_blob *pdb_add_open_blob(pdb_access *access, sqlite3_blob *handle) {
    pdb_open_blob *blob = malloc(sizeof *blob);
    if (blob == NULL) return NULL;
    *blob = (pdb_open_blob){.handle = handle, .access = access, .next = access->blobs, .link = &access->blobs};
    if (blob->next) blob->next->link = &blob->next;
    access->blobs = blob;
    return blob;
}

int pdb_permit_writing(pdb_open_blob *blob, const char *schema) {
    char *sql = sqlite3_mprintf(PSQL_OWN_SQL "SELECT 1 FROM \"%w\".sqlite_schema LIMIT 0", schema);
    int code = sql ? sqlite3_prepare_v2(blob->access->connection->handle, sql, -1, &blob->witness, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

/*
** Detects that the row or table of a blob no longer exists. SQLite checks this only after it has called the update hook, with the table and
** row from the time when the blob was opened. The hook would read freed memory.
*/
int pdb_check_writing(pdb_open_blob *blob) {
    blob->access->connection->write_count++;
    int code = sqlite3_step(blob->witness);
    sqlite3_reset(blob->witness);
    if (code != SQLITE_DONE) return code;
    if (sqlite3_stmt_status(blob->witness, SQLITE_STMTSTATUS_REPREPARE, 0) > 0) return SQLITE_SCHEMA;
    char none;
    return sqlite3_blob_read(blob->handle, &none, 0, 0);
}

int pdb_close_open_blob(pdb_open_blob *blob) {
    if (blob->handle == NULL) return SQLITE_OK;
    sqlite3_finalize(blob->witness);
    blob->witness = NULL;
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
