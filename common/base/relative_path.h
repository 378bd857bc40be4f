/*
 * relative_path.h - whether a path, by its spelling, stays inside the project.
 */
#pragma once

#include "common/base/str.h"
#include <stdbool.h>

/* True for a relative, non-empty path without a ".." component (P9.22). Says nothing of
 * links: only the file worker, which opens it, can. Pure. */
bool relative_path_inside(struct str path);
