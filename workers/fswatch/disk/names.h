/*
 * names.h - names of files and directories that are treated in a special way. Pure.
 *
 * noise.def lists the directories that are left out of tree and watch. Names of our own
 * temporary files are made and recognised here, so that a save shows up as one change.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>
#include <sys/types.h>

/* True for a directory of noise.def (FR-034). */
bool names_noise_dir(struct str name);

#define NAMES_TEMP_SIZE 64

/* Name number `n` of a temporary file of this process. */
void names_temp(pid_t pid, uint64_t n, char out[NAMES_TEMP_SIZE]);
/* The process that made a temporary file of ours, or 0 when the name is none. */
pid_t names_temp_owner(struct str name);

/*
 * True for names that editors and other programs give to files which live for a moment
 * only (backups, swap files, files about to be renamed): their appearance is announced
 * late, so that a save through them shows as one change of the file itself (R01, R02).
 */
bool names_short_lived(struct str name);
