/* supervisor.h - the name under which the supervisor logs, beside those of workers.h. */
#pragma once

#define SUPERVISOR_NAME "paiged"
