/* idle.c - see idle.h. */
#include "common/machine/idle.h"
#include <errno.h>

static int create(yyjson_val *config, const struct machine_defaults *defaults,
	struct arena *arena, void *state, struct proto_error *error)
{
	struct idle *s = state;
	struct idle_config c;
	int err = proto_decode(
		idle_config_type(), config, "config", DECODE_STRICT, arena, &c, error);

	if (err)
		return err;
	*s = (struct idle){
		.base.rules = IDLE_RULES,
		.limits =
			{
				.idle_timeout_ms = c.has_idle_timeout_ms
							   ? c.idle_timeout_ms
							   : defaults->idle_timeout_ms,
				.max_idle_ms = c.has_max_idle_ms ? c.max_idle_ms
								 : defaults->max_idle_ms,
				.stale_output_ms = c.has_stale_output_ms
							   ? c.stale_output_ms
							   : defaults->stale_output_ms,
				.recheck_ms =
					c.has_recheck_ms ? c.recheck_ms : IDLE_RECHECK_MS,
			},
	};
	return 0;
}

static void config_out(const void *state, struct buf *out)
{
	const struct idle *s = state;
	struct idle_config c = {
		.idle_timeout_ms = s->limits.idle_timeout_ms,
		.has_idle_timeout_ms = true,
		.max_idle_ms = s->limits.max_idle_ms,
		.has_max_idle_ms = true,
		.stale_output_ms = s->limits.stale_output_ms,
		.has_stale_output_ms = true,
		.recheck_ms = s->limits.recheck_ms,
		.has_recheck_ms = true,
	};

	proto_encode(idle_config_type(), &c, out);
}

static struct idle_session session_of(const struct idle *s)
{
	return (struct idle_session){
		.turn_in_progress = s->turns > 0,
		.has_output = s->has_output,
		.last_output_ms = s->last_output_ms,
		.idle_start_ms = s->idle_start_ms,
		.guard_was_deferred = s->guard_was_deferred,
	};
}

static void stop_counting(struct idle *s)
{
	s->counting = false;
	s->idle_start_ms = 0;
	s->next_check_ms = 0;
	s->guard_was_deferred = false;
}

static void start_counting(struct idle *s, int64_t now_ms)
{
	struct idle_session session;

	stop_counting(s);
	s->counting = true;
	s->idle_start_ms = now_ms;
	session = session_of(s);
	s->next_check_ms =
		idle_next_check(&session, &s->limits, now_ms, s->limits.idle_timeout_ms);
}

static void on_tick(struct idle *s, int64_t now_ms, struct machine_out *out)
{
	struct idle_session session = session_of(s);
	struct idle_action action;

	idle_check(&session, &s->limits, idle_guards, idle_guard_count, now_ms, &action);
	if (action.kill) {
		struct idle_kill *kill = machine_add(out, &idle_machine, IDLE_KILL);

		kill->reason = machine_text(out, "%s", action.reason);
		stop_counting(s);
		s->ended = action.cap ? IDLE_ENDED_CAP : IDLE_ENDED_TIMEOUT;
	} else {
		struct idle_recheck *recheck =
			machine_add(out, &idle_machine, IDLE_RECHECK);

		recheck->delay_ms = action.delay_ms;
		recheck->guard_deferred = action.guard_deferred;
		recheck->reason = machine_text(out, "%s", action.reason);
		s->guard_was_deferred = action.guard_deferred;
		s->next_check_ms =
			idle_next_check(&session, &s->limits, now_ms, action.delay_ms);
	}
}

static void note_output(struct idle *s, int64_t now_ms)
{
	s->has_output = true;
	s->last_output_ms = now_ms;
}

