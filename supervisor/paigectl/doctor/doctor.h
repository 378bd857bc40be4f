/*
 * doctor.h - the checks of `paigectl doctor`.
 *
 * Each looks at one thing, changes nothing, takes a few seconds at most, and says what to
 * do. `paigectl doctor` prints what they find; the supervisor runs `paigectl doctor --json` for the
 * windows of whoever runs the daemon.
 */
#pragma once

#include "supervisor/paigectl/paigectl.h"

#define DOCTOR_FINDINGS_MAX 200

struct doctor {
	const struct settings *settings;
	const struct daemon_place *place;
	bool of_daemon; /* the settings are those of the running daemon, secrets masked */
	int troubles, notes;
	bool json; /* findings are kept, to be printed as one line */
	struct doctor_finding findings[DOCTOR_FINDINGS_MAX];
	size_t count;
	struct arena arena; /* their texts */
};

/* One line, and with advice a second one. */
void doctor_say(struct doctor *d, enum finding_grade grade, const char *what,
	const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* doctor_machine.c */
void doctor_directories(struct doctor *d);
void doctor_limits(struct doctor *d);
void doctor_kernel(struct doctor *d);
void doctor_gh(struct doctor *d);
/* doctor_network.c */
void doctor_daemon(struct doctor *d);
void doctor_key(struct doctor *d);
void doctor_memory(struct doctor *d);
