/*
 * gh_helper.h - paige-gh, the process that starts gh for the llm worker.
 *
 * The worker may start no program and write no file; gh must do both. So the worker
 * starts paige-gh before it is confined, with an environment without the key for Claude,
 * and asks it over a socket (SOCK_SEQPACKET, GH_HELPER_FD there).
 *
 * A request is one packet: the directory and the arguments, each ended by a NUL, with
 * GH_REQUEST_FDS descriptors: where gh writes its output, where it writes its errors, and
 * one end of a control socket of this run. On that one comes one int32_t: how gh ended,
 * as waitpid tells it, or -errno when it could not be started. When the other end of the
 * control socket closes before, gh is killed with all that it started.
 */
#pragma once

#define GH_HELPER_FD 3
#define GH_REQUEST_MAX 16384
#define GH_ARGUMENTS_MAX 32
#define GH_REQUEST_FDS 3
/* So many at once; more are refused with -EAGAIN. */
#define GH_RUNS_MAX 16
