/*
 * places.h - what paiged makes and paigectl looks for: names in the runtime directory and
 * in DATA_DIR.
 */
#ifndef PAIGE_SUPERVISOR_SHARED_PLACES_H
#define PAIGE_SUPERVISOR_SHARED_PLACES_H

/* In the runtime directory (ctl.h). */
#define CTL_SOCKET "ctl.sock"
/* DATA_DIR/logs/<name>.log and its older ones <name>.log.1 to .4 (log_file.h). */
#define LOG_FILES 5

#endif
