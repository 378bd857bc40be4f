/*
 * Tests of workers/guard-engine/breakloop/breakloop.h: the decision table, and an exhaustive
 * exploration of a small world that checks the invariants BL-I1 to BL-I6 at every
 * step.
 */
#include "tests/check_run.h"
#include "tests/unit/guard-engine/guard_script.h"
#include "workers/guard-engine/breakloop/breakloop.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* As ck_assert, which writes to a file at each call: the exploration makes some millions. */
#define hot_assert(expr)                                                                 \
	do {                                                                             \
		if (!(expr))                                                             \
			ck_abort_msg("%s", #expr);                                       \
	} while (0)

/* ---- the decision table (BL-R1 to BL-R6, B1) ---- */

enum timer { OFF, ON };

struct row {
	const char *what;
	bool monitored;
	enum breakloop_phase phase;
	enum timer intention, quick_task, suppressed;
	int remaining;
	enum breakloop_action action;
	const char *reason;
};

#define ANY_QUOTA -1

static const struct row table[] = {
	{"row 1", false, BREAKLOOP_IDLE, OFF, OFF, OFF, ANY_QUOTA, BREAKLOOP_NO_ACTION,
		"NOT_MONITORED"},
	{"row 2", true, BREAKLOOP_INTERVENTION_ACTIVE, OFF, OFF, OFF, ANY_QUOTA,
		BREAKLOOP_NO_ACTION, "ALREADY_ACTIVE_SESSION"},
	{"row 2 before row 3 (B10)", true, BREAKLOOP_INTERVENTION_ACTIVE, ON, OFF, OFF,
		ANY_QUOTA, BREAKLOOP_NO_ACTION, "ALREADY_ACTIVE_SESSION"},
	{"row 3 idle", true, BREAKLOOP_IDLE, ON, OFF, OFF, ANY_QUOTA, BREAKLOOP_NO_ACTION,
		"T_INTENTION_ACTIVE"},
	{"row 3 quick task", true, BREAKLOOP_QUICK_TASK_ACTIVE, ON, ON, OFF, ANY_QUOTA,
		BREAKLOOP_NO_ACTION, "T_INTENTION_ACTIVE"},
	{"row 3 dialog", true, BREAKLOOP_POST_QUICK_TASK_CHOICE, ON, OFF, OFF, ANY_QUOTA,
		BREAKLOOP_NO_ACTION, "T_INTENTION_ACTIVE"},
	{"row 4", true, BREAKLOOP_QUICK_TASK_ACTIVE, OFF, ON, OFF, ANY_QUOTA,
		BREAKLOOP_NO_ACTION, "T_QUICK_TASK_ACTIVE"},
	{"B1 dialog", true, BREAKLOOP_POST_QUICK_TASK_CHOICE, OFF, OFF, OFF, ANY_QUOTA,
		BREAKLOOP_NO_ACTION, "POST_CHOICE_ACTIVE"},
	{"B1 idle with a quick task", true, BREAKLOOP_IDLE, OFF, ON, OFF, ANY_QUOTA,
		BREAKLOOP_NO_ACTION, "T_QUICK_TASK_ACTIVE"},
	{"B5", true, BREAKLOOP_IDLE, OFF, OFF, ON, ANY_QUOTA, BREAKLOOP_NO_ACTION,
		"SUPPRESSION_QUIT"},
	{"row 5", true, BREAKLOOP_IDLE, OFF, OFF, OFF, 1, BREAKLOOP_QUICK_TASK,
		"START_QUICK_TASK"},
	{"row 5 more", true, BREAKLOOP_IDLE, OFF, OFF, OFF, 1000, BREAKLOOP_QUICK_TASK,
		"START_QUICK_TASK"},
	{"row 6", true, BREAKLOOP_IDLE, OFF, OFF, OFF, 0, BREAKLOOP_INTERVENTION,
		"START_INTERVENTION"},
};

static void create(struct breakloop *s, const char *config)
{
	struct machine_defaults defaults = {.timezone = STR_LIT("UTC")};
	struct arena arena = {0};
	struct proto_error error;
	yyjson_doc *doc = proto_parse(str_of(config), &error);

	ck_assert_msg(breakloop_machine.create(yyjson_doc_get_root(doc), &defaults,
			      &arena, s, &error) == 0,
		"%s", error.text);
	yyjson_doc_free(doc);
	arena_free(&arena);
}

START_TEST(test_table)
{
	const struct row *row = &table[_i];
	static struct breakloop s;
	const int64_t at = 1000;
	int from = row->remaining == ANY_QUOTA ? 0 : row->remaining;
	int to = row->remaining == ANY_QUOTA ? 3 : row->remaining;

	create(&s, "{\"monitored\":[\"a\"]}");
	s.apps[0] = (struct breakloop_app){
		.phase = row->phase,
		.intention_until_ms = row->intention ? at + 1 : 0,
		.quick_task_until_ms = row->quick_task ? at + 1 : 0,
		.suppressed_until_ms = row->suppressed ? at + 1 : 0,
	};
	for (s.quota.remaining = from; s.quota.remaining <= to; s.quota.remaining++) {
		struct breakloop_verdict v =
			breakloop_decide(&s, row->monitored ? 0 : BREAKLOOP_OTHER, at);

		ck_assert_msg(
			v.action == row->action && strcmp(v.reason, row->reason) == 0,
			"%s: %d %s", row->what, v.action, v.reason);
	}
}
END_TEST

/* A timer that ends at this very moment is over. */
START_TEST(test_timers_end_at_their_time)
{
	static struct breakloop s;

	create(&s, "{\"monitored\":[\"a\"],\"nQuickTask\":0}");
	s.apps[0].intention_until_ms = 1000;
	ck_assert_str_eq(breakloop_decide(&s, 0, 999).reason, "T_INTENTION_ACTIVE");
	ck_assert_int_eq(breakloop_decide(&s, 0, 999).left_ms, 1);
	ck_assert_str_eq(breakloop_decide(&s, 0, 1000).reason, "START_INTERVENTION");
}
END_TEST

struct bad_config {
	const char *config, *error;
};

static const struct bad_config bad_configs[] = {
	{"{\"windowHours\":2}", "config.windowHours: expected 1, 4, 12 or 24"},
	{"{\"windowHours\":0}",
		"config.windowHours: expected an integer from 1 to 24, got 0"},
	{"{\"nQuickTask\":-1}",
		"config.nQuickTask: expected an integer from 0 to 1000, got -1"},
	{"{\"quickTaskMs\":0}",
		"config.quickTaskMs: expected an integer from 1 to 86400000, got 0"},
	{"{\"timezone\":\"/etc/passwd\"}", "config.timezone: expected a name of the time "
					   "zone database, like Europe/Berlin"},
	{"{\"monitored\":[\"a\",\"b\",\"a\"]}",
		"config.monitored: a name stands there twice"},
	{"{\"monitored\":[\"\"]}", "config.monitored: a name has 1 to 255 bytes"},
	{"{\"monitored\":\"a\"}", "config.monitored: expected an array of strings"},
	{"{\"nQuickTasks\":3}",
		"config.nQuickTasks: unknown field, did you mean \"nQuickTask\"?"},
};

START_TEST(test_bad_config)
{
	static struct breakloop s;
	struct machine_defaults defaults = {.timezone = STR_LIT("UTC")};
	struct arena arena = {0};
	struct proto_error error;
	yyjson_doc *doc = proto_parse(str_of(bad_configs[_i].config), &error);

	ck_assert_int_lt(breakloop_machine.create(
				 yyjson_doc_get_root(doc), &defaults, &arena, &s, &error),
		0);
	ck_assert_str_eq(error.text, bad_configs[_i].error);
	yyjson_doc_free(doc);
	arena_free(&arena);
}
END_TEST

/* As many apps with as long names as there is room for. */
START_TEST(test_bounds)
{
	static struct breakloop s;
	struct str names[BREAKLOOP_MAX_APPS];
	char text[BREAKLOOP_MAX_APPS][64];
	struct machine_defaults defaults = {.timezone = STR_LIT("UTC")};
	struct arena arena = {0};
	struct proto_error error;
	struct buf config = {0};
	struct breakloop_config c = {.monitored = {names, BREAKLOOP_MAX_APPS}};
	yyjson_doc *doc;

	for (int i = 0; i < BREAKLOOP_MAX_APPS; i++) {
		memset(text[i], 'x', sizeof(text[i]));
		text[i][0] = (char)('0' + i);
		names[i] = (struct str){text[i], sizeof(text[i])};
	}
	proto_encode(breakloop_config_type(), &c, &config);
	doc = proto_parse(buf_str(&config), &error);
	ck_assert_msg(breakloop_machine.create(yyjson_doc_get_root(doc), &defaults,
			      &arena, &s, &error) == 0,
		"%s", error.text);
	ck_assert_int_eq(s.app_count, BREAKLOOP_MAX_APPS);
	for (int i = 0; i < BREAKLOOP_MAX_APPS; i++)
		ck_assert_int_eq(breakloop_find(&s, names[i]), i);
	yyjson_doc_free(doc);
	buf_free(&config);
	arena_free(&arena);
}
END_TEST

/* ---- exploration ---- */

/*
 * The world: two monitored apps and another one; times in steps of half the time after
 * which somebody is certainly away. Every event that can happen is tried in every state
 * that can be reached, until no new state turns up. Times in a state are kept as
 * distances, so that the states are finitely many.
 */
#define UNIT_MS (BREAKLOOP_AWAY_MS / 2)
#define QUICK_TASK_MS (2 * UNIT_MS)
#define INTENTION_MS (2 * UNIT_MS)
#define ACTIVITY_MS (2 * UNIT_MS)
#define WINDOW_MS (INT64_C(3600000))

#define MAX_STATES 400000
#define HASH_SLOTS (1 << 20)

/*
 * What is different from state to state in the world. Times are distances from now, and
 * how old an entry or an exit is only matters while it is young. The window of the quota
 * has no place here: every event is tried in the window that was, and in the next one.
 */
struct key {
	int foreground, entered_app, left_app;
	enum breakloop_phase cleared_phase;
	int64_t entered, left, remaining;
	struct breakloop_app apps[2];
};

struct seen {
	struct breakloop world; /* the first state; what is constant is taken from it */
	struct key *keys;
	int count;
	int *slots;
	long transitions;
};

static const char *const world_apps[] = {"a", "b", "other"};

/* Of a timer that runs; 0 for one that does not. A timer may be over while it is not
 * certain that the user is away. */
#define FAR_MS (INT64_C(1) << 40)

static int64_t distance(int64_t until_ms, int64_t now_ms)
{
	return until_ms ? until_ms - now_ms + FAR_MS : 0;
}

static struct key key_of(const struct breakloop *s)
{
	int64_t now = s->base.at_ms;
	struct key key;

	memset(&key, 0, sizeof(key));
	key.foreground = s->foreground;
	key.entered_app = key.left_app = BREAKLOOP_NOBODY;
	key.remaining = s->quota.remaining;
	if (s->entered_app >= 0 && now - s->entered_at_ms < BREAKLOOP_SAME_ENTRY_MS) {
		key.entered_app = s->entered_app;
		key.entered = now - s->entered_at_ms;
	}
	if (s->left_app >= 0 && now - s->left_at_ms < BREAKLOOP_AWAY_MS) {
		key.left_app = s->left_app;
		key.left = now - s->left_at_ms;
		key.cleared_phase = s->cleared_phase;
	}
	for (int i = 0; i < 2; i++) {
		const struct breakloop_app *a = &s->apps[i];

		key.apps[i].phase = a->phase;
		key.apps[i].step = a->step;
		key.apps[i].preserved = a->preserved;
		key.apps[i].intention_until_ms = distance(a->intention_until_ms, now);
		key.apps[i].quick_task_until_ms = distance(a->quick_task_until_ms, now);
		key.apps[i].activity_until_ms = distance(a->activity_until_ms, now);
		if (a->suppressed_until_ms > now)
			key.apps[i].suppressed_until_ms =
				distance(a->suppressed_until_ms, now);
	}
	return key;
}

static int64_t moment(int64_t distance_ms)
{
	return distance_ms ? SCRIPT_START_MS + distance_ms - FAR_MS : 0;
}

/* The state of a key, now being the start. */
static void state_of(const struct seen *seen, int at, struct breakloop *s)
{
	const struct key *key = &seen->keys[at];

	memcpy(s, &seen->world, sizeof(*s));
	s->foreground = key->foreground;
	snprintf(s->foreground_name, sizeof(s->foreground_name), "%s",
		key->foreground >= 0		     ? world_apps[key->foreground]
		: key->foreground == BREAKLOOP_OTHER ? "other"
						     : "");
	s->entered_app = key->entered_app;
	s->entered_at_ms = SCRIPT_START_MS - key->entered;
	s->left_app = key->left_app;
	s->left_at_ms = SCRIPT_START_MS - key->left;
	s->cleared_phase = key->cleared_phase;
	s->quota.remaining = key->remaining;
	for (int i = 0; i < 2; i++) {
		s->apps[i] = key->apps[i];
		s->apps[i].intention_until_ms = moment(key->apps[i].intention_until_ms);
		s->apps[i].quick_task_until_ms = moment(key->apps[i].quick_task_until_ms);
		s->apps[i].activity_until_ms = moment(key->apps[i].activity_until_ms);
		s->apps[i].suppressed_until_ms = moment(key->apps[i].suppressed_until_ms);
	}
}

static uint32_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

/* Adds a state unless an equal one was reached before. */
static void reach(struct seen *seen, const struct breakloop *s)
{
	struct key key = key_of(s);
	uint32_t slot = hash_bytes(&key, sizeof(key)) % HASH_SLOTS;

	for (; seen->slots[slot]; slot = (slot + 1) % HASH_SLOTS)
		if (memcmp(&key, &seen->keys[seen->slots[slot] - 1], sizeof(key)) == 0)
			return;
	hot_assert(seen->count < MAX_STATES);
	memcpy(&seen->keys[seen->count], &key, sizeof(key));
	seen->slots[slot] = ++seen->count;
}

/* What one event caused, for the invariants. */
struct outcome {
	int quick_tasks, interventions, dialogs, homes, resumes;
};

static struct outcome outcome_of(const struct machine_out *out)
{
	struct outcome o = {0};

	for (int i = 0; i < out->count; i++) {
		o.quick_tasks += out->items[i].type == BREAKLOOP_START_QUICK_TASK;
		o.interventions += out->items[i].type == BREAKLOOP_START_INTERVENTION;
		o.dialogs += out->items[i].type == BREAKLOOP_SHOW_POST_CHOICE;
		o.homes += out->items[i].type == BREAKLOOP_GO_HOME;
		o.resumes += out->items[i].type == BREAKLOOP_RESUME;
	}
	return o;
}

/* Holds in every state. */
static void check_state(const struct breakloop *s)
{
	hot_assert(s->quota.remaining >= 0);
	hot_assert(s->quota.remaining <= s->quota.limit);
	/* A timer that is over is dealt with before anything else. */
	hot_assert(breakloop_machine.deadline(s) > s->base.at_ms);
	for (int i = 0; i < s->app_count; i++) {
		const struct breakloop_app *a = &s->apps[i];

		/* Invariant 1: the quick task runs in its phase alone, and no other timer
		 * with it. */
		hot_assert((a->quick_task_until_ms != 0) ==
			   (a->phase == BREAKLOOP_QUICK_TASK_ACTIVE));
		if (a->phase != BREAKLOOP_INTERVENTION_ACTIVE)
			hot_assert(
				!a->activity_until_ms && !a->preserved && a->step == 0);
		if (a->intention_until_ms)
			hot_assert(a->phase == BREAKLOOP_IDLE);
		if (a->suppressed_until_ms)
			hot_assert(a->phase == BREAKLOOP_IDLE);
		/* The dialog is only ever shown on the app. */
		if (a->phase == BREAKLOOP_POST_QUICK_TASK_CHOICE)
			hot_assert(s->foreground == i);
		/* Invariant 3: an intervention off the app is one that is preserved, and
		 * only such. */
		if (a->phase == BREAKLOOP_INTERVENTION_ACTIVE)
			hot_assert(a->preserved == (s->foreground != i));
	}
}

/* Holds for every step. */
static void check_step(const struct breakloop *before, const struct machine_event *e,
	const struct breakloop *after, const struct machine_out *out)
{
	struct outcome o = outcome_of(out);
	bool rolled = e->facts.has_window_start_ms &&
		      e->facts.window_start_ms >= before->quota.window.end_ms;
	int64_t had = rolled ? before->quota.limit : before->quota.remaining;

	hot_assert(o.quick_tasks + o.interventions <= 1);
	/* Invariant 4: each start takes one from the quota at once, and nothing else
	 * takes any. */
	hot_assert(after->quota.remaining == had - o.quick_tasks);
	if (out->decision)
		hot_assert(
			out->decision->action.len > 0 && out->decision->reason.len > 0);
	for (int i = 0; i < after->app_count; i++) {
		const struct breakloop_app *was = &before->apps[i], *is = &after->apps[i];
		bool started =
			is->phase == BREAKLOOP_QUICK_TASK_ACTIVE &&
			(was->phase != BREAKLOOP_QUICK_TASK_ACTIVE ||
				was->quick_task_until_ms != is->quick_task_until_ms);

		/* Invariant 2: an intention is only ended by its time; nothing starts
		 * under it. */
		if (was->intention_until_ms > e->at_ms)
			hot_assert(is->intention_until_ms == was->intention_until_ms &&
				   is->phase == BREAKLOOP_IDLE);
		/* Invariants 2 and 3: a quick task is neither paused nor extended, nor
		 * cut short. */
		if (was->quick_task_until_ms > e->at_ms)
			hot_assert(is->quick_task_until_ms == was->quick_task_until_ms);
		if (started)
			hot_assert(is->quick_task_until_ms == (e->at_ms + QUICK_TASK_MS));
		/* Invariant 6: an intention that ends on the app is an intervention,
		 * whatever the quota. */
		if (was->intention_until_ms && !is->intention_until_ms &&
			before->foreground == i && e->type == ITEM_TICK)
			hot_assert(is->phase == BREAKLOOP_INTERVENTION_ACTIVE &&
				   o.interventions == 1);
		/* Off the app no timer starts anything. */
		if (e->type == ITEM_TICK && before->foreground != i)
			hot_assert(
				is->phase == was->phase || is->phase == BREAKLOOP_IDLE);
	}
	if (e->type == ITEM_TICK)
		hot_assert(o.quick_tasks + o.homes + o.resumes == 0);
}

/* Takes one event from a state and keeps where it leads. False when it was refused. */
static bool try_event(struct seen *seen, int from, const struct machine_event *e)
{
	static struct breakloop before, after;
	static struct machine_out out;
	int err;

	state_of(seen, from, &before);
	memcpy(&after, &before, sizeof(after));
	err = machine_step(&breakloop_machine, &after, e, &out);
	hot_assert(err == 0 || err == -EPERM);
	if (err) {
		/* A refusal leaves everything as it was. */
		hot_assert(memcmp(&before, &after, sizeof(before)) == 0);
		return false;
	}
	seen->transitions++;
	check_state(&after);
	check_step(&before, e, &after, &out);
	reach(seen, &after);
	return true;
}

/* Invariant 5 and the rest of B9: quitting leaves nothing behind. */
static void check_quit(const struct seen *seen, int from, int app, int64_t at_ms)
{
	static struct breakloop s;
	static struct machine_out out;
	struct breakloop_choice choice = {
		.app = str_of(world_apps[app]), .choice = BREAKLOOP_QUIT};
	struct machine_event e = {
		.type = BREAKLOOP_CHOICE, .at_ms = at_ms, .fields = &choice};

	state_of(seen, from, &s);
	if (machine_step(&breakloop_machine, &s, &e, &out) != 0)
		return;
	hot_assert(s.apps[app].phase == BREAKLOOP_IDLE);
	hot_assert(s.apps[app].quick_task_until_ms == 0);
	hot_assert(outcome_of(&out).homes == 1);
}

/* Every event at the time of the state, in the window it is in or in the next one. */
static void explore_events(struct seen *seen, int from, bool next_window)
{
	struct machine_event e = {.at_ms = SCRIPT_START_MS};

	e.facts.has_wall_ms = e.facts.has_window_start_ms = e.facts.has_window_end_ms =
		true;
	e.facts.wall_ms = e.at_ms;
	e.facts.window_start_ms = SCRIPT_START_MS + (next_window ? WINDOW_MS : 0);
	e.facts.window_end_ms = e.facts.window_start_ms + WINDOW_MS;
	for (int app = 0; app < 3; app++) {
		struct breakloop_app_event place = {.app = str_of(world_apps[app])};
		struct breakloop_duration d = {
			.app = place.app, .duration_ms = INTENTION_MS};
		struct breakloop_choice c = {.app = place.app};
		struct breakloop_step_event step = {.app = place.app};

		e.fields = &place;
		for (e.type = BREAKLOOP_APP_ENTERED; e.type <= BREAKLOOP_APP_EXITED;
			e.type++)
			try_event(seen, from, &e);
		e.fields = &c;
		e.type = BREAKLOOP_CHOICE;
		for (c.choice = BREAKLOOP_QUIT; c.choice <= BREAKLOOP_CONTINUE;
			c.choice++)
			try_event(seen, from, &e);
		e.fields = &d;
		for (e.type = BREAKLOOP_INTENTION_SET;
			e.type <= BREAKLOOP_ACTIVITY_STARTED; e.type++)
			try_event(seen, from, &e);
		e.fields = &step;
		e.type = BREAKLOOP_INTERVENTION_STEP;
		for (int i = 0; i < 3; i++) {
			static const int steps[] = {BREAKLOOP_STEP_ROOT_CAUSE,
				BREAKLOOP_STEP_TIMER, BREAKLOOP_STEP_DONE};

			step.step = steps[i];
			try_event(seen, from, &e);
		}
		if (app < 2)
			check_quit(seen, from, app, e.at_ms);
	}
}

/* Time goes on by a unit, or to the next deadline if that comes first. */
static void explore_time(struct seen *seen, int from)
{
	static struct breakloop s;
	struct machine_event tick = {.type = ITEM_TICK};

	state_of(seen, from, &s);
	tick.at_ms = breakloop_machine.deadline(&s);
	if (tick.at_ms <= s.base.at_ms + UNIT_MS) {
		hot_assert(try_event(seen, from, &tick));
		return;
	}
	s.base.at_ms += UNIT_MS;
	reach(seen, &s);
}

static void explore(int quota, int64_t suppression_ms, struct seen *seen)
{
	char config[200];

	*seen = (struct seen){
		.keys = calloc(MAX_STATES, sizeof(struct key)),
		.slots = calloc(HASH_SLOTS, sizeof(int)),
	};
	ck_assert(seen->keys && seen->slots);
	snprintf(config, sizeof(config),
		"{\"monitored\":[\"a\",\"b\"],\"nQuickTask\":%d,\"quickTaskMs\":%d,"
		"\"quitSuppressionMs\":%lld}",
		quota, QUICK_TASK_MS, (long long)suppression_ms);
	create(&seen->world, config);
	seen->world.base.at_ms = SCRIPT_START_MS;
	seen->world.quota.window =
		(struct quota_window){SCRIPT_START_MS, SCRIPT_START_MS + WINDOW_MS};
	reach(seen, &seen->world);
	for (int from = 0; from < seen->count; from++) {
		explore_events(seen, from, false);
		explore_events(seen, from, true);
		explore_time(seen, from);
	}
	free(seen->keys);
	free(seen->slots);
}

struct world {
	int quota;
	int64_t suppression_ms;
};

static const struct world worlds[] = {{0, 0}, {1, 0}, {2, 0}, {1, UNIT_MS}};

START_TEST(test_exploration)
{
	static struct seen seen;

	explore(worlds[_i].quota, worlds[_i].suppression_ms, &seen);
	printf("quota %d, suppression %lld ms: %d states, %ld transitions\n",
		worlds[_i].quota, (long long)worlds[_i].suppression_ms, seen.count,
		seen.transitions);
	fflush(stdout);
	ck_assert_int_gt(seen.count, 300);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	check_add_table(tcase, test_table, table);
	tcase_add_test(tcase, test_timers_end_at_their_time);
	check_add_table(tcase, test_bad_config, bad_configs);
	tcase_add_test(tcase, test_bounds);
	check_add_table(tcase, test_exploration, worlds);
	tcase_set_timeout(tcase, 120);
	return check_run(tcase);
}
