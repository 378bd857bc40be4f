/*
 * bus_folder.h - where a worker's sockets are.
 */
#pragma once

#include "proto/tables/workers.h"

/* The names of its sockets: one for calls, one for events. */
#define BUS_CALLS_SOCKET "rep"
#define BUS_EVENTS_SOCKET "pub"

/* RUNTIME_DIR/<name>: only that worker may create sockets there. */
void bus_folder(const char *runtime_dir, enum worker_id worker, char out[108]);
