/*
 * fault.h - what went wrong with a file, in words for people.
 *
 * Errors of this program's own kinds lie outside the range of errno.
 */
#pragma once

enum fault {
	FAULT_CONFLICT = 5001, /* the file on disk is not the version that was edited */
	FAULT_BINARY,	       /* an editor was never given its content */
	FAULT_PROJECT_GONE,    /* or another one is in its place */
	FAULT_NOT_REGULAR,     /* a FIFO, socket or device */
	FAULT_TOO_BIG,	       /* more than a client may be sent */
};

/*
 * Says why something with a file failed, to go behind its path: "does not exist".
 * `error` is an errno or a fault, positive or negative. Good until the next call in the
 * same thread.
 */
const char *fault_text(int error);
