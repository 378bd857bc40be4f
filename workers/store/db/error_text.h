/*
 * error_text.h - an error text for people: what failed, where, and what to do.
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>

/* Empty when nothing is wrong. Text that does not fit is truncated. */
struct error_text {
	char text[1024];
};

__attribute__((format(printf, 2, 3))) static inline void error_text_set(
	struct error_text *problem, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
}
