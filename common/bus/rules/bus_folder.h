/*
 * bus_folder.h - where the sockets of a worker lie.
 */
#ifndef PAIGE_COMMON_BUS_RULES_BUS_FOLDER_H
#define PAIGE_COMMON_BUS_RULES_BUS_FOLDER_H

#include "proto/tables/workers.h"

/* Its sockets: where it is called, and where its events are heard. */
#define BUS_CALLS_SOCKET "rep"
#define BUS_EVENTS_SOCKET "pub"

/* RUNTIME_DIR/<name>: only that worker may make any there. */
void bus_folder(const char *runtime_dir, enum worker_id worker, char out[108]);

#endif
