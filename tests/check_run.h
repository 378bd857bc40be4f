/*
 * check_run.h - the end of each test program that uses Check.
 */
#pragma once

#include <check.h>
#include <errno.h>
#include <stdlib.h>

/* Adds the test once for each row of the array `table`; _i is the number of the row. */
#define check_add_table(tc, test, table)                                                 \
	tcase_add_loop_test(tc, test, 0, (int)(sizeof(table) / sizeof((table)[0])))

/* Runs test cases, which it takes over, and returns what main returns. */
#define check_run(...) check_run_cases((TCase *[]){__VA_ARGS__, NULL})

static inline int check_run_cases(TCase **cases)
{
	Suite *suite = suite_create(program_invocation_short_name);
	SRunner *runner = srunner_create(suite);
	int failed;

	while (*cases)
		suite_add_tcase(suite, *cases++);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
