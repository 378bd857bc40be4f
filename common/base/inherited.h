/*
 * inherited.h - which environment variables a program of Paige passes to the programs
 * that it starts.
 */
#pragma once

#include <stdbool.h>

/* Each takes "NAME=value". What any program needs to run, and cannot be a secret. */
bool inherited_harmless(const char *entry);
/* How the network is reached: proxies, and the certificates that are trusted. A proxy's
 * address may hold a password. */
bool inherited_network(const char *entry);
