/*
 * problem.h - what is wrong, for people: what failed, where, and what to do.
 */
#ifndef PAIGE_STORE_DB_PROBLEM_H
#define PAIGE_STORE_DB_PROBLEM_H

#include <stdarg.h>
#include <stdio.h>

/* Empty when nothing is wrong. What does not fit is cut. */
struct problem {
	char text[1024];
};

__attribute__((format(printf, 2, 3))) static inline void problem_set(
	struct problem *problem, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
}

#endif
