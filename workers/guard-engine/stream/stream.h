/*
 * stream.h - one instance of a machine as the stream of its rows.
 *
 * Between JSON and the machines: decodes events, takes steps, writes rows, effects and
 * decisions, and folds stored rows back into a state. Pure, like the machines; called by
 * the engine, by the golden tests. Whoever calls it keeps the
 * rows safe before anybody sees the effects.
 */
#pragma once

#include "common/machine/machine.h"

struct stream {
	const struct machine *machine;
	void *state;	/* machine->state_size bytes, the caller's */
	int64_t cursor; /* number of the last row; 0 before the first */
};

/* What one event caused, as JSON. Zero is empty; reused from event to event. */
struct stream_result {
	int row_count;
	struct stream_row rows[MACHINE_MAX_ITEMS];
	int effect_count;
	struct str effects[MACHINE_MAX_ITEMS]; /* {"type": …} */
	struct str decision;		       /* {"action", "reason"} or absent */
	const char *refusal;		       /* why the event was refused */
	int64_t at_ms;			       /* of the event */
	struct guard_facts facts;	       /* of the event, numbers only */
	struct buf text;		       /* what the rest points into */
};

void stream_result_free(struct stream_result *r);

/* Which events stream_decode takes. */
enum stream_sender { STREAM_CLIENT = ITEM_CLIENT, STREAM_ENGINE = ITEM_ENGINE };

/*
 * Makes the state of a new instance. `config` may be NULL. 0, or -EINVAL with *error. The
 * first row follows with stream_open.
 */
int stream_new(struct stream *s, yyjson_val *config,
	const struct machine_defaults *defaults, struct arena *arena,
	struct proto_error *error) __attribute__((warn_unused_result));

/* Writes the first row. `facts` holds the quota window where stream_window asks for one.
 */
void stream_open(struct stream *s, int64_t at_ms, const struct guard_facts *facts,
	struct stream_result *r);

/* True when facts need the quota window of a time zone; `event` as for machine.window. */
bool stream_window(const struct stream *s, const struct machine_event *event,
	struct str *timezone, int *hours);

/*
 * Decodes an event object {type, …}. 0; -ENOENT no such type for this sender; -EINVAL a
 * field is wrong; *error says which. Fields borrow `val` and the arena.
 */
int stream_decode(const struct stream *s, yyjson_val *val, enum stream_sender sender,
	struct arena *arena, struct machine_event *out, struct proto_error *error)
	__attribute__((warn_unused_result));

/* The tick that is due at `now_ms`: false when none is. Its time is the deadline itself,
 * so that a stream does not depend on how late a timer was dealt with. */
bool stream_due(const struct stream *s, int64_t now_ms, struct machine_event *tick);

/*
 * Takes an event: sets its number, examines it when it is new, steps and writes rows and
 * effects. 0; -EPERM refused, with the row that says so; -ETIME or -EINVAL as
 * machine_step, without rows.
 */
int stream_apply(struct stream *s, struct machine_event *event, struct stream_result *r)
	__attribute__((warn_unused_result));

/*
 * Folds the step that begins with rows[0] of `count` stored rows: the same step is taken
 * again and its rows are compared. Returns how many rows it has; -EAGAIN with an
 * unchanged stream when they are not all given; -EBADMSG with *error when they do not
 * agree or were written by newer rules. `r` has what the step caused.
 */
int stream_fold(struct stream *s, const struct stream_row *rows, size_t count,
	struct arena *arena, struct stream_result *r, struct proto_error *error)
	__attribute__((warn_unused_result));

/* Appends a snapshot: a JSON object. */
void stream_save(const struct stream *s, struct buf *out);
/*
 * Starts from the first row and a snapshot that was taken at `cursor`. 0, or -EBADMSG
 * with *error: then fold from the beginning.
 */
int stream_load(struct stream *s, const struct stream_row *created, yyjson_val *snapshot,
	int64_t cursor, struct arena *arena, struct proto_error *error)
	__attribute__((warn_unused_result));
