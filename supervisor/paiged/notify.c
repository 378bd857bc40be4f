/* notify.c - see notify.h. Called by daemon.c, paiged.c and process.c. */
#include "supervisor/paiged/notify.h"

#include "common/base/clock.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/param.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>

void notify_ready(void)
{
	(void)sd_notify(0, "READY=1\nSTATUS=All workers are ready");
}

void notify_reloading(void)
{
	(void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, clock_mono().us);
}

void notify_stopping(void)
{
	(void)sd_notify(0, "STOPPING=1\nSTATUS=Stopping");
}

void notify_status(const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	(void)sd_notifyf(0, "STATUS=%s", text);
}

int notify_final_exit_code(void)
{
	return getenv("NOTIFY_SOCKET") ? EX_CONFIG : EXIT_FAILURE;
}

void notify_alive(void)
{
	if (sd_watchdog_enabled(0, NULL) > 0)
		(void)sd_notify(0, "WATCHDOG=1");
}

int64_t notify_alive_every_ms(void)
{
	uint64_t limit_us;

	if (sd_watchdog_enabled(0, &limit_us) <= 0)
		return INT64_MAX;
	/* sd_watchdog_enabled(3) asks for half of it; a busy machine may be late. */
	return MAX((int64_t)(limit_us / 4000), 1);
}
