/* supervisor.h - the name under which the supervisor logs, beside those of workers.h. */
#ifndef PAIGE_PROTO_TABLES_SUPERVISOR_H
#define PAIGE_PROTO_TABLES_SUPERVISOR_H

#define SUPERVISOR_NAME "paiged"

#endif
