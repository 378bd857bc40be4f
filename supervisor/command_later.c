/*
 * command_later.c - commands whose work is done by workers that do not offer it yet. They
 * say so; nothing pretends.
 */
#include "supervisor/paigectl.h"

static int not_available(const char *what)
{
	return paigectl_fail(
		PAIGECTL_FAILED, "%s is not available in this version", what);
}

int paigectl_guard(const struct options *o)
{
	(void)o;
	return not_available("guard");
}
