/*
 * lock.h - one daemon for one DATA_DIR, and for one runtime directory.
 *
 * The lock is one of an open file description (fcntl(2), F_OFD_SETLK) on
 * DATA_DIR/paiged.lock: the kernel takes it back whatever happens to the holder, and
 * others can ask for it without taking it. What is written in the file only tells who
 * holds it and where its sockets are. The file is never removed (that would let two
 * daemons hold two files of one name), only emptied by a clean stop.
 *
 * Whoever takes DATA_DIR away takes the lock along. The sockets of a daemon whose
 * DATA_DIR is gone are kept from the next one by flock(2) on the runtime directory
 * itself.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct lock {
	int fd;
	int runtime_fd; /* -1: not taken */
	bool unclean;	/* the last holder did not get to its end: workers of it may still
			   be there */
};

/* 0; -EAGAIN with the holder's pid (0 when unknown); or another -errno. */
int lock_take(struct lock *l, const char *data_dir, pid_t *holder)
	__attribute__((warn_unused_result));
/* 0; -EAGAIN when another daemon has its sockets there; or another -errno. */
int lock_take_runtime(struct lock *l, const char *runtime_dir)
	__attribute__((warn_unused_result));
/* Is the directory of that name still the one that was taken? */
bool lock_runtime_in_place(const struct lock *l, const char *runtime_dir);
/* Gives it up, to take another one. */
void lock_leave_runtime(struct lock *l);
/* Writes who we are. */
int lock_sign(struct lock *l, const char *runtime_dir)
	__attribute__((warn_unused_result));
/* At the end of a clean stop. */
void lock_release(struct lock *l);

/* For paigectl: who holds the lock of `data_dir`. 0, or -ESRCH when nobody does, or
 * -errno. */
int lock_holder(const char *data_dir, pid_t *pid, char runtime_dir[108])
	__attribute__((warn_unused_result));
