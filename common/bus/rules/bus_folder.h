/*
 * bus_folder.h - where a worker's sockets are.
 */
#ifndef PAIGE_COMMON_BUS_RULES_BUS_FOLDER_H
#define PAIGE_COMMON_BUS_RULES_BUS_FOLDER_H

#include "proto/tables/workers.h"

/* The names of its sockets: one for calls, one for events. */
#define BUS_CALLS_SOCKET "rep"
#define BUS_EVENTS_SOCKET "pub"

/* RUNTIME_DIR/<name>: only that worker may create sockets there. */
void bus_folder(const char *runtime_dir, enum worker_id worker, char out[108]);

#endif
