/*
 * backups.h - copies of paige.db in DATA_DIR/backups, made while everything goes on.
 *
 * One at a time, each on a thread of its own (backup.h). The file is named after the key
 * of the call, so a repeated call is answered with the same copy. Who asked takes it
 * away; a copy that nobody took within BACKUPS_KEPT_S is removed at the next start or
 * before the next copy.
 */
#ifndef PAIGE_STORE_BACKUPS_H
#define PAIGE_STORE_BACKUPS_H

struct store;

#define BACKUPS_DIRECTORY "backups"
/* More calls than this are not queued but answered BUSY. */
#define BACKUPS_MAX_WAITING 8
#define BACKUPS_KEPT_S (24 * 60 * 60)

/* Removes what killed processes left half-written in `data_dir`, and what nobody took. */
void backups_open(struct store *store, const char *data_dir);
/* Ends a copy that is being made, which takes a moment; calls are refused. */
void backups_close(struct store *store);

#endif
