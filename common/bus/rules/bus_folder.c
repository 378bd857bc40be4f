/* bus_folder.c - see bus_folder.h. */
#include "common/bus/rules/bus_folder.h"
#include <stdio.h>

void bus_folder(const char *runtime_dir, enum worker_id worker, char out[108])
{
	snprintf(out, 108, "%s/%s", runtime_dir, worker_infos[worker].name);
}
