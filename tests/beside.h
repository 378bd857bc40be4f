/*
 * beside.h - test cases that wait more than they work, beside each other. Check runs the
 * cases of a program one after another; here each has a process of its own. For cases that
 * share nothing and measure nothing.
 */
#pragma once

#include "tests/check_run.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BESIDE_MAX 4 /* cases at a time */

struct beside {
	SFun set_up, tear_down; /* around each case */
	double seconds;		/* that a case may take */
};

struct beside_lane {
	pid_t pid; /* 0: it is free */
	int said;  /* what its case wrote */
};

static inline _Noreturn void beside_case(const struct beside *how, const TTest *test)
{
	TCase *tc = tcase_create(test->name);

	tcase_set_timeout(tc, how->seconds);
	tcase_add_checked_fixture(tc, how->set_up, how->tear_down);
	tcase_add_test(tc, test);
	exit(check_run(tc));
}

static inline void beside_start(
	struct beside_lane *lane, const struct beside *how, const TTest *test)
{
	lane->said = memfd_create("said", 0);
	fflush(stdout);
	lane->pid = fork();
	if (lane->said < 0 || lane->pid < 0) {
		perror("beside");
		abort();
	}
	if (lane->pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* on which Check ends the case */
	dup2(lane->said, STDOUT_FILENO);
	dup2(lane->said, STDERR_FILENO);
	close(lane->said);
	beside_case(how, test);
}

/* Waits for a case to end and says what it said. Whether it went well. */
static inline bool beside_end(struct beside_lane lanes[BESIDE_MAX])
{
	char text[4096];
	int status = 0;
	pid_t pid = waitpid(-1, &status, 0);
	ssize_t n;

	for (int i = 0; i < BESIDE_MAX; i++) {
		if (lanes[i].pid != pid)
			continue;
		lseek(lanes[i].said, 0, SEEK_SET);
		while ((n = read(lanes[i].said, text, sizeof(text))) > 0)
			fwrite(text, 1, (size_t)n, stdout);
		close(lanes[i].said);
		lanes[i].pid = 0;
	}
	return status == 0;
}

/* Runs all cases, at most BESIDE_MAX at a time, those in front first. The exit code. */
static inline int beside_run(
	const struct beside *how, const TTest *const *tests, size_t count)
{
	struct beside_lane lanes[BESIDE_MAX] = {{.pid = 0}};
	size_t begun = 0, ended = 0;
	bool good = true;

	while (ended < count) {
		if (begun < count && begun - ended < BESIDE_MAX) {
			int free_lane = 0;

			while (lanes[free_lane].pid > 0)
				free_lane++;
			beside_start(&lanes[free_lane], how, tests[begun++]);
		} else {
			good = beside_end(lanes) && good;
			ended++;
		}
	}
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
