/* runtime.c - see runtime.h. */
#include "supervisor/paiged/runtime.h"
#include "common/base/log.h"
#include "supervisor/paiged/ctl.h"
#include "supervisor/paiged/directories.h"
#include "supervisor/shared/lock.h"
#include <errno.h>
#include <string.h>

int runtime_take(struct daemon *d, struct buf *problem)
{
	int error;

	settings_runtime_dir(&d->settings, d->runtime_dir);
	error = directories_make_runtime(d->runtime_dir, problem);
	if (error)
		return error;
	error = lock_take_runtime(&d->lock, d->runtime_dir);
	if (error == -EAGAIN)
		buf_printf(problem,
			"another paiged has its sockets in %s: its DATA_DIR was removed "
			"while it runs, or both have the same RUNTIME_DIRECTORY. Stop "
			"that one first.",
			d->runtime_dir);
	else if (error)
		buf_printf(
			problem, "cannot lock %s: %s", d->runtime_dir, strerror(-error));
	return error;
}

/* Takes a directory again, here or elsewhere, and writes down where. */
static bool take_again(struct daemon *d)
{
	AUTO_BUF problem = {0};
	int error;

	lock_leave_runtime(&d->lock);
	error = runtime_take(d, &problem);
	if (error == 0)
		error = lock_sign(&d->lock, d->runtime_dir);
	if (error && !d->runtime_lost)
		log_error(
			"the directory of the sockets is gone and cannot be made again; "
			"trying on",
			"problem", "%.*s", STR_ARG(buf_str(&problem)), "error", "%s",
			strerror(-error), NULL);
	d->runtime_lost = error != 0;
	return error == 0;
}

static void restart_all(struct daemon *d)
{
	for (int i = 0; i < WORKER_COUNT; i++) {
		struct process *p = &d->processes.workers[i];

		if (process_wanted(p) && p->policy.state != POLICY_PARKED)
			process_step(p, POLICY_RESTART);
	}
}

static void open_ctl(struct daemon *d)
{
	ctl_free(d->ctl);
	d->ctl = ctl_new(d);
	if (!d->ctl)
		log_error("paigectl will not reach the daemon: no control socket",
			"directory", "%s", d->runtime_dir, "error", "%s", strerror(errno),
			NULL);
}

void runtime_check(struct daemon *d)
{
	if (d->processes.shared.stopping)
		return;
	if (lock_runtime_in_place(&d->lock, d->runtime_dir)) {
		if (d->ctl && !ctl_in_place(d->ctl)) {
			log_warn("the control socket is gone and is made again", NULL);
			open_ctl(d);
		}
		return;
	}
	if (!d->runtime_lost)
		log_warn("the directory of the sockets is gone", "directory", "%s",
			d->runtime_dir, NULL);
	if (!take_again(d))
		return;
	log_warn("the directory of the sockets was made again; all workers are restarted",
		"directory", "%s", d->runtime_dir, NULL);
	open_ctl(d);
	restart_all(d);
}
