/* Tests of what /metrics says of processes (workers/gateway/http/metrics_text.h). */
#include "tests/check_run.h"
#include "workers/gateway/http/metrics_text.h"
#include <stdlib.h>
#include <string.h>

static void assert_has(const struct buf *out, const char *line)
{
	char *text = strndup(out->data, out->len);

	ck_assert_msg(strstr(text, line) != NULL, "%s\nis not in\n%s", line, text);
	free(text);
}

START_TEST(tells_of_each_process)
{
	struct ctl_worker workers[] = {
		{.name = STR_LIT("gateway"),
			.has_pid = true,
			.rss_bytes = 9000000,
			.cpu_ms = 1250,
			.uptime_ms = 2500},
		{.name = STR_LIT("llm")}, /* in backoff */
	};
	const struct ctl_status status = {.version = STR_LIT("1.2.3"),
		.rss_bytes = 4096,
		.cpu_ms = 10,
		.uptime_ms = 4000,
		.log_lines_dropped = 7,
		.disk_bytes = 2000,
		.has_disk_bytes = true,
		.disk_free_bytes = 500,
		.has_disk_free_bytes = true,
		.workers = {.items = workers, .count = 2}};
	struct buf out = {0};

	metrics_put_status(&status, (struct wall){1800000000500000}, &out);
	assert_has(&out, "paige_build_info{version=\"1.2.3\"} 1\n");
	assert_has(&out, "paige_process_resident_memory_bytes{worker=\"paiged\"} "
			 "4096\npaige_process_resident_memory_bytes{worker=\"gateway\"} "
			 "9000000\n# ");
	assert_has(&out,
		"paige_process_cpu_seconds_total{worker=\"paiged\"} "
		"0.01\npaige_process_cpu_seconds_total{worker=\"gateway\"} 1.25\n# ");
	assert_has(&out, "paige_process_start_time_seconds{worker=\"paiged\"} "
			 "1799999996.5\npaige_process_start_time_seconds{worker="
			 "\"gateway\"} 1799999998\n# ");
	assert_has(&out, "paige_log_lines_dropped_total 7\n");
	assert_has(&out, "paige_disk_size_bytes 2000\n");
	assert_has(&out, "paige_disk_free_bytes 500\n");
	buf_free(&out);
}
END_TEST

START_TEST(leaves_out_a_disk_that_is_not_known)
{
	const struct ctl_status status = {.version = STR_LIT("1\"2\\3\n")};
	struct buf out = {0};

	metrics_put_status(&status, (struct wall){0}, &out);
	assert_has(&out, "paige_build_info{version=\"1\\\"2\\\\3\\n\"} 1\n");
	buf_add_char(&out, '\0');
	ck_assert_ptr_null(strstr(out.data, "paige_disk"));
	buf_free(&out);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("text");

	tcase_add_test(tc, tells_of_each_process);
	tcase_add_test(tc, leaves_out_a_disk_that_is_not_known);
	return check_run(tc);
}
