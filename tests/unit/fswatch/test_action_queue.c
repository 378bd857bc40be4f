/* Tests of workers/fswatch/buffers/action_queue.h: a store that refuses some rows gets all others. */
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/buffers/action_queue.h"
#include <event2/event.h>

#define ROWS 5000

static char dir[SCRATCH_SIZE];
static struct event_base *base;
static struct journal journal;
static struct action_queue action_queue;
static int dir_fd;

/* ---- a store that knows how many times each row came, and refuses some ---- */

static int written[ROWS], calls, refusals;
static bool (*refuses)(int row);

struct answer {
	bus_reply_fn *on_reply;
	void *arg;
	struct bus_reply reply;
};

static void answer_later(evutil_socket_t fd, short what, void *arg)
{
	struct answer *answer = arg;

	(void)fd;
	(void)what;
	answer->on_reply(answer->arg, &answer->reply);
	free(answer);
}

static int row_of(yyjson_val *action)
{
	yyjson_val *data = yyjson_obj_get(action, "data");
	const char *path = yyjson_get_str(yyjson_obj_get(data, "path"));

	ck_assert_ptr_nonnull(path);
	return atoi(path);
}

/* In place of the bus. */
void bus_call(struct bus *bus, enum method method, struct str key, struct str body,
	int64_t deadline_ms, bus_reply_fn *on_reply, void *arg)
{
	const struct timeval soon = {0, 0};
	struct answer *answer = calloc(1, sizeof(*answer));
	yyjson_doc *doc = yyjson_read(body.ptr, body.len, 0);
	yyjson_val *actions = yyjson_obj_get(yyjson_doc_get_root(doc), "actions"),
		   *action;
	bool refused = false;
	size_t i, count;

	(void)bus;
	(void)key;
	(void)deadline_ms;
	ck_assert_int_eq(method, METHOD_ACTION_APPEND);
	yyjson_arr_foreach(actions, i, count, action) refused |= refuses(row_of(action));
	yyjson_arr_foreach(actions, i, count, action) written[row_of(action)] += !refused;
	yyjson_doc_free(doc);
	calls++;
	refusals += refused;
	*answer = (struct answer){on_reply, arg, {.status = BUS_OK}};
	if (refused)
		answer->reply = (struct bus_reply){.status = BUS_ERROR,
			.code = STR_LIT("INVALID_MESSAGE"),
			.message = STR_LIT("actions[7].data: no")};
	event_base_once(base, -1, EV_TIMEOUT, answer_later, answer, &soon);
}

static void on_sent(void *arg)
{
	(void)arg;
}

static void on_record(void *arg, enum journal_type type, struct str data)
{
	action_queue_restore(arg, type, data);
}

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR + 1);
	scratch_make(dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	base = event_base_new();
	memset(&action_queue, 0, sizeof(action_queue));
	ck_assert_int_eq(journal_open(&journal, dir_fd, on_record, &action_queue), 0);
	action_queue_init(&action_queue, base, NULL, &journal, on_sent, NULL);
	memset(written, 0, sizeof(written));
	calls = refusals = 0;
}

static void teardown(void)
{
	action_queue_fini(&action_queue);
	journal_close(&journal);
	event_base_free(base);
	close(dir_fd);
	scratch_remove(dir);
}

static void send_all(int rows)
{
	for (int i = 0; i < rows; i++) {
		char path[16];

		snprintf(path, sizeof(path), "%d", i);
		action_queue_add(&action_queue, (struct str){NULL, 0}, ACTION_FILE_OPEN,
			&(struct path_data){.path = str_of(path)});
	}
	ck_assert_int_eq(journal_commit(&journal), 0);
	action_queue_send(&action_queue);
	while (action_queue.count > 0)
		event_base_loop(base, EVLOOP_ONCE);
}

static bool none(int row)
{
	(void)row;
	return false;
}

static bool a_few(int row)
{
	return row == 0 || row == 777 || row == 778 || row == ROWS - 1;
}

static bool all(int row)
{
	(void)row;
	return true;
}

START_TEST(all_rows_arrive)
{
	refuses = none;
	send_all(ROWS);
	for (int i = 0; i < ROWS; i++)
		ck_assert_int_eq(written[i], 1);
	ck_assert_int_le(calls, 4);
}
END_TEST

START_TEST(a_refused_row_goes_alone)
{
	refuses = a_few;
	send_all(ROWS);
	for (int i = 0; i < ROWS; i++)
		ck_assert_msg(written[i] == !a_few(i), "row %d: %d", i, written[i]);
	ck_assert_int_lt(calls, 150);
	/* Nothing of it comes back after a restart. */
	action_queue_fini(&action_queue);
	journal_close(&journal);
	memset(&action_queue, 0, sizeof(action_queue));
	ck_assert_int_eq(journal_open(&journal, dir_fd, on_record, &action_queue), 0);
	ck_assert_uint_eq(action_queue.count, 0);
	action_queue_init(&action_queue, base, NULL, &journal, on_sent, NULL);
}
END_TEST

START_TEST(a_store_that_refuses_all)
{
	refuses = all;
	send_all(300);
	ck_assert_int_eq(calls, refusals);
	ck_assert_int_lt(calls, 300 * 3);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("action_queue");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, all_rows_arrive);
	tcase_add_test(tc, a_refused_row_goes_alone);
	tcase_add_test(tc, a_store_that_refuses_all);
	return check_run(tc);
}
