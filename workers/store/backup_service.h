/*
 * backup_service.h - copies of paige.db in DATA_DIR/backups, made while the daemon runs.
 *
 * One at a time, each on a thread of its own (backup_file.h). The file is named after the key
 * of the call, so a repeated call is answered with the same copy. The caller removes
 * the copy; one left for BACKUP_SERVICE_KEPT_S is removed at the next start or
 * before the next copy.
 */
#pragma once

struct store;

#define BACKUP_SERVICE_DIRECTORY "backups"
/* More calls than this are not queued but answered BUSY. */
#define BACKUP_SERVICE_MAX_WAITING 8
#define BACKUP_SERVICE_KEPT_S (24 * 60 * 60)

/* Removes half-written copies of killed processes in `data_dir`, and copies left there. */
void backup_service_open(struct store *store, const char *data_dir);
/* Ends a copy that is being made, which takes a moment; calls are refused. */
void backup_service_close(struct store *store);
