/* bus_retry.c - what becomes of a call whose owner went away (bus_retry.h). */
#include "common/bus/bus_retry.h"
#include "proto/tables/errors.h"
#include <stdio.h>

enum bus_fate bus_fate_of(
	unsigned flags, bool sent, struct mono deadline, struct mono now)
{
	if (now.us >= deadline.us)
		return BUS_FATE_TIMEOUT;
	if (sent && !(flags & (METHOD_READ | METHOD_KEYED)))
		return BUS_FATE_RESET;
	return BUS_FATE_REPEAT;
}

int bus_pause_ms(unsigned failures)
{
	int pause = BUS_PAUSE_MIN_MS;

	for (unsigned i = 1; i < failures && pause < BUS_PAUSE_MAX_MS; i++)
		pause *= 2;
	return pause < BUS_PAUSE_MAX_MS ? pause : BUS_PAUSE_MAX_MS;
}

const char *bus_failure_code(enum bus_status status)
{
	switch (status) {
	case BUS_TIMEOUT:
		return error_code_infos[ERROR_TIMEOUT].name;
	case BUS_STOPPED:
	case BUS_RESET:
		return error_code_infos[ERROR_UNAVAILABLE].name;
	case BUS_NOT_ENABLED:
		return error_code_infos[ERROR_NOT_FOUND].name;
	case BUS_REFUSED:
		return error_code_infos[ERROR_BUSY].name;
	case BUS_TOO_BIG:
		return error_code_infos[ERROR_TOO_BIG].name;
	case BUS_OK:
	case BUS_ERROR:
		break;
	}
	return error_code_infos[ERROR_INTERNAL_ERROR].name;
}

void bus_failure_text(
	enum bus_status status, enum method method, char out[BUS_FAILURE_SIZE])
{
	const struct worker_info *worker = &worker_infos[method_infos[method].owner];
	const char *name = method_infos[method].name;
	const char *format = "The %s worker could not answer %s";

	switch (status) {
	case BUS_TIMEOUT:
		format = "The %s worker did not answer %s in time; try again";
		break;
	case BUS_RESET:
		format =
			"The %s worker stopped before it answered %s; check what it did, "
			"then try again";
		break;
	case BUS_REFUSED:
		format = "The %s worker has too much to do to take %s; try again later";
		break;
	case BUS_STOPPED:
		format = "The %1$s worker is stopped and cannot answer %2$s; `paigectl "
			 "start %1$s` starts it";
		break;
	case BUS_NOT_ENABLED:
		snprintf(out, BUS_FAILURE_SIZE, "%s is not running: %s is not set",
			worker->name, worker->needs_setting);
		return;
	case BUS_TOO_BIG:
		format = "The request to the %s worker or its answer is too big (%s)";
		break;
	case BUS_OK:
	case BUS_ERROR:
		break;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(out, BUS_FAILURE_SIZE, format, worker->name, name);
#pragma GCC diagnostic pop
}
