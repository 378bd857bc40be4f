/*
 * backup_request.h - POST /backup: a copy of the database while the daemon runs, for paigectl.
 */
#pragma once

struct gateway;
struct http_request;

/* Answers {path, bytes} of a file in DATA_DIR/backups, which the caller has to remove. */
void backup_request_handle(struct gateway *g, struct http_request *request);