static int step(void *state, const struct machine_event *e, struct machine_out *out)
{
	struct idle *s = state;

	if (e->type == ITEM_CREATED)
		return 0;
	/* A process that was ended still tells its end; nothing new begins with it. */
	if (s->ended &&
		(e->type == IDLE_CLIENT_CONNECTED || e->type == IDLE_PROMPT_WRITTEN))
		return machine_refuse(out, "the process was ended");
	machine_add_ref(out, e->type, e->fields);
	switch (e->type) {
	case ITEM_TICK:
		on_tick(s, e->at_ms, out);
		return 0;
	case IDLE_CLIENT_CONNECTED:
		s->clients++;
		stop_counting(s);
		return 0;
	case IDLE_CLIENT_DISCONNECTED:
		if (s->clients > 0 && --s->clients == 0 && !s->ended)
			start_counting(s, e->at_ms);
		return 0;
	case IDLE_PROMPT_WRITTEN:
		s->turns++;
		note_output(s, e->at_ms); /* C4: a turn that begins is not stale */
		return 0;
	case IDLE_OUTPUT:
		if (((const struct idle_output *)e->fields)->json)
			note_output(s, e->at_ms);
		return 0;
	case IDLE_RESULT:
		if (s->turns > 0)
			s->turns--;
		note_output(s, e->at_ms);
		return 0;
	case IDLE_PROCESS_EXIT:
	case IDLE_SPAWN_FAILED:
		s->turns = 0; /* C7 */
		return 0;
	default:
		return machine_refuse(out, "not an event of this machine");
	}
}

static int64_t deadline(const void *state)
{
	const struct idle *s = state;

	return s->counting ? s->next_check_ms : MACHINE_NEVER;
}

static void render(const void *state, const struct machine_view *view, struct buf *out)
{
	const struct idle *s = state;
	static const struct str ends[] = {
		[IDLE_ALIVE] = {NULL, 0},
		[IDLE_ENDED_TIMEOUT] = {"idle timeout", 12},
		[IDLE_ENDED_CAP] = {"safety cap exceeded", 19},
	};
	struct idle_view v = {
		.clients = s->clients,
		.turn_in_progress = s->turns > 0,
		.pending_prompts = s->turns,
		.last_output_time = s->last_output_ms,
		.has_last_output_time = s->has_output,
		.idle_start = s->idle_start_ms,
		.has_idle_start = s->counting,
		.next_check = s->next_check_ms,
		.has_next_check = s->counting,
		.guard_was_deferred = s->guard_was_deferred,
		.ended = ends[s->ended],
	};

	(void)view;
	proto_encode(idle_view_type(), &v, out);
}

static void save(const void *state, struct buf *out)
{
	const struct idle *s = state;
	struct idle_snapshot v = {
		.rules = s->base.rules,
		.at_ms = s->base.at_ms,
		.clients = s->clients,
		.turns = s->turns,
		.last_output_ms = s->last_output_ms,
		.has_last_output_ms = s->has_output,
		.idle_start_ms = s->idle_start_ms,
		.has_idle_start_ms = s->counting,
		.next_check_ms = s->next_check_ms,
		.has_next_check_ms = s->counting,
		.guard_was_deferred = s->guard_was_deferred,
		.ended = s->ended,
	};

	proto_encode(idle_snapshot_type(), &v, out);
}

static int load(
	yyjson_val *snapshot, struct arena *arena, void *state, struct proto_error *error)
{
	struct idle *s = state;
	struct idle_snapshot v;
	int err = proto_decode(idle_snapshot_type(), snapshot, "snapshot", DECODE_STRICT,
		arena, &v, error);

	if (err)
		return err;
	s->base = (struct machine_base){.rules = (int)v.rules, .at_ms = v.at_ms};
	s->clients = v.clients;
	s->turns = v.turns;
	s->has_output = v.has_last_output_ms;
	s->last_output_ms = v.last_output_ms;
	s->counting = v.has_idle_start_ms;
	s->idle_start_ms = v.idle_start_ms;
	s->next_check_ms = v.next_check_ms;
	s->guard_was_deferred = v.guard_was_deferred;
	s->ended = (enum idle_end)v.ended;
	return 0;
}

static const struct machine_item_info items[IDLE_ITEMS] = {
	MACHINE_COMMON_ITEMS("created", "refused", "tick", empty_type),
#define ITEM(symbol, ...) [IDLE_##symbol] = MACHINE_ITEM(__VA_ARGS__),
#include "common/machine/idle.def"
#undef ITEM
};

const struct machine idle_machine = {
	.kind = GUARD_IDLE,
	.rules = IDLE_RULES,
	.clock = MACHINE_CLOCK_AWAKE,
	.state_size = sizeof(struct idle),
	.items = items,
	.item_count = IDLE_ITEMS,
	.create = create,
	.config = config_out,
	.step = step,
	.deadline = deadline,
	.render = render,
	.save = save,
	.load = load,
};
